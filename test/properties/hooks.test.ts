import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agent, type AgentEvent, type Hook, isFact, memoryJournal, type RunResult } from "../../src/index.ts";
import type { HookPlace } from "../../src/hook/hook.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import { providerComplaints } from "../provider-rules.ts";

const say = (text: string): object => ({ role: "assistant", parts: [{ type: "text", text }] });
const call = { type: "tool-call", id: "mine", name: "look", arguments: { q: 9 } };

/** What hooks may do in each place: answers that count, answers that are refused, and failures. */
const answers: { readonly [Place in HookPlace]: readonly unknown[] } = {
  beforeRun: [{ input: "other" }],
  beforeSkill: [{ skill: "a" }, { deny: "no" }],
  beforeTurn: [{ say: "Hm." }, { answer: "Cached." }, { deny: "no" }],
  beforeModel: [
    { messages: [{ role: "user", parts: [{ type: "text", text: "x" }] }] },
    { messages: [] },
    { settings: { seed: 1 } },
    { toolChoice: "none" },
  ],
  afterModel: [
    { message: say("Instead.") },
    { message: say("") },
    { message: { role: "assistant", parts: [call, call] } },
  ],
  beforeToolCall: [{ arguments: { q: 7 } }, { deny: "no" }, { result: [1] }],
  afterToolCall: [
    { result: { status: "error", text: "worse" } },
    { result: { status: "ok", text: "better", value: 1 } },
  ],
  afterTurn: [{ say: "More." }, { stop: "enough" }],
  onBudgetThreshold: [],
  onBudgetExceeded: [{ extend: 3 }, { extend: 5 }, { extend: 1 }, { checkpoint: true }],
  onError: [{ retryAfterMs: 0 }, { answer: "Offline." }],
  onStop: [{ continue: "Again." }],
  afterRun: [{ output: "Final." }],
};
const places = Object.keys(answers) as HookPlace[];

/** A hook that does one thing after another in each of some places; nothing when it has done all. */
const hook = fc.record({
  priority: fc.constantFrom(-1, 0, 5),
  does: fc.array(
    fc.constantFrom(...places).chain((place) =>
      fc.tuple(
        fc.constant(place),
        fc.array(fc.constantFrom(undefined, undefined, ...answers[place], { bogus: 1 }, "throw"), {
          maxLength: 4,
        }),
      ),
    ),
    { maxLength: 4 },
  ),
});

const step: fc.Arbitrary<ScriptStep> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Error("down")) },
  { weight: 1, arbitrary: fc.constantFrom("Done.", "") },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.constantFrom("look", "read", "nope"), { minLength: 1, maxLength: 3 })
      .map((names) => ({
        calls: names.map((name, q) => ({ name, arguments: { q } })),
        usage: { inputTokens: 5, outputTokens: 5 },
      })),
  },
);

const hooksOf = (
  given: readonly { priority: number; does: readonly (readonly [HookPlace, readonly unknown[]])[] }[],
): Hook[] =>
  given.map(({ priority, does }, index) => {
    const entries = does.map(([place, script]) => {
      let asked = 0;
      const act = (): unknown => {
        const gives = script[asked];
        asked += 1;
        if (gives === "throw") throw new Error("no disk");
        return gives;
      };
      return [place, act] as const;
    });
    return { name: `hook ${index}`, priority, ...Object.fromEntries(entries) };
  });

/** The same hooks, which are not to be asked. */
const deaf = (hooks: readonly Hook[]): Hook[] =>
  hooks.map((each) => {
    const never = (): never => {
      throw new Error("a replay asked a hook");
    };
    return Object.fromEntries(
      Object.entries(each).map(([key, value]) => [key, typeof value === "function" ? never : value]),
    );
  });

async function watch(
  stream: AsyncGenerator<AgentEvent, RunResult<unknown>>,
): Promise<{ facts: string[]; result?: RunResult<unknown>; error?: unknown }> {
  const facts: string[] = [];
  try {
    for (;;) {
      const next = await stream.next();
      if (next.done === true) return { facts, result: next.value };
      const { at: _at, ...event } = next.value;
      if (isFact(next.value)) facts.push(JSON.stringify(event));
    }
  } catch (error) {
    return { facts, error };
  }
}

describe("hooks of any kind", () => {
  it("never make a transcript that a provider refuses, and are not asked again at a replay, which tells the same", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(hook, { maxLength: 3 }),
        fc.array(step, { minLength: 1, maxLength: 5 }),
        fc.record({
          turns: fc.constantFrom(2, 4),
          toolCalls: fc.constantFrom(1, 3, 9),
          endOn: fc.subarray(["blocked-call", "tool-failure"] as const),
        }),
        async (given, steps, { turns, toolCalls, endOn }) => {
          const hooks = hooksOf(given);
          const definition = {
            name: "a",
            tools: [
              fakeTool("look", "seen"),
              fakeTool("read", () => {
                throw new Error("unreadable");
              }),
            ],
            budget: { turns, toolCalls, warnAt: 0.5 },
            endOn,
          };
          const journal = memoryJournal();
          const first = await watch(
            agent({ ...definition, model: scripted(steps), hooks }).stream("go", { journal, runId: "r" }),
          );
          if (first.result === undefined) {
            expect(first.error).toMatchObject({ code: "provider-failed" });
            return;
          }
          expect(providerComplaints(first.result.transcript.messages)).toEqual([]);
          const never = (): never => {
            throw new Error("a replay asked the model");
          };
          const again = await watch(
            agent({ ...definition, model: scripted([never]), hooks: deaf(hooks) }).stream("go", {
              journal: memoryJournal(journal.records),
              runId: "r",
            }),
          );
          expect(again.facts).toEqual(first.facts);
          expect(again.result?.outcome).toEqual(first.result.outcome);
          expect(JSON.stringify(again.result?.transcript)).toBe(JSON.stringify(first.result.transcript));
        },
      ),
      { numRuns: 300 },
    );
  });
});
