import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bestOf, majorityVote, type Selection, weighted } from "../../src/agent/compose/aggregate.ts";
import { branch } from "../../src/agent/compose/branch.ts";
import type { Composite } from "../../src/agent/compose/composite.ts";
import { forum } from "../../src/agent/compose/forum.ts";
import { parallel } from "../../src/agent/compose/parallel.ts";
import { pipe } from "../../src/agent/compose/pipe.ts";
import { race } from "../../src/agent/compose/race.ts";
import { repeat } from "../../src/agent/compose/repeat.ts";
import { wrap } from "../../src/agent/compose/wrap.ts";
import { agent, type Agent, type AgentEvent, type RunResult, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/models.ts";
import { fakeTool, type FakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { calling, ofType, watch } from "./watching.ts";

type TextAgent = Agent<string | JsonObject, string>;

/** An agent that says one thing after another. */
const says = (name: string, ...steps: readonly ScriptStep[]): TextAgent =>
  agent({ name, model: scripted(steps) });

/** An agent that answers with what it was given, after its name. */
const echo = (name: string): TextAgent =>
  agent({ name, model: (request) => `${name}(${lastText(request)})` });

function lastText({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last?.role === "user"
    ? last.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    : "";
}

/** A tool that never ends, and the signals that its calls were given. */
function hanging(): { readonly tool: FakeTool; readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const made = fakeTool("hang", (_args: unknown, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  return { tool: made, signals };
}

const hangs = (name: string, { tool: hang }: { readonly tool: FakeTool }): TextAgent =>
  agent({ name, model: scripted([calling("hang"), "late"]), tools: [hang] });

/** Runs out of its turns. */
const exhausted = (name: string): TextAgent =>
  agent({ name, model: scripted([calling("look")]), tools: [fakeTool("look", 1)], budget: { turns: 1 } });

/** Who ran inside the outermost run, in the order in which that is told, and how it ended. */
const endsOf = (events: readonly AgentEvent[]): string[] =>
  ofType(events, "delegation-end")
    .filter(({ runId }) => runId === events[0]?.runId)
    .map(({ callId, delegation }) => `${callId} ${delegation.agent} ${delegation.outcome}`);

describe("a pipe", () => {
  it("gives each agent what the one before it gave, texts as they are and objects as JSON [COMP-pipe]", async () => {
    const weather = z.object({ city: z.string(), rain: z.boolean() });
    const find = agent({ name: "find", model: () => '{"city":"Lima","rain":false}', output: weather });
    const judge = agent({
      name: "judge",
      input: weather,
      output: z.number(),
      model: (request) => (lastText(request) === '{"city":"Lima","rain":false}' ? "7" : "0"),
    });
    const { events, result } = await watch(pipe(echo("ask"), find, judge).stream("Lima?"));
    expect(result).toMatchObject({ output: 7, text: "7", outcome: { type: "answered", content: 7 } });
    expect(endsOf(events)).toEqual(["0 ask answered", "1 find answered", "2 judge answered"]);
    expect(await pipe(echo("a"), echo("b"), echo("c"))("x")).toBe("c(b(a(x)))");
    expect(result.transcript.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("ends with the agent that does not answer, and names it", async () => {
    const after = fakeTool("after", 1);
    const last = agent({ name: "last", model: scripted([calling("after"), "x"]), tools: [after] });
    const result = await pipe(says("first", "1"), exhausted("second"), last).run("go");
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns", limit: 1 });
    expect(result.error).toMatchObject({
      code: "stage-failed",
      data: { name: "pipe(first, second, last)", stage: "second", place: "1" },
      cause: { code: "budget-exhausted" },
    });
    expect(after.calls).toEqual([]);
  });
});

describe("agents in parallel", () => {
  it("get the same input at the same time, and give a list in their order, or an object by names [COMP-parallel]", async () => {
    const order: string[] = [];
    let meet: () => void = () => undefined;
    const met = new Promise<void>((resolve) => (meet = resolve));
    const slow = agent({
      name: "slow",
      model: async (request) => (
        order.push("slow begins"),
        await met,
        order.push("slow ends"),
        lastText(request)
      ),
    });
    const fast = agent({
      name: "fast",
      model: (request) => (order.push("fast"), meet(), lastText(request).toUpperCase()),
    });
    const { events, result } = await watch(parallel([slow, fast]).stream("same"));
    expect(result.output).toEqual(["same", "SAME"]);
    expect(order).toEqual(["slow begins", "fast", "slow ends"]);
    expect(endsOf(events)).toEqual(["0 slow answered", "1 fast answered"]);
    expect(await parallel({ left: slow, right: fast })("x")).toEqual({ left: "x", right: "X" });
    expect(() => parallel([fast, fast])).toThrow('Two agents are called "fast" in parallel()');
  });

  it("fail as a whole when one fails, and the others are cancelled", async () => {
    const hang = hanging();
    const composition = parallel([hangs("waits", hang), exhausted("fails"), hangs("waits-too", hang)]);
    const { events, result } = await watch(composition.stream("go"));
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns" });
    expect(result.error).toMatchObject({ code: "stage-failed", data: { stage: "fails" } });
    expect(endsOf(events)).toEqual(["0 waits cancelled", "1 fails exhausted", "2 waits-too cancelled"]);
    expect(hang.signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it("are aggregated: most votes, best score, weighed votes; ties go to the first in order [COMP-aggregate]", async () => {
    const voting = (...answers: readonly string[]): Record<string, TextAgent> =>
      Object.fromEntries(answers.map((answer, index) => [`v${index}`, says("v", answer)]));
    const ask = (answers: readonly string[], aggregate: Selection<string>): Promise<string> =>
      parallel(voting(...answers), { aggregate })("?");
    expect(await ask(["4", "5", "5"], majorityVote())).toBe("5");
    expect(await ask(["4", "5", "5", "4"], majorityVote())).toBe("4");
    expect(await ask(["Yes.", "no", "yes"], majorityVote({ by: (text) => /yes/i.test(text) }))).toBe("Yes.");
    expect(
      await ask(
        ["bb", "a", "cc"],
        bestOf((text) => text.length),
      ),
    ).toBe("bb");
    expect(
      await ask(
        ["a", "b", "c"],
        bestOf(() => Number.NaN),
      ),
    ).toBe("a");
    expect(await ask(["a", "b", "b"], weighted({ v0: 3, v1: 1, v2: 1 }))).toBe("a");
    expect(await ask(["a", "b", "b"], weighted({ v0: 2, v1: 1, v2: 1 }))).toBe("a");
    expect(await ask(["a", "b", "b"], weighted({ v0: 2, v1: 2, v2: 1 }))).toBe("b");
    expect(() => parallel(voting("a", "b"), { aggregate: weighted({ v0: 1 }) })).toThrow(
      'nothing of the agent "v1"',
    );
    expect(() => parallel(voting("a"), { aggregate: weighted({ v0: 1, x: 1 }) })).toThrow(
      'speaks of an agent "x"',
    );
    const objects = { a: says("a", '{"x":1,"y":2}'), b: says("b", '{"y":2,"x":1}'), c: says("c", '{"x":9}') };
    const read = { by: (text: string) => JSON.parse(text) as unknown };
    expect(await parallel(objects, { aggregate: majorityVote(read) })("?")).toBe('{"x":1,"y":2}');
    const lengths = parallel(voting("a", "bbb"), { aggregate: (texts) => texts.map(({ length }) => length) });
    expect(await lengths("?")).toEqual([1, 3]);
  });

  it.each<[string, Selection<string> | (() => unknown), string]>([
    ["a Map", () => new Map([["a", 1]]), "it has a Map"],
    ["a function", () => () => 1, "it is a function"],
    ["a promise inside", () => ({ later: Promise.resolve(1) }), "promise"],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a program without types can write it
    ["a score that comes later", bestOf((async () => 1) as unknown as () => number), "promise"],
  ])("are not aggregated to %s, of which an answer would show nothing", async (_what, aggregate, told) => {
    const both = { a: says("a", "x"), b: says("b", "y") };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both kinds are taken
    const { outcome } = await parallel(both, { aggregate: aggregate as () => unknown }).run("?");
    expect(outcome).toMatchObject({
      type: "failed",
      code: "function-failed",
      message: expect.stringContaining(told),
    });
  });
});

describe("a race", () => {
  it("is won by the first answer; a failure does not settle it, losers are cancelled, and all failing is the last failure [COMP-race]", async () => {
    const hang = hanging();
    const afterTheFailure = new Promise<string>((resolve) => setImmediate(resolve, "first"));
    const wins = agent({ name: "wins", model: () => afterTheFailure });
    const racing = race([exhausted("fails"), hangs("waits", hang), wins]);
    const { events, result } = await watch(racing.stream("go"));
    expect(result.output).toBe("first");
    expect(endsOf(events)).toEqual(["0 fails exhausted", "1 waits cancelled", "2 wins answered"]);
    const ended = ofType(events, "run-end").find(({ outcome }) => outcome.type === "cancelled");
    expect(ended?.outcome).toEqual({ type: "cancelled", reason: '"wins" answered first' });
    expect(hang.signals.map(({ aborted }) => aborted)).toEqual([true]);

    const broken = agent({ name: "broken", model: () => Promise.reject(new Error("no line")) });
    expect(await race([broken, says("b", "fine")])("go")).toBe("fine");
    const inTurn = race(
      { first: broken, second: says("b", "fine"), third: says("c", "late") },
      { concurrency: 1 },
    );
    const { events: turns, result: second } = await watch(inTurn.stream("go"));
    expect(second.output).toBe("fine");
    expect(endsOf(turns)).toEqual(["0 broken failed", "1 b answered"]);
    let fail: () => void = () => undefined;
    const failing = new Promise<void>((resolve) => (fail = resolve));
    const late = agent({
      name: "late",
      model: scripted([async () => (await failing, calling("look"))]),
      tools: [fakeTool("look", 1)],
      budget: { turns: 1 },
    });
    const soon = agent({ name: "soon", model: () => (fail(), Promise.reject(new Error("no line"))) });
    const lost = await race([late, soon]).run("go");
    expect(lost).toMatchObject({
      outcome: { type: "exhausted" },
      error: { data: { stage: "late", place: "0" } },
    });
  });
});

describe("a branch", () => {
  const kinds = z.enum(["bug", "question"]);

  it("gives the input to the case of a value, from an agent or a function; cases are checked to be complete [COMP-branch]", async () => {
    const classify = (answer: string): Agent<string | JsonObject, "bug" | "question"> =>
      agent({ name: "classify", model: () => JSON.stringify(answer), output: kinds });
    const cases = { bug: echo("repair"), question: echo("explain") };
    expect(await branch({ on: classify("bug"), cases })("It crashes")).toBe("repair(It crashes)");
    expect(await branch({ on: classify("question"), cases })("How?")).toBe("explain(How?)");
    const { result } = await watch(
      branch({
        on: (text: string) => text.length > 3,
        cases: { true: echo("long"), false: echo("short") },
      }).stream("abcd"),
    );
    expect(result.output).toBe("long(abcd)");

    const loose =
      (names: readonly string[], otherwise?: TextAgent): (() => unknown) =>
      () =>
        branch({
          on: classify("bug") as Agent<string, string>,
          cases: Object.fromEntries(names.map((name) => [name, echo(name)])),
          ...(otherwise === undefined ? {} : { otherwise }),
        } as never);
    expect(loose(["bug"])).toThrow('the agent "classify" can also say question, which has no case');
    expect(loose(["bug", "question", "praise"])).toThrow("there is a case praise, which the agent");
    expect(loose(["bug"], echo("rest"))).not.toThrow();

    const open = branch({ on: (text: string): string => text, cases: { a: echo("a") } });
    expect(await open.run("constructor")).toMatchObject({
      outcome: { type: "failed", code: "case-missing" },
      error: { message: 'The branch "branch(a)" has no case for "constructor". It has: a.' },
    });
    const rest = branch({
      on: (text: string): string => text,
      cases: { a: echo("a") },
      otherwise: echo("rest"),
    });
    expect(await rest("b")).toBe("rest(b)");
    expect(await rest("otherwise")).toBe("rest(otherwise)");
  });

  it("hands over: it is told who took over, and nothing of what was said before comes along [COMP-handoff]", async () => {
    const triage = agent({
      name: "triage",
      instructions: "The password is swordfish.",
      model: scripted([calling("look"), '"bug"']),
      tools: [fakeTool("look", "a secret")],
      output: kinds,
    });
    const model = scripted(["mended"]);
    const repair = agent({ name: "repair", instructions: "Repair.", model });
    const { events, result } = await watch(
      branch({ on: triage, cases: { bug: repair, question: echo("explain") } }).stream("It crashes"),
    );
    expect(result.output).toBe("mended");
    expect(
      ofType(events, "delegation-end").map(({ delegation: { agent: name, runId } }) => [name, runId]),
    ).toEqual([
      ["triage", expect.stringContaining(`${result.runId}/0/triage~`)],
      ["repair", expect.stringContaining(`${result.runId}/1/repair~`)],
    ]);
    expect(model.requests[0]?.messages).toEqual([
      { role: "system", text: "Repair." },
      {
        role: "user",
        parts: [{ type: "text", text: "It crashes" }],
        // What chose it had read a result, and that label comes along.
        label: {
          integrity: "untrusted",
          secrecy: "public",
          sources: ["agent/branch(bug, question)", "tool/look"],
        },
      },
    ]);
  });
});

describe("a repetition", () => {
  it("goes on until the output is good, with feedback or without, and has a bound [COMP-repeat]", async () => {
    const refine = repeat(echo("r"), { until: (text) => text.length > 8 });
    expect(await refine("x")).toBe("r(r(r(x)))");

    const judge = agent({
      name: "judge",
      model: (request) => (lastText(request).includes("again") ? "good" : "bad"),
    });
    const write = agent({ name: "write", model: (request) => `draft of ${lastText(request)}` });
    const polished = repeat(write, {
      until: async (draft, round) => (await judge(draft, round)) === "good",
      next: (draft, { round }) => `${draft} again ${round}`,
      max: 3,
    });
    const { events, result } = await watch(polished.stream("a poem"));
    expect(result.output).toBe("draft of draft of a poem again 1");
    expect(endsOf(events)).toEqual([
      "0/1 write answered",
      "until/1 judge answered",
      "0/2 write answered",
      "until/2 judge answered",
    ]);

    const endless = repeat(echo("r"), { until: () => false, max: 2 });
    const over = await endless.run("x");
    expect(over.outcome).toMatchObject({ type: "failed", code: "rounds-used-up" });
    await expect(endless("x")).rejects.toThrow('"repeat(r)" was not done after 2 rounds.');
    expect(await repeat(echo("r"), { until: () => false, next: () => undefined })("x")).toBe("r(x)");
    const five = await watch(repeat(echo("r"), { until: () => false }).stream("x"));
    expect(endsOf(five.events)).toHaveLength(5);
  });
});

describe("a forum", () => {
  it("lets participants speak at the same time, round by round, and the captain decides on all that was said [COMP-forum]", async () => {
    const seen: string[] = [];
    const speaks = (name: string): TextAgent =>
      agent({ name, model: (request) => (seen.push(`${name} ${lastText(request)}`), `${name} speaks`) });
    const captain = agent({ name: "captain", model: (request) => (seen.push(lastText(request)), "decided") });
    const council = forum({ participants: [speaks("a"), speaks("b")], captain, rounds: 2 });
    const { events, result } = await watch(council.stream("Shall we?"));
    expect(result.output).toBe("decided");
    const first = ["a", "b"].map((from) => ({ round: 1, from, said: `${from} speaks` }));
    const second = ["a", "b"].map((from) => ({ round: 2, from, said: `${from} speaks` }));
    const question = "Shall we?";
    expect(seen).toEqual([
      "a Shall we?",
      "b Shall we?",
      `a ${JSON.stringify({ question, statements: first })}`,
      `b ${JSON.stringify({ question, statements: first })}`,
      JSON.stringify({ question, statements: [...first, ...second] }),
    ]);
    expect(endsOf(events)).toEqual([
      "0/1 a answered",
      "1/1 b answered",
      "0/2 a answered",
      "1/2 b answered",
      "2 captain answered",
    ]);
    expect(() => forum({ participants: [echo("a"), echo("a")], captain })).toThrow('called "a" in forum()');
  });

  it("can have plain code for a captain: a quorum over what was said", async () => {
    const { skill } = await import("../../src/index.ts");
    const quorum = agent({
      name: "quorum",
      skills: [
        skill({
          name: "count",
          description: "",
          execute: (discussion) =>
            (discussion as { statements: { said: string }[] }).statements.filter(({ said }) => said === "yes")
              .length >= 2,
        }),
      ],
      output: z.boolean(),
    });
    const participants = [says("a", "yes"), says("b", "no"), says("c", "yes")] as const;
    expect(await forum({ participants, captain: quorum })("?")).toBe(true);
  });
});

describe("a teacher", () => {
  it("instructs a student for one run, and many runs at the same time do not mix [K9]", async () => {
    const systems: string[] = [];
    const teacher = agent({
      name: "teacher",
      model: async (request) => {
        await new Promise((resolve) => setTimeout(resolve, Number(lastText(request)) % 3));
        return `Hint for ${lastText(request)}.`;
      },
    });
    const student = agent({
      name: "student",
      instructions: "You learn.",
      model: async (request) => {
        const system = request.messages[0];
        await new Promise((resolve) => setTimeout(resolve, 1));
        systems.push(system?.role === "system" ? system.text : "none");
        return `${lastText(request)}: ${system?.role === "system" ? system.text : ""}`;
      },
    });
    const taught = wrap(teacher, student);
    const inputs = Array.from({ length: 12 }, (_, index) => String(index));
    const answers = await Promise.all(inputs.map((input) => taught(input)));
    expect(answers).toEqual(inputs.map((input) => `${input}: You learn.\n\nHint for ${input}.`));
    expect(await student("alone")).toBe("alone: You learn.");
    expect(systems).toHaveLength(13);
  });
});

/** One composition of each kind, with agents that hang in their tools in the places where several run, or one. */
const everyKind = (one: (name: string) => TextAgent): Record<string, Composite<string>> => ({
  pipe: pipe(says("before", "x"), one("one")),
  parallel: parallel([one("one"), one("two")]),
  race: race([one("one"), one("two")]),
  branch: branch({ on: (): boolean => true, cases: { true: one("one"), false: one("two") } }),
  repeat: repeat(one("one"), { until: () => true }),
  forum: forum({ participants: [one("one"), one("two")], captain: says("captain", "x") }),
  wrap: wrap(one("one"), says("student", "x")),
  nested: pipe(parallel([one("one"), one("two")], { aggregate: majorityVote() }), says("after", "x")),
});

describe("every composition", () => {
  it("streams the events of all runs in it, and tells of its stages [COMP-stream]", async () => {
    for (const [kind, composition] of Object.entries(everyKind((name) => says(name, "said")))) {
      const { events, result } = await watch(composition.stream("go"));
      expect(result.outcome.type, kind).toBe("answered");
      const [first] = events;
      expect(first, kind).toMatchObject({ type: "run-start", runId: result.runId, input: "go" });
      const ends = ofType(events, "delegation-end").filter(({ runId }) => runId === result.runId);
      expect(ends.length, kind).toBeGreaterThan(0);
      for (const { delegation } of ends) {
        const inner = events.filter(({ runId }) => runId === delegation.runId);
        expect(inner.at(0), kind).toMatchObject({ type: "run-start", parentRunId: result.runId });
        expect(inner.at(-1), kind).toMatchObject({ type: "run-end", outcome: { type: delegation.outcome } });
        const { usage } = inner.at(-1) as Extract<AgentEvent, { type: "run-end" }>;
        expect(delegation.usage, kind).toEqual(usage);
      }
      expect(ofType(events, "delegation-start").length, kind).toBeGreaterThanOrEqual(ends.length);
      const sum = ends.reduce((total, { delegation: { usage } }) => total + usage.inputTokens, 0);
      expect(result.usage.inputTokens, kind).toBe(sum);
    }
  });

  it("ends all runs in it when it is cancelled, and when nobody reads its stream any more [COMP-stream]", async () => {
    for (const how of ["signal", "left"] as const) {
      const hang = hanging();
      for (const [kind, composition] of Object.entries(everyKind((name) => hangs(name, hang)))) {
        hang.signals.length = 0;
        const controller = new AbortController();
        const stream = composition.stream("go", { signal: controller.signal });
        const events: AgentEvent[] = [];
        let result: RunResult<unknown> | undefined;
        const wanted = ["parallel", "race", "forum", "nested"].includes(kind) ? 2 : 1;
        for (;;) {
          const next = await stream.next();
          if (next.done === true) {
            result = next.value;
            break;
          }
          events.push(next.value);
          if (ofType(events, "tool-start").length < wanted || controller.signal.aborted) continue;
          if (how === "signal") controller.abort(new Error("enough"));
          else {
            await stream.return(undefined as never);
            break;
          }
        }
        await expect
          .poll(() => hang.signals.map(({ aborted }) => aborted), { message: kind })
          .toEqual(Array.from({ length: wanted }, () => true));
        if (how === "left") continue;
        expect(result?.outcome, kind).toEqual({ type: "cancelled", reason: "enough" });
        expect(result?.error, kind).toMatchObject({ code: "run-cancelled" });
        const open = new Map<string, string>();
        for (const event of events) {
          if (event.type === "run-start") open.set(event.runId, "open");
          if (event.type === "run-end") open.set(event.runId, event.outcome.type);
        }
        expect(
          [...open.values()].filter((outcome) => outcome !== "answered"),
          kind,
        ).toEqual(Array.from({ length: kind === "nested" ? 4 : wanted + 1 }, () => "cancelled"));
      }
    }
  });
});

describe("a composition in a tool", () => {
  it("shares the bounds of the run around it, and a budget that runs out inside comes to no handler [T12]", async () => {
    const asked: unknown[] = [];
    const team = pipe(says("plan", "a plan"), exhausted("work"));
    const delegate = tool({
      name: "delegate",
      description: "Gives work to a team",
      inputSchema: z.object({ task: z.string() }),
      execute: ({ task }, { run }) => team(task, { parent: run }),
      recover: { executionFailed: (error) => (asked.push(error), undefined) },
    });
    const lead = agent({
      name: "lead",
      model: scripted([calling(["delegate", { task: "t" }]), "x"]),
      tools: [delegate],
    });
    const { events, result } = await watch(lead.stream("go"));
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns", limit: 1 });
    expect(asked).toEqual([]);
    expect(
      ofType(events, "delegation-end").map(({ delegation: { agent: name, depth } }) => [name, depth]),
    ).toEqual([
      ["plan", 2],
      ["work", 2],
      ["pipe(plan, work)", 1],
    ]);
  });
});
