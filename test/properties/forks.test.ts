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
  does: fc.constantFrom("gives", "is-late", "fails", "fails-at-times"),
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

function toolsOf(agentName: string, { code, ran }: { readonly code: Code; readonly ran: string[] }): Tool[] {
  return names.map((name) => toolOf(name, code[name], { agentName, ran }));
}

function toolOf(
  name: string,
  { schema, effect, does, fails, wrong }: Form,
  { agentName, ran }: { readonly agentName: string; readonly ran: string[] },
): Tool {
  const recover = {
    ...(fails === undefined ? {} : { executionFailed: fails }),
    ...(wrong === undefined ? {} : { invalidArguments: wrong }),
  };
  return tool({
    name,
    description: "",
    inputSchema: schema,
    effect,
    recover,
    async execute({ n }: { n?: number }, { callId }) {
      ran.push(`${effect} ${agentName} ${callId}`);
      const place = Number(callId.at(-1));
      for (let ticks = does === "is-late" ? 6 - place : 0; ticks > 0; ticks -= 1)
        await new Promise(setImmediate); // the later, the quicker
      if (does === "fails" || (does === "fails-at-times" && place % 2 === 1)) throw new Error("broken");
      return `${name} ${n} in ${callId}`;
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
  async ({ messages }: { readonly messages: readonly { readonly role: string }[] }) => {
    await new Promise(setImmediate);
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
    tools: toolsOf("kid", { code: kid, ran }),
    policy: policyOf(kid),
    hooks: hooksOf(kid),
    budget: { repeats: 99 },
  });
  return agent({
    name: called,
    model: playing(script),
    tools: [...toolsOf("boss", { code: boss, ran }), within.asTool()],
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

function countsOf(ran: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const call of ran) counts.set(call, (counts.get(call) ?? 0) + 1);
  return counts;
}

it("a run that is moved from store to store, at any time, does nothing twice, and ends as it would have", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(outer, inner),
      version,
      fc.array(fc.nat(12), { minLength: 1, maxLength: 3 }),
      async (scripts, { said, ...drawn }, moments) => {
        const ran: string[] = [];
        const place = () => {
          const boss = bossOf(drawn, scripts, { ran });
          return { boss, runs: durableRuns({ store: memoryRuns(), agents: [boss] }) };
        };
        const twin = place();
        await twin.runs.start(twin.boss, "Go", { id: "r" });
        await settled(twin.runs, "r", said);
        const expected = await told(twin.runs, "r");
        const once = countsOf(ran);
        ran.length = 0;
        let here = place();
        await here.runs.start(here.boss, "Go", { id: "r" });
        const left: Promise<void>[] = [];
        for (const moment of moments) {
          const ending = settled(here.runs, "r", said);
          ending.catch(() => undefined);
          for (let tick = 0; tick < moment; tick += 1) await new Promise(setImmediate);
          const text = await here.runs.export("r");
          left.push(ending);
          here = place();
          await here.runs.import(text);
        }
        await settled(here.runs, "r", said);
        await Promise.allSettled(left);
        const found = await told(here.runs, "r");
        for (const [call, times] of countsOf(ran))
          if (call.startsWith("irreversible"))
            expect([call, times]).toEqual([call, Math.min(times, once.get(call) ?? 0)]);
        if (!JSON.stringify(found).includes('"unknown"')) expect(found).toEqual(expected);
      },
    ),
    { numRuns },
  );
});
