import fc from "fast-check";
import { expect, it } from "vitest";
import type { EndCause, Transcript } from "../../src/doors.ts";
import {
  agent,
  type Approve,
  isRunError,
  isWritError,
  memoryJournal,
  type Policy,
  tool,
  type Tool,
} from "../../src/index.ts";
import { fixed } from "../../src/tools.ts";
import type { Json } from "../../src/util/json.ts";
import { roundTrip } from "../acceptance/watching.ts";

const names = ["a", "b", "c"] as const;
const forms = ["gone", "loose", "strict", "mended", "once", "after", "fails"] as const;
type Form = (typeof forms)[number];

const loose = { type: "object", properties: { n: { type: "number" } } } as const;
const strict = { ...loose, required: ["n"] } as const;

/** The tools of one version of the code, which take down the ids of the calls that run. */
function toolsOf(version: readonly Form[], ran: string[]): Tool[] {
  return names.flatMap((name, index) => {
    const form = version[index];
    if (form === "gone") return [];
    const execute = (_args: unknown, { callId }: { readonly callId: string }): string => {
      ran.push(callId);
      if (form === "fails") throw new Error("broken");
      return `${name} did`;
    };
    const isStrict = form === "strict" || form === "mended";
    const recover = { invalidArguments: () => fixed({ n: 7 }) };
    const base = tool({
      name,
      description: "",
      inputSchema: isStrict ? strict : loose,
      execute,
      ...(form === "mended" ? { recover } : {}),
    });
    const constraints =
      form === "once" ? { maxCalls: 1 } : form === "after" ? { onlyAfter: ["a"] } : undefined;
    return [{ ...base, effect: "irreversible", ...(constraints && { constraints }) }];
  });
}

/** Hooks of one version of the code, about the calls of one tool. */
const hook = fc.option(
  fc.record({
    name: fc.constantFrom(...names),
    answer: fc.constantFrom<object[]>({ deny: "no" }, { result: 5 }, { arguments: { n: 8 } }, {}),
  }),
);

/** The policy of one version of the code, about the calls of one tool. Others run. */
const rule = fc.record({
  name: fc.constantFrom(...names),
  verdict: fc.constantFrom("allow", "deny", "ask"),
});
const policyOf =
  ({ name, verdict }: typeof rule extends fc.Arbitrary<infer Value> ? Value : never): Policy =>
  ({ tool: called }) => ({ verdict: called === name ? verdict : "allow", rule: "drawn", reason: "" });

type Answer = Awaited<ReturnType<Approve>>;
/** The answer of people who are asked. */
const person = fc.constantFrom<Answer[]>(
  true,
  false,
  { approved: true, arguments: { n: 9 } },
  { approved: true, for: "run" },
);

const call = fc.record({ name: fc.constantFrom(...names), arguments: fc.constantFrom<Json[]>({}, { n: 1 }) });
const script = fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
const version = fc.record({
  tools: fc.tuple(
    fc.constantFrom<Form[]>("loose", "strict"),
    fc.constantFrom(...forms),
    fc.constantFrom(...forms),
  ),
  hook,
  rule,
  person,
  endOn: fc.subarray<EndCause>(["blocked-call", "tool-failure", "unknown-tool"]),
  toolCalls: fc.constantFrom(2, 99),
});
type Version = typeof version extends fc.Arbitrary<infer Value> ? Value : never;

/** The end of a run, also of one that failed. */
function endOf(run: Promise<{ readonly transcript: Transcript }>) {
  return run.catch((error: unknown) => {
    if (isRunError(error)) return error;
    throw error;
  });
}

/** The messages up to the end of a turn, without those of the system. */
function until(turn: number, { messages }: Transcript): unknown {
  const next = messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : []))[turn];
  return roundTrip(messages.slice(0, next).filter(({ role }) => role !== "system"));
}

it("tools that come, go and change what they take, hooks, recoveries, policies and people leave what happened as it was, and nothing of it runs by and by", async () => {
  await fc.assert(
    fc.asyncProperty(script, fc.tuple(version, version), fc.nat(), async (turns, [before, after], cut) => {
      const ran: string[] = [];
      const codeOf = ({ tools, hook: asked, rule: drawn, endOn, toolCalls }: Version) =>
        agent({
          name: "clerk",
          policy: policyOf(drawn),
          tools: toolsOf(tools, ran),
          hooks:
            asked === null
              ? []
              : [{ beforeToolCall: ({ tool: name }) => (name === asked.name ? asked.answer : {}) }],
          budget: { repeats: 99, toolCalls },
          endOn,
          model: ({ messages }) => {
            const calls = turns[messages.filter(({ role }) => role === "assistant").length];
            return calls === undefined ? "done" : { calls };
          },
        });
      const journal = memoryJournal();
      const first = await endOf(
        codeOf(before).run("Go", { journal, runId: "r", approve: () => before.person }),
      );
      const all = journal.records.filter(({ key }) => key !== "end");
      const records = all.slice(0, 2 + (cut % (all.length - 1)));
      const last = records.filter(({ key }) => key.endsWith("/model")).length;
      ran.length = 0;
      const options = { journal: memoryJournal(records), runId: "r", accept: ["tools", "policy"] } as const;
      const second = await endOf(codeOf(after).run("Go", { ...options, approve: () => after.person }));
      if (isWritError(second, "journal-longer")) {
        expect(after.endOn).not.toEqual(before.endOn); // by this code the run was over then
        expect(ran).toEqual([]);
        return;
      }
      if (isWritError(second, "journal-mismatch")) {
        expect(second.data.key).toMatch(`turn/${last}/approval/`); // what people answered holds for the arguments of then alone
        expect(ran).toEqual([]);
        return;
      }
      expect(until(last - 1, second.transcript)).toEqual(until(last - 1, first.transcript));
      const recorded = records.flatMap(({ key }) => /^turn\/(\d+)\/call\/(\d+)$/.exec(key) ?? []);
      const places = ran.map((id) => /_(\d+)_(\d+)$/.exec(id)?.slice(1).map(Number) ?? []);
      for (const [turn = 0, index = 0] of places) {
        expect(turn).toBeGreaterThanOrEqual(last);
        expect(recorded).not.toContain(`turn/${turn}/call/${index}`);
      }
    }),
    { numRuns: 500 },
  );
});
