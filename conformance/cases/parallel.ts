import type { Case } from "../suite/case.ts";
import { calls, demand, says, until, wait } from "../suite/scene.ts";

const one = { n: "integer" } as const;

/** Several calls in one reply. */
export const parallelCases: readonly Case[] = [
  {
    id: "parallel/reads-together",
    asks: "Three reads of one reply run at the same time.",
    why: "Three lookups of a second each should take a second.",
    async play(t) {
      let [working, most, patienceMs] = [0, 0, 4000];
      const look = t.tool("look", one, async () => {
        working += 1;
        most = Math.max(most, working);
        await until(() => most === 3, patienceMs);
        patienceMs = 0; // where they come one after the other the first has waited for all
        working -= 1;
        return "seen";
      });
      t.model(says(calls(["look", { n: 1 }], ["look", { n: 2 }], ["look", { n: 3 }]), { text: "Done." }));
      await t.ask({ tools: [look] }, "Look.");
      demand(look.ran.length === 3 && most === 3, `${look.ran.length} ran, at most ${most} at the same time`);
    },
  },
  {
    id: "parallel/results-in-order",
    asks: "Each result is under its own call, even if the first one comes last.",
    why: "A price under the wrong article is worse than no price.",
    async play(t) {
      const price = t.tool("price", one, async ({ n }: { readonly n: number }) => {
        await wait(200 - n * 60);
        return `price ${n * 111}`;
      });
      t.model(
        says(calls(["price", { n: 1 }], ["price", { n: 2 }], ["price", { n: 3 }]), {
          text: "Done.",
        }),
      );
      await t.ask({ tools: [price] }, "Prices?");
      t.demandValid();
      const told = t.results(1);
      for (const n of [1, 2, 3])
        demand((told[n - 1] ?? "").includes(String(n * 111)), `call ${n} has ${JSON.stringify(told[n - 1])}`);
    },
  },
  {
    id: "parallel/one-fails",
    asks: "If one of three calls fails, the model is told of the failure and of the two results.",
    why: "One broken service must not cost the whole answer.",
    async play(t) {
      const look = t.tool("look", one, ({ n }: { readonly n: number }) => {
        if (n === 2) throw new Error("the shelf is empty");
        return `seen ${n}`;
      });
      t.model(says(calls(["look", { n: 1 }], ["look", { n: 2 }], ["look", { n: 3 }]), { text: "Done." }));
      const { text, threw } = await t.ask({ tools: [look] }, "Look.");
      t.demandValid();
      demand(text === "Done.", threw ?? `gave ${JSON.stringify(text)}`);
      const [first = "", , third = ""] = t.results(1);
      demand(first.includes("seen 1") && third.includes("seen 3"), `told ${JSON.stringify(t.results(1))}`);
    },
  },
  {
    id: "parallel/writes-in-order",
    asks: "Two calls that change something can be made to run one after the other, in the order of the reply.",
    why: "A model writes «create the folder, then the file in it» in one reply.",
    needs: ["ordered-writes"],
    async play(t) {
      const append = t.tool("append", one, () => wait(150).then(() => "ok"), { effect: "write" });
      t.model(says(calls(["append", { n: 1 }], ["append", { n: 2 }]), { text: "Done." }));
      await t.ask({ tools: [append], orderedWrites: true }, "Append.");
      const order = t.log.filter((line) => line.startsWith("append")).join(", ");
      demand(order === "append begins, append ends, append begins, append ends", `it went: ${order}`);
      demand(
        JSON.stringify(append.ran) === '[{"n":1},{"n":2}]',
        `in the order ${JSON.stringify(append.ran)}`,
      );
    },
  },
  {
    id: "parallel/forty-calls",
    asks: "Forty calls in one reply have forty results.",
    why: "A model that has to look up a whole list calls for all entries at once.",
    async play(t) {
      const look = t.tool("look", one, ({ n }: { readonly n: number }) => `seen ${n}`);
      const many = Array.from({ length: 40 }, (_none, n) => ["look", { n }] as const);
      t.model(says(calls(...many), { text: "Done." }));
      const { text, threw } = await t.ask({ tools: [look], maxCalls: 100 }, "Look.");
      t.demandValid();
      const missing = t.results(1).findIndex((told, n) => !told.includes(`seen ${n}`));
      demand(
        text === "Done." && look.ran.length === 40 && missing < 0,
        threw ?? `${look.ran.length} ran; the first wrong result is number ${missing}`,
      );
    },
  },
];
