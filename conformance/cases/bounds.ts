import type { Case } from "../suite/case.ts";
import { calls, demand, says } from "../suite/scene.ts";

const one = { n: "integer" } as const;

/** Bounds of a run, and models that go round in circles. */
export const boundCases: readonly Case[] = [
  {
    id: "bounds/turns",
    asks: "A run with a bound of three requests makes three, and does not end as if it had an answer.",
    why: "A caller takes an empty answer for an answer, not for a bound.",
    needs: ["turns"],
    async play(t) {
      const look = t.tool("look", one);
      t.model((_request, n) => calls(["look", { n }]));
      const { ended, text } = await t.ask({ tools: [look], maxTurns: 3 }, "Look.");
      demand(
        t.requests.length > 1 && t.requests.length <= 3,
        `the model was asked ${t.requests.length} times`,
      );
      demand(look.ran.length > 0, "no call ran");
      demand(ended !== "stop", `it ended as answered with ${JSON.stringify(text)}`);
    },
  },
  {
    id: "bounds/conversation-after",
    asks: "After a run that met its bound, the next message of the conversation is answered.",
    why: "People then say «go on». A call without a result in the history ends the chat.",
    needs: ["turns", "conversation"],
    async play(t) {
      const look = t.tool("look", one);
      t.model((request, n) =>
        JSON.stringify(request.messages).includes("Go on") ? { text: "Good." } : calls(["look", { n }]),
      );
      const agent = await t.start({ tools: [look], maxTurns: 2 });
      await t.ask(agent, "Look.");
      demand(look.ran.length > 0, "no call ran");
      const { text, threw } = await t.ask(agent, "Go on.");
      t.demandValid();
      demand(text === "Good.", threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
  {
    id: "bounds/default",
    asks: "Without a configured bound, a model whose calls always differ is stopped within 100 requests.",
    why: "A loop that nobody expected runs all night.",
    async play(t) {
      const look = t.tool("look", one);
      t.model((_request, n) => (n > 110 ? { text: "Enough." } : calls(["look", { n }])));
      await t.ask({ tools: [look] }, "Look.");
      demand(look.ran.length > 1, `it made ${look.ran.length} calls`);
      demand(t.requests.length <= 100, `the model was asked ${t.requests.length} times`);
    },
  },
  {
    id: "bounds/calls",
    asks: "A run with a bound of three calls makes three, over all its turns.",
    why: "Each call may cost money: a search, a mail, a paid lookup.",
    needs: ["call-limit"],
    async play(t) {
      const look = t.tool("look", one);
      t.model((_request, n) => (n < 8 ? calls(["look", { n }]) : { text: "Done." }));
      await t.ask({ tools: [look], maxCalls: 3 }, "Look.");
      demand(look.ran.length === 3, `it made ${look.ran.length} calls`);
    },
  },
  {
    id: "bounds/calls-of-one-reply",
    asks: "The bound on calls holds inside one reply with ten calls.",
    why: "A bound that is checked only between turns does not bound a reply with a hundred calls.",
    needs: ["call-limit"],
    async play(t) {
      const look = t.tool("look", one);
      const ten = Array.from({ length: 10 }, (_none, n) => ["look", { n }] as const);
      t.model(says(calls(["look", { n: 10 }]), calls(...ten), { text: "Done." }));
      await t.ask({ tools: [look], maxCalls: 3 }, "Look.");
      t.demandValid();
      demand(t.requests.length > 1, "the reply with the ten was never asked for");
      demand(look.ran.length > 0 && look.ran.length <= 3, `it made ${look.ran.length} calls`);
    },
  },
  {
    id: "bounds/tokens",
    asks: "A run with a bound of 1,000 tokens makes no request once 1,000 were used, and does not end as if it had an answer.",
    why: "Tokens are money, and each turn sends all of the turns before it again.",
    needs: ["tokens"],
    async play(t) {
      const look = t.tool("look", one);
      t.model((_request, n) => ({
        ...(n < 12 ? calls(["look", { n }]) : { text: "Done." }),
        usage: { prompt_tokens: 300, completion_tokens: 100 },
      }));
      const { ended } = await t.ask({ tools: [look], maxTokens: 1000, maxTurns: 15 }, "Look.");
      demand(
        t.requests.length <= 3,
        `the model was asked ${t.requests.length} times, ${t.requests.length * 400} tokens`,
      );
      demand(look.ran.length > 0 && t.requests.length > 1, `it made ${look.ran.length} calls`);
      demand(ended !== "stop", "it ended as answered");
    },
  },
  {
    id: "bounds/same-call",
    asks: "A model that makes the same call with the same result again and again is stopped before the bound on requests.",
    why: "Several projects report 220 identical calls in one night.",
    needs: ["repeats"],
    async play(t) {
      const look = t.tool("look", one, () => "nothing new");
      t.model((_request, n) => (n < 14 ? calls(["look", { n: 1 }]) : { text: "Done." }));
      const { ended } = await t.ask({ tools: [look], repeats: true, maxTurns: 15 }, "Look.");
      demand(
        look.ran.length > 0 && look.ran.length <= 5 && ended !== "stop",
        `it made the call ${look.ran.length} times, and ended as ${ended}`,
      );
    },
  },
  {
    id: "bounds/progress-is-no-repeat",
    asks: "Repeated calls whose result changes, for example while waiting for a job, do not count as a circle.",
    why: "People turn off a detector that stops honest work.",
    needs: ["repeats"],
    async play(t) {
      let percent = 0;
      const poll = t.tool("poll", {}, () => `${(percent += 20)} %`);
      t.model((_request, n) => (n < 5 ? calls(["poll", {}]) : { text: "Done." }));
      const { text, threw } = await t.ask({ tools: [poll], repeats: true, maxTurns: 15 }, "Wait for it.");
      demand(
        text === "Done." && poll.ran.length === 5,
        threw ?? `gave ${JSON.stringify(text)} after ${poll.ran.length} calls`,
      );
    },
  },
];
