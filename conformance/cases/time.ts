import type { Case } from "../suite/case.ts";
import { calls, demand, says, type Scene, until, wait } from "../suite/scene.ts";

const deafMs = 4000;

/** A tool that hears no signal. */
const deaf = (): Promise<string> => wait(deafMs).then(() => "done at last");

/** The run has to be over before the tool that hears nothing is: in the order of events, so that a busy machine changes nothing. */
function demandEndedFirst(t: Scene, tool: string): void {
  demand(
    !t.log.slice(0, t.log.indexOf("run ends")).includes(`${tool} ends`),
    "the run waited for the tool to end by itself",
  );
}

/** Time limits, and runs that are stopped. */
export const timeCases: readonly Case[] = [
  {
    id: "time/tool-limit",
    asks: "A tool that ignores its signal is given up at its time limit, and the run goes on.",
    why: "A hanging service must not hang the agent.",
    needs: ["tool-timeout"],
    async play(t) {
      const slow = t.tool("slow", {}, deaf, { timeoutMs: 200 });
      t.model(says(calls(["slow", {}]), { text: "It takes too long." }));
      const { text, threw } = await t.ask({ tools: [slow] }, "Go.");
      demandEndedFirst(t, "slow");
      demand(slow.ran.length === 1, `the tool ran ${slow.ran.length} times`);
      demand(text === "It takes too long.", threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
  {
    id: "time/late-is-no-success",
    asks: "A result that comes after the time limit is not told to the model as the tool's result.",
    why: "The program has already continued without this result.",
    needs: ["tool-timeout"],
    async play(t) {
      const slow = t.tool("slow", {}, () => wait(1200).then(() => "paid 10"), { timeoutMs: 200 });
      t.model(says(calls(["slow", {}]), { text: "Done." }));
      await t.ask({ tools: [slow] }, "Go.");
      demand(t.requests.length === 2, `the model was asked ${t.requests.length} times`);
      demand(slow.ran.length === 1, `the tool ran ${slow.ran.length} times`);
      demand(!t.sent(1).includes("paid 10"), "the late result was told as a success");
    },
  },
  {
    id: "time/tool-hears-limit",
    asks: "A tool that listens to its signal is told when its time is over.",
    why: "The tool can then end the request that it made.",
    needs: ["tool-timeout"],
    async play(t) {
      let heard = false;
      const listening = async (
        _args: never,
        { signal }: { readonly signal?: AbortSignal | undefined },
      ): Promise<string> => {
        await Promise.race([
          wait(deafMs),
          new Promise((resolve) => signal?.addEventListener("abort", resolve)),
        ]);
        heard = signal?.aborted ?? false;
        return "over";
      };
      t.model(says(calls(["slow", {}]), { text: "Done." }));
      await t.ask({ tools: [t.tool("slow", {}, listening, { timeoutMs: 200 })] }, "Go.");
      await until(() => heard, 1000);
      demand(heard, "no signal came");
    },
  },
  {
    id: "time/sibling-kept",
    asks: "The result of a call beside one that ran out of time reaches the model.",
    why: "One slow service must not cost the answers of the others.",
    needs: ["tool-timeout"],
    async play(t) {
      const slow = t.tool("slow", {}, deaf, { timeoutMs: 200 });
      const quick = t.tool("quick", {}, () => "blue 42");
      t.model(says(calls(["slow", {}], ["quick", {}]), { text: "Done." }));
      const { text, threw } = await t.ask({ tools: [slow, quick] }, "Go.");
      t.demandValid();
      demand(
        text === "Done." && (t.results(1)[1] ?? "").includes("blue 42"),
        threw ?? `told ${JSON.stringify(t.results(1))}`,
      );
    },
  },
  {
    id: "time/silent-model",
    asks: "A model that never answers is given up at the time limit set for it.",
    why: "Overloaded providers accept requests and never answer.",
    needs: ["model-timeout"],
    async play(t) {
      t.model(() => ({ hangs: true }));
      const over = t.ask({ tools: [], modelTimeoutMs: 300 }, "Hello.");
      const ended = await Promise.race([over.then(() => true), wait(15_000).then(() => false)]);
      demand(ended, "no end after 15 s, with a limit of 0.3 s");
      const { ended: how } = await over;
      demand(how !== "stop", "the run ended as if the model had answered");
    },
  },
  {
    id: "cancel/while-model-writes",
    asks: "A run that is stopped while the model writes ends at once, and its request is closed.",
    why: "A stop must end the run and its cost.",
    needs: ["cancel"],
    async play(t) {
      t.model(says({ hangs: true }));
      const stop = new AbortController();
      const run = t.ask(await t.start({ tools: [] }), "Hello.", { signal: stop.signal });
      await until(() => t.requests.length > 0, 5000);
      stop.abort();
      const ended = await Promise.race([run.then(() => true), wait(deafMs).then(() => false)]);
      demand(ended, `no end ${deafMs / 1000} s after the stop`);
      const isClosed = await until(() => t.requests[0]?.left === true, 1000);
      demand(isClosed, "the request stays open");
    },
  },
  {
    id: "cancel/tool-hears",
    asks: "A tool that listens to its signal is told when the run is stopped.",
    why: "Otherwise the work continues after the stop, and somebody pays for it.",
    needs: ["cancel"],
    async play(t) {
      const stop = new AbortController();
      let [heard, isOver] = [false, false];
      const listening = async (
        _args: never,
        { signal }: { readonly signal?: AbortSignal | undefined },
      ): Promise<string> => {
        stop.abort();
        const told = new Promise((resolve) => signal?.addEventListener("abort", resolve));
        if (signal?.aborted !== true) await Promise.race([wait(deafMs), told]);
        heard = signal?.aborted ?? false;
        isOver = true;
        return "over";
      };
      t.model(says(calls(["slow", {}]), { text: "Done." }));
      await t.ask(await t.start({ tools: [t.tool("slow", {}, listening)] }), "Go.", {
        signal: stop.signal,
      });
      await until(() => isOver, deafMs + 1000);
      demand(heard, "no signal came");
    },
  },
  {
    id: "cancel/deaf-tool",
    asks: "A run that is stopped ends, even if its tool ignores the signal.",
    why: "Most code that a tool calls does not listen to a signal.",
    needs: ["cancel"],
    async play(t) {
      const stop = new AbortController();
      const slow = t.tool("slow", {}, () => (stop.abort(), deaf()));
      t.model(says(calls(["slow", {}]), { text: "Done." }));
      await t.ask(await t.start({ tools: [slow] }), "Go.", { signal: stop.signal });
      demand(slow.ran.length === 1, `the tool ran ${slow.ran.length} times`);
      demandEndedFirst(t, "slow");
    },
  },
  {
    id: "cancel/nothing-after",
    asks: "After a stop, no model is asked and no tool begins.",
    why: "Nobody expects anything to happen after a stop.",
    needs: ["cancel"],
    async play(t) {
      const stop = new AbortController();
      const first = t.tool("first", {}, async () => {
        stop.abort();
        await wait(50);
        return "done";
      });
      const second = t.tool("second", {}, () => "done", { effect: "write" });
      t.model(says(calls(["first", {}]), calls(["second", {}]), { text: "Done." }));
      await t.ask(await t.start({ tools: [first, second] }), "Go.", { signal: stop.signal });
      await t.settled();
      demand(
        second.ran.length === 0 && t.requests.length === 1,
        `the model was asked ${t.requests.length} times, the second tool ran ${second.ran.length} times`,
      );
    },
  },
  {
    id: "cancel/no-plain-answer",
    asks: "A run that was stopped does not end as if it had an answer.",
    why: "A program that takes the text as the answer would show half an answer, or an empty one, as a whole one.",
    needs: ["cancel"],
    async play(t) {
      const stop = new AbortController();
      const slow = t.tool("slow", {}, async () => {
        stop.abort();
        await wait(50);
        return "done";
      });
      t.model(says({ text: "I look.", ...calls(["slow", {}]) }, { text: "Done." }));
      const { ended, text } = await t.ask(await t.start({ tools: [slow] }), "Go.", {
        signal: stop.signal,
      });
      demand(ended !== "stop", `it ended as answered with ${JSON.stringify(text)}`);
    },
  },
  {
    id: "cancel/before-the-start",
    asks: "A run with a signal that is already aborted asks no model.",
    why: "The user left while the request waited in a queue.",
    needs: ["cancel"],
    asksNobody: true,
    async play(t) {
      t.model(says({ text: "Hello." }));
      const { ended } = await t.ask(await t.start({ tools: [] }), "Hello.", {
        signal: AbortSignal.abort(),
      });
      demand(
        t.requests.length === 0 && ended !== "stop",
        `the model was asked ${t.requests.length} times; ended as ${ended}`,
      );
    },
  },
  {
    id: "cancel/conversation-goes-on",
    asks: "After a stop in the middle of a call, the next message of the conversation is answered.",
    why: "Users stop a run to rephrase their request. A call without a result in the history ends the chat.",
    needs: ["cancel", "conversation"],
    async play(t) {
      const stop = new AbortController();
      const slow = t.tool("slow", {}, async () => {
        stop.abort();
        await wait(50);
        return "done";
      });
      t.model((request) =>
        JSON.stringify(request.messages).includes("Better") ? { text: "Good." } : calls(["slow", {}]),
      );
      const agent = await t.start({ tools: [slow] });
      await t.ask(agent, "Go.", { signal: stop.signal });
      demand(stop.signal.aborted, "no call ran, and nobody stopped");
      await t.settled();
      const { text, threw } = await t.ask(agent, "Better so.");
      t.demandValid();
      demand(text === "Good.", threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
];
