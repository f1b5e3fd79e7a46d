import type { Case } from "../suite/case.ts";
import { calls, demand, says } from "../suite/scene.ts";

const path = { path: "string" } as const;

/** Tools that do not exist, and tools that this run may not use. */
export const hiddenCases: readonly Case[] = [
  {
    id: "unknown/told",
    asks: "A call of a tool that does not exist has a result that says so, and the run goes on.",
    why: "Models invent names. One wrong name must not cost the whole run.",
    async play(t) {
      const read = t.tool("read", path);
      t.model(
        says(calls(["open_file", { path: "a" }]), calls(["read", { path: "a" }]), {
          text: "Read.",
        }),
      );
      const { text, threw } = await t.ask({ tools: [read] }, "Read a.");
      t.demandValid();
      demand(
        text === "Read." && read.ran.length === 1,
        threw ?? `gave ${JSON.stringify(text)}, the right call ran ${read.ran.length} times`,
      );
      demand((t.results(1)[0] ?? "") !== "", "the model was told nothing");
    },
  },
  {
    id: "unknown/sibling-runs",
    asks: "A correct call beside a call of an unknown tool runs once, and both have a result.",
    why: "A mistake must not make the right call beside it run twice or lose its result.",
    async play(t) {
      const read = t.tool("read", path);
      t.model(says(calls(["read", { path: "a" }], ["open_file", { path: "b" }]), { text: "Read." }));
      const { text, threw } = await t.ask({ tools: [read] }, "Read a and b.");
      t.demandValid();
      demand(
        text === "Read." && read.ran.length === 1,
        threw ?? `gave ${JSON.stringify(text)}, the right call ran ${read.ran.length} times`,
      );
      demand(
        t.results(1).every((told) => told !== ""),
        "a call has no result",
      );
    },
  },
  {
    id: "unknown/inherited-name",
    asks: "Calls of «constructor», «toString» and «__proto__» are calls of unknown tools.",
    why: "Runtimes often keep tools in a plain object, which has these names too.",
    async play(t) {
      const read = t.tool("read", path);
      t.model(says(calls(["constructor", {}], ["toString", {}], ["__proto__", {}]), { text: "Sorry." }));
      const { text, threw } = await t.ask({ tools: [read] }, "Read a.");
      t.demandValid();
      demand(text === "Sorry.", threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
  {
    id: "hidden/not-described",
    asks: "A tool that is hidden from this run is not described to the model.",
    why: "A model calls the tools that it sees.",
    needs: ["hidden"],
    async play(t) {
      const tools = [t.tool("read", path), t.tool("erase", path, () => "erased", { effect: "write" })];
      t.model(says({ text: "Hello." }));
      const { threw } = await t.ask(await t.start({ tools }), "Hello.", { only: ["read"] });
      demand(threw === undefined, `threw ${threw}`);
      const shown = t.requests[0]?.tools.map((one) => one.function.name) ?? [];
      demand(!shown.includes("erase") && shown.includes("read"), `the model was shown ${shown.join(", ")}`);
    },
  },
  {
    id: "hidden/refused",
    asks: "A call of a tool that is hidden from this run does not run.",
    why: "A model remembers tools from earlier turns, or reads of them in a mail. Hiding restricts nothing unless the runtime enforces it.",
    needs: ["hidden"],
    async play(t) {
      const erase = t.tool("erase", path, () => "erased", { effect: "write" });
      t.model(says(calls(["erase", { path: "a" }]), { text: "Done." }));
      await t.ask(await t.start({ tools: [t.tool("read", path), erase] }), "Clean up.", {
        only: ["read"],
      });
      demand(erase.ran.length === 0, "the hidden tool ran");
    },
  },
  {
    id: "hidden/run-goes-on",
    asks: "A run whose model called a hidden tool goes on, with a result for that call.",
    why: "Otherwise a stranger's mail that names a tool could end the run.",
    needs: ["hidden"],
    async play(t) {
      const read = t.tool("read", path);
      const erase = t.tool("erase", path, () => "erased", { effect: "write" });
      t.model(says(calls(["erase", { path: "a" }]), calls(["read", { path: "a" }]), { text: "Read." }));
      const { text, threw } = await t.ask(await t.start({ tools: [read, erase] }), "Read a.", {
        only: ["read"],
      });
      t.demandValid();
      demand(text === "Read." && read.ran.length === 1, threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
  {
    id: "hidden/shown-again",
    asks: "A tool that was hidden from one run of an agent is available in the next.",
    why: "The restriction belongs to one request, and an agent serves many.",
    needs: ["hidden"],
    async play(t) {
      const read = t.tool("read", path);
      const write = t.tool("write", path, () => "written", { effect: "write" });
      t.model(says({ text: "Hello." }, calls(["write", { path: "a" }]), { text: "Written." }));
      const agent = await t.start({ tools: [read, write] });
      await t.ask(agent, "Hello.", { only: ["read"] });
      const { text, threw } = await t.ask(agent, "Write a.");
      demand(text === "Written." && write.ran.length === 1, threw ?? `ran ${write.ran.length} times`);
    },
  },
];
