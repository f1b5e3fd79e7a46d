import type { Case } from "../suite/case.ts";
import { calls, demand, says, textOf } from "../suite/scene.ts";

const numbers = { a: "number", b: "number" } as const;
const sum = ({ a, b }: { readonly a: number; readonly b: number }): number => a + b;

/** Calls and their results, where nothing goes wrong. */
export const callCases: readonly Case[] = [
  {
    id: "calls/result-reaches-model",
    asks: "The next request has the result of a call, under the id of that call.",
    why: "The model answers from the result. Without a result it invents one.",
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(says(calls(["add", { a: 2, b: 35 }]), { text: "It is 37." }));
      const { text, threw } = await t.ask({ tools: [add] }, "What is 2 + 35?");
      demand(text === "It is 37.", `gave ${JSON.stringify(text)} ${threw ?? ""}`);
      demand(add.ran.length === 1, `the tool ran ${add.ran.length} times`);
      demand(/\b37\b/.test(t.results()[0] ?? ""), `the model was told ${JSON.stringify(t.results())}`);
      t.demandValid();
    },
  },
  {
    id: "calls/two-turns",
    asks: "A call after a result is carried out too, and the request still has the first exchange.",
    why: "Most tasks take more than one step.",
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(says(calls(["add", { a: 1, b: 2 }]), calls(["add", { a: 3, b: 4 }]), { text: "7" }));
      const { text } = await t.ask({ tools: [add] }, "1 + 2 + 4?");
      demand(
        text === "7" && add.ran.length === 2,
        `gave ${JSON.stringify(text)} after ${add.ran.length} calls`,
      );
      const told = t.requests[2]?.messages.filter(({ role }) => role === "tool") ?? [];
      demand(told.length === 2, `the third request has ${told.length} results of 2`);
    },
  },
  {
    id: "calls/nothing-returned",
    asks: "A call of a tool that returns nothing has a result too.",
    why: "Tools that only act return nothing. Providers refuse a call without a result, and the conversation is dead.",
    async play(t) {
      const note = t.tool("note", { text: "string" }, () => undefined);
      t.model(says(calls(["note", { text: "tea" }]), { text: "Noted." }));
      const { text, threw } = await t.ask({ tools: [note] }, "Note tea.");
      t.demandValid();
      demand(note.ran.length === 1, `the tool ran ${note.ran.length} times`);
      demand(text === "Noted.", `gave ${JSON.stringify(text)} ${threw ?? ""}`);
    },
  },
  {
    id: "calls/falsy-results",
    asks: "The results 0, false and the empty list reach the model as such.",
    why: "«0 open invoices» is an answer. A model without a result asks again or guesses.",
    async play(t) {
      const given = [0, false, []];
      const tools = given.map((value, index) => t.tool(`get_${index}`, {}, () => value));
      t.model(says(calls(...tools.map(({ name }) => [name, {}] as const)), { text: "Seen." }));
      const { threw } = await t.ask({ tools }, "Look.");
      demand(threw === undefined, `threw ${threw}`);
      const told = t.results();
      for (const [index, value] of given.entries())
        demand(
          (told[index] ?? "").includes(JSON.stringify(value)),
          `${JSON.stringify(value)} was told as ${JSON.stringify(told[index])}`,
        );
    },
  },
  {
    id: "calls/objects-as-json",
    asks: "An object that a tool returns reaches the model as JSON with all its fields.",
    why: "A model cannot read «[object Object]».",
    async play(t) {
      const find = t.tool("find", {}, () => ({
        city: "Zürich",
        tags: ["a", "b"],
        at: { lat: 47.4 },
      }));
      t.model(says(calls(["find", {}]), { text: "Seen." }));
      await t.ask({ tools: [find] }, "Find it.");
      const [told = ""] = t.results();
      const plain = told.replaceAll(/[\s\\]/g, "");
      demand(plain.includes('"city":"Zürich"') && plain.includes('"lat":47.4'), `the model was told ${told}`);
    },
  },
  {
    id: "calls/text-beside-call",
    asks: "Text that the model writes beside a call stays in the conversation.",
    why: "This text is often the plan. Without it the model begins again.",
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(says({ text: "First I add.", ...calls(["add", { a: 1, b: 2 }]) }, { text: "3" }));
      await t.ask({ tools: [add] }, "1 + 2?");
      demand(t.sent(1).includes("First I add."), "the second request lacks it");
    },
  },
  {
    id: "calls/instructions-each-turn",
    asks: "Every request of a run has the instructions.",
    why: "Rules must hold for every step, not only for the first.",
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(says(calls(["add", { a: 1, b: 2 }]), { text: "3" }));
      await t.ask({ tools: [add], instructions: "Never say blue." }, "1 + 2?");
      const lacking = t.requests.findIndex((_request, index) => !t.sent(index).includes("Never say blue."));
      demand(
        t.requests.length === 2 && lacking < 0,
        `of ${t.requests.length} requests, number ${lacking + 1} lacks them`,
      );
    },
  },
  {
    id: "calls/tools-described",
    asks: "Name, description, required fields and choices of a tool reach the model in each request.",
    why: "A model cannot follow a schema that it does not see.",
    async play(t) {
      const paint = t.tool("paint", { colour: "red|green", room: "string" }, () => "ok", {
        description: "Paints a room",
      });
      t.model(says(calls(["paint", { colour: "red", room: "hall" }]), { text: "Done." }));
      await t.ask({ tools: [paint] }, "Paint the hall.");
      demand(t.requests.length === 2, `the model was asked ${t.requests.length} times`);
      for (const [index, { tools }] of t.requests.entries()) {
        const told = JSON.stringify(tools.find((one) => one.function.name === "paint") ?? {});
        for (const word of ["Paints a room", '"red"', '"green"', '"required"'])
          demand(told.includes(word), `request ${index + 1} lacks ${word}: ${told.slice(0, 120)}`);
      }
    },
  },
  {
    id: "calls/second-message",
    asks: "The second message of a conversation is sent with the first one and its answer.",
    why: "«And tomorrow?» means nothing without the first message.",
    needs: ["conversation"],
    async play(t) {
      t.model(says({ text: "Hello Kim." }, { text: "Kim." }));
      const agent = await t.start({ tools: [] });
      await t.ask(agent, "I am Kim.");
      const { text, threw } = await t.ask(agent, "Who am I?");
      demand(text === "Kim.", `gave ${JSON.stringify(text)} ${threw ?? ""}`);
      for (const said of ["I am Kim.", "Hello Kim.", "Who am I?"])
        demand(t.sent(1).includes(said), `the second request lacks «${said}»`);
    },
  },
  {
    id: "calls/conversation-with-calls",
    asks: "A conversation with calls of tools goes on with a request that a provider accepts.",
    why: "If the provider refuses the history, the chat is over for good.",
    needs: ["conversation"],
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(says(calls(["add", { a: 1, b: 2 }]), { text: "3" }, { text: "Yes." }));
      const agent = await t.start({ tools: [add] });
      await t.ask(agent, "1 + 2?");
      const { text, threw } = await t.ask(agent, "Sure?");
      demand(add.ran.length === 1, `the tool ran ${add.ran.length} times`);
      t.demandValid();
      demand(text === "Yes.", `gave ${JSON.stringify(text)} ${threw ?? ""}`);
      demand(
        textOf(t.requests[2]?.messages.at(-1)?.content).includes("Sure?"),
        "the last message of the request is another one",
      );
    },
  },
  {
    id: "calls/structured-answer",
    asks: "The caller gets an answer with a schema as an object; tools work beside it.",
    why: "Programs read objects, and most agents with a schema have tools too.",
    needs: ["output"],
    async play(t) {
      const add = t.tool("add", numbers, sum);
      const output = t.tool("answer", { total: "number" });
      t.model((request) => {
        if (!request.messages.some(({ role }) => role === "tool")) return calls(["add", { a: 1, b: 2 }]);
        const asTool = request.tools.find((one) => JSON.stringify(one.function.parameters).includes("total"));
        if (asTool !== undefined) return calls([asTool.function.name, { total: 3 }]);
        return { text: '{"total":3}' };
      });
      const { output: got, threw } = await t.ask({ tools: [add], output }, "1 + 2?");
      demand(JSON.stringify(got) === '{"total":3}', `gave ${JSON.stringify(got)} ${threw ?? ""}`);
      demand(add.ran.length === 1, `the tool ran ${add.ran.length} times`);
    },
  },
];
