import { describe, expect, it } from "vitest";
import type { HookPlace } from "../../src/hook/hook.ts";
import { hookFields } from "../../src/hook/hook.ts";
import { type Hook, memoryJournal } from "../../src/index.ts";
import { base, type Scene, scene, type SceneOptions, userTexts } from "./hook-scene.ts";
import { factsOf, ofType, resultsIn, roundTrip } from "./watching.ts";

/** How a run comes to a place, where it does not come there by itself. */
const reaching: Partial<Record<HookPlace, SceneOptions>> = {
  onError: { steps: [new Error("the line is down"), ...base] },
  onBudgetThreshold: { definition: { budget: { turns: 2, warnAt: 0.5 } } },
  onBudgetExceeded: { definition: { budget: { turns: 1 } } },
};

interface Effect {
  readonly gives: unknown;
  readonly options?: SceneOptions;
  readonly expected: (scene: Scene) => void;
}

const replaced = { role: "assistant", parts: [{ type: "text", text: "Instead." }] };
const outcomeOf = ({ result }: Scene): object => result.outcome;

/** One effect for each field that a place may give back. */
const effects: { readonly [Place in HookPlace]: Readonly<Record<string, Effect>> } = {
  beforeRun: {
    input: { gives: "other", expected: ({ model }) => expect(userTexts(model, 0)).toEqual(["other"]) },
  },
  beforeSkill: {
    skill: {
      gives: "beta",
      expected: ({ events, look }) => {
        expect(ofType(events, "skill-chosen")).toMatchObject([{ skill: "beta", by: "hook" }]);
        expect(look.calls).toEqual([]);
      },
    },
    deny: {
      gives: "not today",
      expected: (seen) => {
        expect(outcomeOf(seen)).toMatchObject({ type: "refused", code: "run-refused" });
        expect(seen.result.error?.message).toContain("not today");
        expect(seen.model.requests).toEqual([]);
      },
    },
  },
  beforeTurn: {
    say: {
      gives: "Be quick.",
      expected: ({ model }) => expect(userTexts(model, 1)).toEqual(["go", "Be quick.", "Be quick."]),
    },
    answer: {
      gives: { cached: true },
      expected: ({ model, result }) => {
        expect(model.requests).toEqual([]);
        expect(result).toMatchObject({ text: '{"cached":true}', turns: 1, outcome: { type: "answered" } });
        expect(result.transcript.messages.at(-1)).toMatchObject({ role: "assistant" });
      },
    },
    deny: {
      gives: "closed",
      expected: (seen) => {
        expect(seen.model.requests).toEqual([]);
        expect(outcomeOf(seen)).toMatchObject({
          type: "refused",
          message: expect.stringContaining("closed"),
        });
      },
    },
  },
  beforeModel: {
    messages: {
      gives: [{ role: "user", parts: [{ type: "text", text: "redacted" }] }],
      expected: ({ model, result }) => {
        expect(userTexts(model, 0)).toEqual(["redacted"]);
        expect(JSON.stringify(result.transcript)).not.toContain("redacted");
      },
    },
    settings: {
      gives: { temperature: 0.25 },
      expected: ({ model }) => expect(model.requests[0]?.settings).toEqual({ temperature: 0.25 }),
    },
    toolChoice: {
      gives: { tool: "look" },
      expected: ({ model }) => expect(model.requests[0]?.toolChoice).toEqual({ tool: "look" }),
    },
  },
  afterModel: {
    message: {
      gives: replaced,
      expected: ({ result, look }) => {
        expect([result.text, look.calls]).toEqual(["Instead.", []]);
        expect(result.transcript.messages.at(-1)).toEqual(replaced);
      },
    },
  },
  beforeToolCall: {
    arguments: {
      gives: { q: 2 },
      expected: ({ events, look }) => {
        expect(look.calls).toEqual([{ q: 2 }]);
        expect(ofType(events, "call-decided")).toMatchObject([{ arguments: { q: 2 } }]);
        expect(ofType(events, "tool-start")).toMatchObject([{ arguments: { q: 2 } }]);
      },
    },
    deny: {
      gives: "it is private",
      expected: ({ result, look }) => {
        expect(look.calls).toEqual([]);
        expect(resultsIn(result.transcript)).toMatchObject([
          { status: "denied", text: "Tool 'look' was denied: it is private" },
        ]);
      },
    },
    result: {
      gives: { cached: 1 },
      expected: ({ result, look, events }) => {
        expect(look.calls).toEqual([]);
        expect(resultsIn(result.transcript)).toMatchObject([{ status: "ok", text: '{"cached":1}' }]);
        expect(ofType(events, "tool-end")).toMatchObject([{ result: { value: { cached: 1 } } }]);
      },
    },
  },
  afterToolCall: {
    result: {
      gives: { status: "ok", text: "[redacted]" },
      expected: ({ result, events, model }) => {
        expect(resultsIn(result.transcript)).toMatchObject([{ status: "ok", text: "[redacted]" }]);
        expect(model.requests[1]?.messages.at(-1)).toMatchObject({ text: "[redacted]" });
        expect(ofType(events, "tool-end")).toMatchObject([{ result: { text: "[redacted]" } }]);
      },
    },
  },
  afterTurn: {
    say: {
      gives: "Go on.",
      expected: ({ model }) => expect(userTexts(model, 1)).toEqual(["go", "Go on."]),
    },
    stop: {
      gives: "enough",
      expected: (seen) => {
        expect(outcomeOf(seen)).toEqual({ type: "cancelled", reason: "enough" });
        expect([seen.look.calls.length, seen.model.requests.length]).toEqual([1, 1]);
      },
    },
  },
  onBudgetThreshold: {},
  onBudgetExceeded: {
    extend: { gives: 2, expected: ({ result }) => expect(result).toMatchObject({ text: "Done.", turns: 2 }) },
    checkpoint: {
      gives: true,
      expected: ({ result }) =>
        expect(result).toMatchObject({
          outcome: { type: "suspended", field: "turns" },
          checkpoint: { agent: "a" },
        }),
    },
  },
  onError: {
    retryAfterMs: {
      gives: 1,
      expected: ({ result, model, events }) => {
        expect([result.text, model.requests.length]).toEqual(["Done.", 3]);
        expect(ofType(events, "retry-start")).toMatchObject([
          { reason: expect.stringContaining("line is down") },
        ]);
      },
    },
    answer: {
      gives: "We are offline.",
      expected: ({ result, model }) =>
        expect([result.text, model.requests.length]).toEqual(["We are offline.", 1]),
    },
  },
  onStop: {
    continue: {
      gives: "Are you sure?",
      options: { definition: { budget: { turns: 3 } } },
      expected: ({ model, result }) => {
        expect(userTexts(model, 2)).toEqual(["go", "Are you sure?"]);
        expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns" });
      },
    },
  },
  afterRun: {
    output: {
      gives: "Censored.",
      expected: ({ result }) => expect(result).toMatchObject({ output: "Censored.", text: "Censored." }),
    },
  },
};

const places = Object.keys(hookFields) as HookPlace[];
const hookAt = (place: HookPlace, does: (at: never) => unknown): Hook => ({ name: "mine", [place]: does });

describe("what a hook may replace", () => {
  it.each(places)(
    "case 31: in %s each field that it may give back has its effect, and is told [C25, Z6]",
    async (place) => {
      expect(Object.keys(effects[place]).toSorted()).toEqual([...hookFields[place]].toSorted());
      for (const [field, { gives, options, expected }] of Object.entries(effects[place])) {
        const hook = hookAt(place, () => ({ [field]: gives }));
        const seen = await scene([hook], options ?? reaching[place]);
        expected(seen);
        const told = ofType(seen.events, "hook-end").find((event) => event.place === place);
        expect(told?.by).toEqual({ [field]: "mine" });
      }
    },
  );

  it.each(places)(
    "case 31: in %s a field that it may not give back is refused by its name [C25]",
    async (place) => {
      for (const gives of [{ bogus: 1 }, { transcript: [] }, { turn: 7 }]) {
        const seen = await scene([hookAt(place, () => gives)], reaching[place]);
        const [field] = Object.keys(gives);
        expectFailedClosed(place, seen, `returned the field "${field}", which \`${place}\` may not replace`);
      }
    },
  );

  it.each(places)("in %s what is no JSON, or not what the field takes, is refused", async (place) => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const wrong: unknown[] = ["text", [], false, null];
    for (const field of hookFields[place]) wrong.push({ [field]: circle }, { [field]: () => "later" });
    const texts = new Set([
      "say",
      "deny",
      "skill",
      "stop",
      "continue",
      "checkpoint",
      "extend",
      "retryAfterMs",
    ]);
    for (const field of hookFields[place].filter((name) => texts.has(name)))
      wrong.push({ [field]: { x: 1 } }, { [field]: null });
    for (const gives of wrong) {
      const seen = await scene([hookAt(place, () => gives)], reaching[place]);
      expectFailedClosed(place, seen, 'The hook "mine" failed in `');
      expect(seen.result.outcome.type, JSON.stringify(Object.keys(Object(gives) as object))).toMatch(
        /failed|answered/,
      );
    }
  });

  it.each(places)(
    "in %s what it is given cannot be changed: writing to it fails, and changes nothing",
    async (place) => {
      const writes = (at: Record<string, unknown>): void => {
        for (const value of Object.values(at)) deface(value);
        at["turn"] = 99;
      };
      const seen = await scene([hookAt(place, writes)], reaching[place]);
      expectFailedClosed(place, seen, 'The hook "mine" failed in `');
      expect(JSON.stringify(seen.result.transcript)).not.toContain("defaced");
    },
  );

  it.each(places)(
    "in %s a hook that throws fails closed, and one that hangs ends with its run [C30]",
    async (place) => {
      const seen = await scene(
        [
          hookAt(place, () => {
            throw new Error("no disk");
          }),
        ],
        reaching[place],
      );
      expectFailedClosed(place, seen, "no disk");

      const hanging = hookAt(place, () => new Promise(() => undefined));
      const stopped = await scene([hanging], {
        ...reaching[place],
        run: { signal: AbortSignal.timeout(40) },
      });
      expect(stopped.result.outcome).toMatchObject({ type: "cancelled" });
    },
  );
});

/** Tries to write into a value, at every depth. */
function deface(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if ("messages" in value && Array.isArray(value.messages)) deface(value.messages);
  if (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value)) return;
  for (const [key, field] of Object.entries(value)) {
    deface(field);
    Reflect.set(value, key, "defaced");
  }
}

/** Before a call it is denied, after a call it fails, elsewhere the run fails. */
function expectFailedClosed(place: HookPlace, { result, look }: Scene, reason: string): void {
  if (place === "beforeToolCall" || place === "afterToolCall") {
    const status = place === "beforeToolCall" ? "denied" : "error";
    expect(resultsIn(result.transcript)).toMatchObject([{ status, text: expect.stringContaining(reason) }]);
    expect(look.calls).toHaveLength(place === "beforeToolCall" ? 0 : 1);
    expect(result.text).toBe("Done.");
  } else {
    expect(result.outcome).toMatchObject({ type: "failed", code: expect.stringMatching(/^hook-f/) });
    expect(result.error?.message).toContain(reason);
    expect(result.output).toBeUndefined();
  }
}

describe("hooks at a replay", () => {
  it.each(places)(
    "case 31: in %s no hook is asked again, and the facts are the same [C26]",
    async (place) => {
      const given = [
        ...Object.entries(effects[place]),
        ["nothing", { gives: undefined }] as const,
        ["failure", { gives: undefined }] as const,
      ];
      for (const [field, { gives, ...more }] of given as [string, Effect][]) {
        const journal = memoryJournal();
        const run = { journal, runId: "r" };
        const options = more.options ?? reaching[place] ?? {};
        const does = (): unknown => {
          if (field === "failure") throw new Error("no disk");
          return field === "nothing" ? undefined : { [field]: gives };
        };
        const first = await scene([hookAt(place, does)], { ...options, run }).catch(
          (error: unknown) => error as Error,
        );
        if (first instanceof Error) {
          expect([place, field]).toEqual(["onError", "nothing"]); // the model's own error is thrown, and nothing of it is recorded
          continue;
        }
        const never = (): never => {
          throw new Error("asked again");
        };
        const steps = [never];
        const again = await scene([hookAt(place, never)], {
          ...options,
          steps,
          run: { ...run, journal: memoryJournal(roundTrip(journal.records)) },
        });
        expect(factsOf(again.events)).toEqual(factsOf(first.events));
        expect(roundTrip(again.result.transcript)).toEqual(roundTrip(first.result.transcript));
        expect(again.look.calls).toEqual([]);
      }
    },
  );
});
