import type { Case } from "../suite/case.ts";
import { calls, demand, says } from "../suite/scene.ts";

/** Tools and providers that fail. */
export const errorCases: readonly Case[] = [
  {
    id: "errors/tool-throws",
    asks: "The model is told the message of an error that a tool threw, and the run goes on.",
    why: "The model needs «no such customer» to correct itself.",
    async play(t) {
      const find = t.tool("find", { name: "string" }, ({ name }: { readonly name: string }) => {
        if (name === "Adda") throw new Error("no customer is called Adda");
        return "customer 7";
      });
      t.model(says(calls(["find", { name: "Adda" }]), calls(["find", { name: "Ada" }]), { text: "7" }));
      const { text, threw } = await t.ask({ tools: [find] }, "Find Ada.");
      t.demandValid();
      demand(text === "7", threw ?? `gave ${JSON.stringify(text)}`);
      demand(
        (t.results(1)[0] ?? "").includes("no customer is called Adda"),
        `told ${JSON.stringify(t.results(1))}`,
      );
    },
  },
  {
    id: "errors/no-stack",
    asks: "The stack of an error that a tool threw is not sent to the model.",
    why: "A stack has paths and names of the machine, and the provider is another company.",
    async play(t) {
      const find = t.tool("find", {}, () => {
        throw new Error("it broke");
      });
      t.model(says(calls(["find", {}]), { text: "Sorry." }));
      const { threw } = await t.ask({ tools: [find] }, "Find.");
      demand(find.ran.length === 1, `the tool ran ${find.ran.length} times`);
      demand(t.requests.length === 2 || threw !== undefined, "the model was not told of the call");
      demand(!/errors\.ts|\bat .*:\d+:\d+/.test(t.sent(1)), `told ${JSON.stringify(t.results(1))}`);
    },
  },
  {
    id: "errors/thrown-text",
    asks: "A call of a tool that throws something other than an Error has a result too.",
    why: "Some libraries throw texts or undefined.",
    async play(t) {
      const find = t.tool("find", {}, () => {
        throw undefined; // oxlint-disable-line typescript/only-throw-error -- it is what the case is about
      });
      t.model(says(calls(["find", {}]), { text: "Sorry." }));
      const { text, threw } = await t.ask({ tools: [find] }, "Find.");
      demand(find.ran.length === 1, `the tool ran ${find.ran.length} times`);
      t.demandValid();
      demand(text === "Sorry.", threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
  {
    id: "errors/circular-result",
    asks: "A result that is not JSON, such as an object that contains itself, does not end the run.",
    why: "A tool that returns a response object gives such a result.",
    async play(t) {
      const find = t.tool("find", {}, () => {
        const all: Record<string, unknown> = { name: "x" };
        all["self"] = all;
        return all;
      });
      t.model(says(calls(["find", {}]), { text: "Sorry." }));
      const { text, threw } = await t.ask({ tools: [find] }, "Find.");
      demand(find.ran.length === 1, `the tool ran ${find.ran.length} times`);
      t.demandValid();
      demand(text === "Sorry.", threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
  {
    id: "errors/overload-once",
    asks: "A request that was refused with 503 is made again, by default.",
    why: "Providers are overloaded several times a day.",
    needs: ["retries"],
    async play(t) {
      t.model(says({ status: 503 }, { text: "Hello." }));
      const { text, threw } = await t.ask({ tools: [] }, "Hello.");
      demand(text === "Hello.", threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
  {
    id: "errors/rate-limit",
    asks: "A request that got 429 with «retry-after: 1» is made again, but not before that second.",
    why: "A client that asks again at once is locked out longer.",
    needs: ["retries"],
    async play(t) {
      const at: number[] = [];
      t.model((_request, n) => {
        at.push(performance.now());
        return n === 0 ? { status: 429, headers: { "retry-after": "1" } } : { text: "Hello." };
      });
      const { text, threw } = await t.ask({ tools: [] }, "Hello.");
      demand(text === "Hello.", threw ?? `gave ${JSON.stringify(text)}`);
      const waited = (at[1] ?? 0) - (at[0] ?? 0);
      demand(waited > 900, `it waited ${Math.round(waited)} ms`);
    },
  },
  {
    id: "errors/wrong-key",
    asks: "A request that got 401 is not made again, and the run does not end as if it had an answer.",
    why: "A wrong key stays wrong.",
    async play(t) {
      t.model(() => ({ status: 401 }));
      const { ended, text } = await t.ask({ tools: [] }, "Hello.");
      demand(t.requests.length === 1, `the model was asked ${t.requests.length} times`);
      demand(ended !== "stop", `it ended as answered with ${JSON.stringify(text)}`);
    },
  },
  {
    id: "errors/always-down",
    asks: "A provider that stays down is asked at most ten times, and the run does not end as if it had an answer.",
    why: "Endless retries are an outage of their own.",
    async play(t) {
      t.model(() => ({ status: 500 }));
      const { ended, text } = await t.ask({ tools: [] }, "Hello.");
      demand(t.requests.length <= 10, `the model was asked ${t.requests.length} times`);
      demand(ended !== "stop", `it ended as answered with ${JSON.stringify(text)}`);
    },
  },
  {
    id: "errors/tool-not-again",
    asks: "If the request after a call fails and is made again, the call is not made again.",
    why: "The retry of a question must not pay again.",
    async play(t) {
      const pay = t.tool("pay", {}, () => "paid", { effect: "irreversible" });
      t.model((request, n) => {
        if (!request.messages.some(({ role }) => role === "tool")) return calls(["pay", {}]);
        return n === 1 ? { status: 503 } : { text: "Paid." };
      });
      await t.ask({ tools: [pay] }, "Pay.");
      demand(t.requests.length > 1, "the request that fails was never made");
      demand(pay.ran.length === 1, `it was paid ${pay.ran.length} times`);
    },
  },
  {
    id: "errors/page-of-a-proxy",
    asks: "A page with status 200 in place of a reply is an error, and not an empty answer.",
    why: "Company proxies and captive portals give such answers.",
    async play(t) {
      t.model(() => ({ html: true }));
      const { ended, text } = await t.ask({ tools: [] }, "Hello.");
      demand(ended !== "stop", `it ended as answered with ${JSON.stringify(text)}`);
    },
  },
  {
    id: "errors/token-limit",
    asks: "An answer that was cut at the token limit is not reported as complete.",
    why: "Half a contract reads like a whole one.",
    async play(t) {
      t.model(says({ text: "The contract begins on", finish: "length" }));
      const { ended } = await t.ask({ tools: [] }, "Write it.");
      demand(ended !== "stop", "it ended as answered");
    },
  },
  {
    id: "errors/filter",
    asks: "An answer that the provider's filter stopped is not reported as complete.",
    why: "The program should report the stop, and not show half an answer.",
    async play(t) {
      t.model(says({ text: "I ca", finish: "content_filter" }));
      const { ended } = await t.ask({ tools: [] }, "Write it.");
      demand(ended !== "stop", "it ended as answered");
    },
  },
];
