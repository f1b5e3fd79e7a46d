import fc from "fast-check";
import { expect, it } from "vitest";
import { type DurableRuns, durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type Agent, type Hook, type Policy, tool, type Tool } from "../../src/index.ts";
import { fixed, retry, unrecoverable } from "../../src/tools.ts";
import type { Transcript } from "../../src/doors.ts";
import { roundTrip } from "../acceptance/watching.ts";
import type { Json } from "../../src/util/json.ts";

/** More by hand: RUNS=2000 npx vitest run test/properties/forks.test.ts */
const numRuns = Number(process.env["RUNS"] ?? 40);

const names = ["pay", "look"] as const;
const loose = { type: "object", properties: { n: { type: "number" } } } as const;
const strict = { ...loose, required: ["n"] } as const;

/** A tool as it is drawn. */
const form = fc.record({
  schema: fc.constantFrom(loose, loose, strict),
  effect: fc.constantFrom("irreversible", "read"),
  does: fc.constantFrom("gives", "is-late", "fails", "fails-once"),
  fails: fc.constantFrom(
    undefined,
    undefined,
    () => retry(2),
    () => fixed("mended"),
    () => unrecoverable("gave up"),
  ),
  wrong: fc.constantFrom(undefined, undefined, () => fixed({ n: 7 })),
});
type Form = typeof form extends fc.Arbitrary<infer Value> ? Value : never;
const verdict = fc.constantFrom("allow", "allow", "deny", "ask");
const code = fc.record({
  pay: form,
  look: form,
  policy: fc.record({ pay: verdict, look: verdict }),
  before: fc.option(fc.constantFrom<object>({ deny: "no" }, { result: 5 }, { arguments: { n: 8 } })),
  after: fc.option(fc.constantFrom("!", "?")),
});
type Code = typeof code extends fc.Arbitrary<infer Value> ? Value : never;
/** The answer of people, by the tool that they are asked about. */
const person = fc.constantFrom("yes", "no", "edits");
const people = fc.record({ pay: person, look: person });
type People = typeof people extends fc.Arbitrary<infer Value> ? Value : never;

const version = fc.record({ boss: code, kid: code, said: people });

const call = fc.record({
  name: fc.constantFrom(...names, "kid"),
  arguments: fc.constantFrom<Json[]>({}, { n: 1 }, { n: 2 }),
});
const inner = fc.array(
  fc.array(fc.record({ name: fc.constantFrom(...names), arguments: fc.constantFrom<Json[]>({}, { n: 1 }) }), {
    minLength: 1,
    maxLength: 2,
  }),
  { minLength: 1, maxLength: 2 },
);
const outer = fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
type Script = readonly (readonly { readonly name: string; readonly arguments: Json }[])[];

function toolOf(name: string, { schema, effect, does, fails, wrong }: Form, ran: string[]): Tool {
  const recover = {
    ...(fails === undefined ? {} : { executionFailed: fails }),
    ...(wrong === undefined ? {} : { invalidArguments: wrong }),
  };
  let count = 0;
  return tool({
    name,
    description: "",
    inputSchema: schema,
    effect,
    recover,
    async execute({ n }: { n?: number }) {
      ran.push(name);
      const place = (count += 1);
      if (does === "is-late") for (let ms = 6 - place; ms > 0; ms -= 1) await new Promise(setImmediate); // the later, the quicker
      if (does === "fails" || (does === "fails-once" && place % 2 === 1)) throw new Error("broken");
      return `${name} ${n} for the ${place}. time`;
    },
  });
}

const policyOf =
  ({ policy }: Code): Policy =>
  ({ tool: name }) => ({
    verdict: name === "kid" ? "allow" : policy[name as "pay"],
    rule: "drawn",
    reason: "",
  });

const hooksOf = ({ before, after }: Code): Hook[] => [
  ...(before === null
    ? []
    : [{ beforeToolCall: ({ tool: name }) => (name === "pay" ? before : {}) } as Hook]),
  ...(after === null
    ? []
    : [
        {
          afterToolCall: ({ result }) => ({ result: { ...result, text: `${result.text}${after}` } }),
        } as Hook,
      ]),
];

/** Plays a script, whatever it is told. */
const playing =
  (script: Script) =>
  ({ messages }: { readonly messages: readonly { readonly role: string }[] }) => {
    const calls = script[messages.filter(({ role }) => role === "assistant").length];
    return calls === undefined
      ? "done"
      : {
          calls: calls.map(({ name, arguments: args }) => ({
            name,
            arguments: name === "kid" ? { input: JSON.stringify(args) } : args,
          })),
        };
  };

function bossOf(
  { boss, kid }: { readonly boss: Code; readonly kid: Code },
  [script, inside]: readonly [Script, Script],
  { ran, name: called = "boss" }: { readonly ran: string[]; readonly name?: string },
): Agent<string> {
  const within = agent({
    name: "kid",
    description: "",
    model: playing(inside),
    tools: names.map((name) => toolOf(name, kid[name], ran)),
    policy: policyOf(kid),
    hooks: hooksOf(kid),
    budget: { repeats: 99 },
  });
  return agent({
    name: called,
    model: playing(script),
    tools: [...names.map((name) => toolOf(name, boss[name], ran)), within.asTool()],
    policy: policyOf(boss),
    hooks: hooksOf(boss),
    budget: { repeats: 99 },
  });
}

/** Carries out a run to its end, and answers what people are asked. */
async function settled(runs: DurableRuns, id: string, said: People): Promise<void> {
  const worker = runs.work();
  for (;;) {
    for (const { key, request } of await runs.waiting(id)) {
      const answer = said[request.tool as "pay"];
      const { hash } = request;
      await runs.answer(id, key, {
        approved: answer !== "no",
        hash,
        ...(answer === "edits" ? { arguments: { n: 9 } } : {}),
      });
    }
    const shown = await runs.show(id);
    if (shown?.status !== "ready" && shown?.status !== "running" && shown?.status !== "waiting") break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await worker.drain();
}

async function told(runs: DurableRuns, id: string) {
  const { transcript, outcome, output } = await runs.replay(id);
  return { messages: transcript.toJSON(), outcome, output };
}

it("the fork of a run, before any of its turns, does nothing, and is told as the run was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(outer, inner), version, async (scripts, { said, ...drawn }) => {
      const ran: string[] = [];
      const boss = bossOf(drawn, scripts, { ran });
      const runs = durableRuns({ store: memoryRuns(), agents: [boss] });
      await runs.start(boss, "Go", { id: "r" });
      await settled(runs, "r", said);
      const shown = await runs.show("r");
      const was = await told(runs, "r");
      const turns = (await runs.replay("r")).turns;
      ran.length = 0;
      for (let beforeTurn = 1; beforeTurn <= turns; beforeTurn += 1) {
        const id = `f${beforeTurn}`;
        await runs.fork("r", { id, beforeTurn });
        await settled(runs, id, said);
        expect(ran).toEqual([]);
        expect(await told(runs, id)).toEqual(was);
      }
      expect(await runs.show("r")).toEqual(shown);
    }),
    { numRuns },
  );
});

/** The messages before a turn, without those of the system. */
function before(turn: number, { messages }: Transcript): unknown {
  const at = messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : []))[turn - 1];
  return roundTrip(messages.slice(0, at).filter(({ role }) => role !== "system"));
}

it("the fork of a run with other code does nothing, leaves what came before its turn as it was, and is told alike each time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(outer, inner),
      fc.tuple(version, version),
      fc.tuple(outer, fc.nat()),
      async (scripts, [was, is], [other, from]) => {
        const ran: string[] = [];
        const boss = bossOf(was, scripts, { ran });
        const changed = bossOf(is, [[...scripts[0].slice(0, 1), ...other], scripts[1]], {
          ran,
          name: "changed",
        });
        const runs = durableRuns({ store: memoryRuns(), agents: [boss, changed] });
        await runs.start(boss, "Go", { id: "r" });
        await settled(runs, "r", was.said);
        const run = await runs.replay("r");
        const beforeTurn = 1 + (from % run.turns);
        ran.length = 0;
        await runs.fork("r", { id: "f", beforeTurn, agent: changed });
        await settled(runs, "f", is.said);
        expect(ran).toEqual([]);
        const fork = await runs.replay("f");
        expect(before(beforeTurn, fork.transcript)).toEqual(before(beforeTurn, run.transcript));
        expect((await runs.show("f"))?.end?.outcome).toEqual(fork.outcome);
        const code = fork.outcome.type === "failed" ? fork.outcome.code : undefined;
        expect(["journal-mismatch", "journal-longer", "run-broken"]).not.toContain(code);
      },
    ),
    { numRuns },
  );
});
