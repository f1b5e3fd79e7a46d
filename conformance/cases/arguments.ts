import type { Case } from "../suite/case.ts";
import type { Reply } from "../suite/provider.ts";
import { calls, demand, type Probe, says, type Scene, textOf } from "../suite/scene.ts";

const numbers = { a: "number", b: "number" } as const;
const sum = ({ a, b }: { readonly a: number; readonly b: number }): number => a + b;

/** The model writes a call wrong, is told, and writes it right: the tool has to have run with the right arguments alone. */
async function wrongThenRight(
  t: Scene,
  tool: Probe,
  [wrong, right]: readonly [Reply, unknown],
): Promise<void> {
  t.model(says(wrong, calls([tool.name, right]), { text: "Done." }));
  const { text, threw } = await t.ask({ tools: [tool] }, "Do it.");
  const ran = JSON.stringify(tool.ran);
  demand(
    tool.ran.every((args) => JSON.stringify(args) === JSON.stringify(right)),
    `the tool ran with ${ran}`,
  );
  t.demandValid();
  demand(
    text === "Done." && tool.ran.length === 1,
    threw ?? `gave ${JSON.stringify(text)}; the tool ran with ${ran}`,
  );
}

/** Arguments that are no JSON, were cut, or do not fit the schema; and calls that come twice. */
export const argumentCases: readonly Case[] = [
  {
    id: "arguments/truncated",
    asks: "A call whose JSON was cut does not run; the model is told, and its next call does.",
    why: "Replies are cut at the token limit, and half a payment order must not be carried out.",
    play: (t) =>
      wrongThenRight(t, t.tool("add", numbers, sum), [calls(["add", '{"a":1,"b":']), { a: 1, b: 2 }]),
  },
  {
    id: "arguments/truncated-with-defaults",
    asks: "The same if every parameter has a default: the call does not run with only the defaults.",
    why: "A runtime that reads broken JSON as {} runs a call that nobody wrote: `delete({})` deletes by default.",
    async play(t) {
      const list = t.tool("list", { from: "number=0", limit: "number=0" });
      await wrongThenRight(t, list, [calls(["list", '{"from":7,"lim']), { from: 7, limit: 3 }]);
    },
  },
  {
    id: "arguments/no-json",
    asks: "A call whose arguments are prose does not run; the model is told.",
    why: "Small models write «two and 35».",
    play: (t) =>
      wrongThenRight(t, t.tool("add", numbers, sum), [calls(["add", "one and two"]), { a: 1, b: 2 }]),
  },
  {
    id: "arguments/wrong-type",
    asks: "A call with a word in place of a number does not run; the model is told.",
    why: "The tool's code trusts its types.",
    play: (t) =>
      wrongThenRight(t, t.tool("add", numbers, sum), [calls(["add", { a: "many", b: 2 }]), { a: 1, b: 2 }]),
  },
  {
    id: "arguments/missing",
    asks: "A call without a required field does not run; the model is told.",
    why: "The tool would compute with undefined.",
    play: (t) => wrongThenRight(t, t.tool("add", numbers, sum), [calls(["add", { a: 1 }]), { a: 1, b: 2 }]),
  },
  {
    id: "arguments/not-a-choice",
    asks: "A value that is not among the choices of the schema does not reach the tool.",
    why: "A choice is often the only bound on what a call may do.",
    play: (t) =>
      wrongThenRight(t, t.tool("set", { mode: "safe|slow" }), [
        calls(["set", { mode: "root" }]),
        {
          mode: "slow",
        },
      ]),
  },
  {
    id: "arguments/which-field",
    asks: "The message to the model about wrong arguments names the field.",
    why: "A model that is told «invalid» makes the same mistake again.",
    async play(t) {
      const book = t.tool("book", { city: "string", nights: "number" });
      t.model(says(calls(["book", { city: "Lima", nights: "three" }]), { text: "Sorry." }));
      await t.ask({ tools: [book] }, "Book.");
      t.demandValid();
      const [told = ""] = t.results(1);
      demand(told.includes("nights"), `the model was told ${JSON.stringify(told.slice(0, 160))}`);
    },
  },
  {
    id: "arguments/unknown-field",
    asks: "A field that the schema does not have does not reach the tool.",
    why: "Tools pass their arguments on: `{ to, bcc }`.",
    async play(t) {
      const send = t.tool("send", { to: "string" });
      t.model(
        says(calls(["send", { to: "ada", bcc: "eve" }]), calls(["send", { to: "ada" }]), {
          text: "Sent.",
        }),
      );
      const { threw } = await t.ask({ tools: [send] }, "Send.");
      demand(send.ran.length > 0 || threw !== undefined, "no call ran, and nothing says why");
      demand(
        send.ran.every((args) => !JSON.stringify(args).includes("eve")),
        `the tool ran with ${JSON.stringify(send.ran)}`,
      );
    },
  },
  {
    id: "arguments/prototype",
    asks: "A field «__proto__» in the arguments changes no prototype.",
    why: "A model writes what a stranger's page told it to. The classic attack puts `isAdmin` on every object.",
    async play(t) {
      const look = t.tool("look", { what: "string" });
      t.model(says(calls(["look", '{"what":"x","__proto__":{"isAdmin":true}}']), { text: "Seen." }));
      await t.ask({ tools: [look] }, "Look.");
      demand(({} as Record<string, unknown>)["isAdmin"] === undefined, "every object is an admin now");
      const [args] = look.ran as Record<string, unknown>[];
      demand(args?.["isAdmin"] === undefined, "the arguments are an admin's");
    },
  },
  {
    id: "arguments/large-integer",
    asks: "An integer beyond 2^53 does not reach the tool as another number.",
    why: "Order and account numbers have more digits than a double. 9007199254740993 becomes another customer's …992.",
    async play(t) {
      const close = t.tool("close_account", { account: "integer" }, () => "closed");
      t.model(says(calls(["close_account", '{"account":9007199254740993}']), { text: "Done." }));
      await t.ask({ tools: [close] }, "Close account 9007199254740993.");
      const shown = (close.ran as { account: unknown }[]).map(({ account }) => String(account));
      demand(
        shown.every((account) => account === "9007199254740993"),
        `the tool ran with ${shown.join(", ")}`,
      );
    },
  },
  {
    id: "arguments/unicode",
    asks: "Text in any script, with quotes and line breaks, reaches the tool as the model wrote it.",
    why: "Names of people contain such characters.",
    async play(t) {
      const note = t.tool("note", { text: "string" });
      const text = 'Žofie said: "日本語 👩‍👩‍👧"\n\\end';
      t.model(says(calls(["note", { text }]), { text: "Noted." }));
      await t.ask({ tools: [note] }, "Note it.");
      demand(
        JSON.stringify(note.ran) === JSON.stringify([{ text }]),
        `the tool ran with ${JSON.stringify(note.ran)}`,
      );
    },
  },
  {
    id: "doubled/one-id-twice",
    asks: "After two calls with one id in a reply, the run goes on with a request that a provider accepts.",
    why: "Local servers and gateways write the same id twice. Providers refuse every later request that has both.",
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(
        says(calls(["add", { a: 1, b: 2 }, "call_1"], ["add", { a: 3, b: 4 }, "call_1"]), {
          text: "Done.",
        }),
      );
      const { text, threw } = await t.ask({ tools: [add] }, "Add.");
      t.demandValid();
      demand(text === "Done.", threw ?? `gave ${JSON.stringify(text)}`);
      const dropped = t.results(1).length < 2 && add.ran.length > 0;
      demand(!dropped, `${add.ran.length} calls ran, and the model was told of ${t.results(1).length}`);
    },
  },
  {
    id: "doubled/same-call-twice",
    asks: "The same call twice in a reply, with two ids, has two results.",
    why: "Each call needs its result, whether or not it ran twice.",
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(says(calls(["add", { a: 1, b: 2 }], ["add", { a: 1, b: 2 }]), { text: "Done." }));
      const { text, threw } = await t.ask({ tools: [add] }, "Add.");
      t.demandValid();
      demand(text === "Done." && t.results(1).length === 2, threw ?? `gave ${JSON.stringify(text)}`);
      demand(add.ran.length === 1 || add.ran.length === 2, `the tool ran ${add.ran.length} times`);
    },
  },
  {
    id: "doubled/id-used-again",
    asks: "A call whose id the model uses again in a later reply is not confused with the first call.",
    why: "Some servers count from call_0 in each reply. A result under the wrong call is a wrong answer.",
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(
        says(calls(["add", { a: 1, b: 2 }, "call_0"]), calls(["add", { a: 30, b: 4 }, "call_0"]), {
          text: "Done.",
        }),
      );
      const { text, threw } = await t.ask({ tools: [add] }, "Add.");
      t.demandValid();
      demand(
        text === "Done." && add.ran.length === 2,
        threw ?? `gave ${JSON.stringify(text)} after ${add.ran.length} calls`,
      );
      demand(
        textOf(t.requests[2]?.messages.at(-1)?.content).includes("34"),
        "the last result is not that of the second call",
      );
    },
  },
  {
    id: "doubled/no-id",
    asks: "A call without an id runs and has its result.",
    why: "Several local servers send no ids.",
    async play(t) {
      const add = t.tool("add", numbers, sum);
      t.model(says(calls(["add", { a: 1, b: 2 }, null]), { text: "Done." }));
      const { text, threw } = await t.ask({ tools: [add] }, "Add.");
      t.demandValid();
      demand(
        text === "Done." && add.ran.length === 1,
        threw ?? `gave ${JSON.stringify(text)} after ${add.ran.length} calls`,
      );
    },
  },
];
