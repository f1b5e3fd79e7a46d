import fc from "fast-check";
import { expect, it } from "vitest";
import {
  agent,
  type Approve,
  type Hook,
  isRunError,
  isWritError,
  memoryJournal,
  type Policy,
  tool,
  type Tool,
} from "../../src/index.ts";
import type { JournalRecord } from "../../src/doors.ts";
import type { Json } from "../../src/util/json.ts";

/** A call of a script, with a number of its own. */
interface Wanted {
  readonly name: string;
  readonly n: number;
}
type Plan = readonly (readonly Wanted[])[];

const names = ["pay", "mail"] as const;
const forms = ["gone", "loose", "loose", "loose", "strict", "fails"] as const;
const loose = { type: "object", properties: { n: { type: "number" } } } as const;
const strict = { ...loose, required: ["n", "note"] } as const;

const verdict = fc.constantFrom("allow", "allow", "deny", "ask");
const answer = fc.constantFrom<object[]>({}, {}, { deny: "no" }, { result: 5 });
/** The code of one agent. */
const code = fc.record({
  pay: fc.constantFrom(...forms),
  mail: fc.constantFrom(...forms),
  policy: fc.record({ pay: verdict, mail: verdict }),
  hook: fc.option(answer),
});
type Code = typeof code extends fc.Arbitrary<infer Value> ? Value : never;
type Answer = Awaited<ReturnType<Approve>>;
const version = fc.record({
  boss: code,
  clerk: code,
  person: fc.constantFrom<Answer[]>(true, false),
});
type Version = typeof version extends fc.Arbitrary<infer Value> ? Value : never;

const wanted = fc.record({ name: fc.constantFrom("pay", "mail", "clerk"), n: fc.nat() });
const script = fc.array(fc.array(wanted, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
const inner = fc.array(
  fc.array(fc.record({ name: fc.constantFrom(...names), n: fc.nat() }), { minLength: 1, maxLength: 2 }),
  { minLength: 1, maxLength: 2 },
);

/** Numbers the calls of a script. */
function numbered(plan: Plan, from: number): Plan {
  let next = from;
  return plan.map((calls) => calls.map(({ name }) => ({ name, n: next++ })));
}

function toolsOf(forms: Code, ran: number[]): Tool[] {
  return names.flatMap((name) => {
    const form = forms[name];
    if (form === "gone") return [];
    const execute = ({ n }: { n?: number }): string => {
      ran.push(n ?? -1);
      if (form === "fails") throw new Error(`did ${n} in part`);
      return `did ${n}.`;
    };
    const made = tool({ name, description: "", inputSchema: form === "strict" ? strict : loose, execute });
    return [{ ...made, effect: "irreversible" }];
  });
}

const policyOf =
  ({ policy }: Code): Policy =>
  ({ tool: name }) => ({
    verdict: name === "clerk" ? "allow" : policy[name as "pay"],
    rule: "drawn",
    reason: "",
  });

const hooksOf = ({ hook }: Code): Hook[] =>
  hook === null ? [] : [{ beforeToolCall: ({ tool: name }) => (name === "pay" ? hook : {}) }];

/** The agent of one version, which plays a script; the agent inside it plays another, numbered by its task. */
function bossOf({ boss, clerk }: Version, [outer, inside]: readonly [Plan, Plan], ran: number[]) {
  const asked = (plan: Plan, turn: number) => {
    const calls = plan[turn];
    return calls === undefined
      ? "done"
      : {
          calls: calls.map(({ name, n }) => ({
            name,
            arguments: (name === "clerk" ? { input: `${n}` } : { n }) as Json,
          })),
        };
  };
  const turnOf = (messages: readonly { readonly role: string }[]): number =>
    messages.filter(({ role }) => role === "assistant").length;
  const within = agent({
    name: "clerk",
    description: "",
    policy: policyOf(clerk),
    tools: toolsOf(clerk, ran),
    hooks: hooksOf(clerk),
    model: ({ messages }) => {
      const task = messages.find(({ role }) => role === "user");
      const n = Number(/\d+/.exec(JSON.stringify(task))?.[0] ?? 0);
      return asked(numbered(inside, 1000 * (n + 1)), turnOf(messages));
    },
  });
  return agent({
    name: "boss",
    policy: policyOf(boss),
    tools: [...toolsOf(boss, ran), within.asTool()],
    hooks: hooksOf(boss),
    model: ({ messages }) => asked(outer, turnOf(messages)),
  });
}

/** The numbers of the calls that records say have run, and of all those of turns that are over. */
function pastIn(records: readonly JournalRecord[]): ReadonlySet<number> {
  const past = new Set<number>();
  const modelOf = new Map(
    records.filter(({ key }) => key.endsWith("/model")).map(({ key, json }) => [key, json]),
  );
  for (const { key, json = "" } of records) {
    if (/\/call\/\d+$/.test(key)) for (const [, n] of json.matchAll(/did (\d+)/g)) past.add(Number(n));
    const [, around = "", turn] = /^(.*)turn\/(\d+)\/model$/.exec(key) ?? [];
    const before = modelOf.get(`${around}turn/${Number(turn) - 1}/model`) ?? "";
    for (const [, n] of before.matchAll(/"n":(\d+)/g)) past.add(Number(n));
  }
  return past;
}

it("agents inside, and what changes in their code, leave what happened as it was", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(script, inner),
      fc.tuple(version, version),
      fc.nat(),
      async ([outer, inside], [before, after], cut) => {
        const plans = [numbered(outer, 1), inside] as const;
        const ran: number[] = [];
        const journal = memoryJournal();
        const ended = (run: Promise<unknown>) =>
          run.catch((error: unknown) => {
            if (isRunError(error)) return error;
            throw error;
          });
        await ended(
          bossOf(before, plans, ran).run("Go", { journal, runId: "r", approve: () => before.person }),
        );
        expect(new Set(ran).size).toBe(ran.length);
        const all = journal.records.filter(({ key }) => key !== "end");
        const records = all.slice(0, 1 + (cut % all.length));
        const past = pastIn(records);
        ran.length = 0;
        const second = await ended(
          bossOf(after, plans, ran).run("Go", {
            journal: memoryJournal(records),
            runId: "r",
            accept: ["tools", "policy"],
            approve: () => after.person,
          }),
        );
        if (isWritError(second, "run-broken")) throw second;
        expect(ran.filter((n) => past.has(n))).toEqual([]);
        expect(new Set(ran).size).toBe(ran.length);
        if (isWritError(second)) expect(["journal-mismatch", "journal-longer"]).not.toContain(second.code);
      },
    ),
    { numRuns: 300 },
  );
});
