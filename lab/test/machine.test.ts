import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mutations } from "../machine/mutations.ts";
import { promelaOf } from "../machine/promela.ts";
import { checked, hasSpin } from "../machine/spin.ts";
import type { Bounds } from "../machine/table.ts";
import { transitions } from "../machine/table.ts";
import { refusedOfTampered } from "../machine/tampered.ts";
import { traced } from "../machine/traces.ts";
import { Twin } from "../machine/twin.ts";

const small: Bounds = { calls: 1, owners: 2, crashes: 1, thefts: 1 };
const large: Bounds = { calls: 3, owners: 2, crashes: 2, thefts: 1 };

describe("the machine of a run", () => {
  it("keeps its rules on any way, and ends with one result for each call", () => {
    let ended = 0;
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 200, maxLength: 200 }), (draws) => {
        const twin = new Twin(large);
        for (const draw of draws) {
          if (twin.hasEnded) break;
          const { next } = twin;
          const name = next[draw % next.length];
          expect(name, twin.taken.join(", ")).toBeDefined();
          twin.take(name ?? ""); // throws where an invariant breaks
        }
        if (!twin.hasEnded) return;
        ended += 1;
        expect(twin.value("results")).toEqual([1, 1, 1]);
      }),
      { numRuns: 300 },
    );
    expect(ended).toBeGreaterThan(100);
  });

  it("takes no move whose time has not come", () => {
    const twin = new Twin(small);
    expect(() => twin.take("begin-once 0 0")).toThrow("does not hold");
    expect(() => twin.take("pay 0 0")).toThrow('no move "pay 0 0"');
  });
});

describe("traces of the simulator", { timeout: 600_000 }, () => {
  it("are ways of the machine, and take each of its transitions", async () => {
    const { refused, traces, moves } = await traced({ traces: 2500, seed: 1 });
    expect(refused).toBeUndefined();
    expect(traces).toBe(2500);
    expect(transitions.map(({ name }) => name).filter((name) => moves[name] === undefined)).toEqual([]);
  });

  it("take a look at a call that another process began, however few are drawn", async () => {
    const { refused, moves } = await traced({ traces: 9, seed: 1 });
    expect(refused).toBeUndefined();
    expect(moves["look-up"]).toBeGreaterThan(0);
  });

  it("are refused once one thing in them is wrong", async () => {
    for (const { says, tampered, passed } of await refusedOfTampered({ traces: 300, seed: 1 })) {
      expect(tampered, says).toBeGreaterThan(10);
      expect(passed, says).toEqual([]);
    }
  });
});

const missing = !hasSpin();
if (missing) console.log("skipped: spin or gcc is not installed");

describe.skipIf(missing)("the machine of a run, gone through by spin", () => {
  it("has no state in which a rule is broken, or from which a run cannot end", () => {
    const { broken, isWhole, states, moves } = checked(promelaOf(small));
    expect({ broken, moves }).toEqual({ broken: undefined, moves: [] });
    expect(isWhole).toBe(true);
    expect(states).toBeGreaterThan(1000);
  });

  it.each(mutations)("shows that $says", ({ table, breaks }) => {
    expect(checked(promelaOf(small, table), { shortest: true }).broken).toBe(breaks);
  });
});
