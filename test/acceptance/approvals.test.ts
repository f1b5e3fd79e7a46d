import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  agent,
  type AgentDefinition,
  allow,
  type Approval,
  type ApprovalRequest,
  type Approve,
  ask,
  guarded,
  memoryJournal,
  type Policy,
  policy,
  type RunOptions,
  tool,
} from "../../src/index.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import {
  type Called,
  calling,
  factsOf,
  ofType,
  resultsIn,
  roundTrip,
  watch,
  type Watched,
} from "./watching.ts";

const transferInput = z.object({ to: z.string(), amount: z.number().positive() });

interface Scene extends Watched {
  /** What reached the tool. */
  readonly done: readonly unknown[];
  readonly asked: readonly ApprovalRequest[];
  readonly requests: readonly ModelRequest[];
}

const small = { to: "DE02 1203 0000 0000 2020 51", amount: 5 };
const transfer = (args: object = small): Called => ["transfer", args as never];

/** Asks about every transfer; more than 1000 is denied. */
const careful: Policy = ({ tool: name, arguments: args }) => {
  if (name !== "transfer") return { verdict: "allow", rule: "rest", reason: "no money leaves" };
  const { amount } = args as { amount: number };
  return amount > 1000
    ? { verdict: "deny", rule: "limit", reason: "more than 1000" }
    : { verdict: "ask", rule: "money", reason: "money leaves" };
};

/** A run that transfers, and what became of it. */
async function run(
  steps: readonly ScriptStep[],
  approve: Approve | undefined,
  about: { definition?: Partial<AgentDefinition<undefined, undefined>>; options?: RunOptions } = {},
): Promise<Scene> {
  const done: unknown[] = [];
  const asked: ApprovalRequest[] = [];
  const pay = tool({
    name: "transfer",
    description: "",
    inputSchema: transferInput,
    effect: "irreversible",
    parameters: { to: { role: "target", type: "iban" }, amount: "amount" },
    execute: (args) => {
      done.push(args);
      return `sent ${args.amount}`;
    },
  });
  const model = scripted(steps);
  const clerk = agent({
    name: "clerk",
    model,
    tools: [pay, fakeTool("look", "seen")],
    policy: careful,
    ...about.definition,
  });
  const asking =
    approve === undefined ? {} : { approve: (call: ApprovalRequest) => (asked.push(call), approve(call)) };
  const watched = await watch(clerk.stream("Pay my debts", { ...asking, ...about.options }));
  return { ...watched, done, asked, requests: model.requests };
}

const statuses = ({ result }: Scene): string[] => resultsIn(result.transcript).map(({ status }) => status);
const texts = ({ result }: Scene): string[] => resultsIn(result.transcript).map(({ text }) => text);

describe("the question", () => {
  it("is data: the concrete arguments with their origin, the rule, the intent and a hash; it survives JSON [Y20]", async () => {
    const to = "DE02120300000000202051";
    const scene = await run([calling("look"), calling(transfer({ to, amount: 7 })), "done"], () => true, {
      definition: { policy: guarded() },
    });
    expect(scene.asked).toEqual([
      {
        agent: "clerk",
        skill: "clerk",
        turn: 2,
        callId: expect.any(String),
        tool: "transfer",
        effect: "irreversible",
        arguments: { to, amount: 7 },
        rule: expect.any(String),
        reason: expect.any(String),
        values: [
          { path: "to", value: to, bound: false, type: "iban" },
          { path: "amount", value: 7, bound: false, type: "number" },
        ],
        label: { integrity: "untrusted", secrecy: "public", sources: ["tool/look"] },
        intent: { text: "Pay my debts", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        links: [],
        show: expect.any(Array),
        inputSchema: expect.objectContaining({ type: "object", required: ["to", "amount"] }),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        path: ["clerk"],
        policy: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(roundTrip(scene.asked)).toEqual(scene.asked);
    const [told] = ofType(scene.events, "approval-request");
    expect(told?.request).toEqual(scene.asked[0]);
    expect(told?.request.intent.hash).toBe(told?.intent);
    expect(scene.done).toHaveLength(1);
  });

  it("its hash is of the tool and its exact arguments: another order of keys is the same, another value is not", async () => {
    const scene = await run(
      [
        calling(
          transfer({ to: "a", amount: 1 }),
          transfer({ amount: 1, to: "a" }),
          transfer({ to: "a", amount: 2 }),
        ),
        "done",
      ],
      () => true,
    );
    const [first, same, other] = scene.asked.map(({ hash }) => hash);
    expect(same).toBe(first);
    expect(other).not.toBe(first);
  });
});

describe("the answer", () => {
  it("once: the same call again is asked again [Y20, H17]", async () => {
    for (const answer of [true, { approved: true }, { approved: true, for: "once" }] as const) {
      const scene = await run([calling(transfer()), calling(transfer()), "done"], () => answer);
      expect(scene.asked).toHaveLength(2);
      expect(scene.done).toEqual([small, small]);
    }
  });

  it("for the run: the same arguments are not asked about again, others are; another run is asked again [H17]", async () => {
    const steps = [
      calling(transfer(), transfer()),
      calling(transfer()),
      calling(transfer({ ...small, amount: 6 })),
      "done",
    ];
    const answer: Approval = { approved: true, for: "run" };
    const scene = await run(steps, () => answer);
    expect(scene.asked.map(({ arguments: args }) => args)).toEqual([small, { ...small, amount: 6 }]);
    expect(scene.done).toHaveLength(4);
    expect(ofType(scene.events, "approval-answer").map((event) => event.for)).toEqual(["run", "run"]);
    expect((await run(steps, () => answer)).asked).toHaveLength(2);
  });

  it("for the run: holds when the run goes on from a checkpoint, and never for what the policy denies", async () => {
    const pay = tool({
      name: "transfer",
      description: "",
      inputSchema: transferInput,
      effect: "irreversible",
      execute: ({ amount }) => amount,
    });
    const steps = [calling(transfer()), calling(transfer()), "done"];
    const clerk = agent({ name: "clerk", model: scripted(steps), tools: [pay], policy: careful });
    const states = [];
    for await (const state of clerk.turns("go", { approve: () => ({ approved: true, for: "run" }) }))
      states.push(roundTrip(state));
    const again = clerk.with({ model: scripted(steps.slice(1)) });
    const resumed = await again.resume(states[0] as (typeof states)[0]); // nobody to ask
    expect(resultsIn(resumed.transcript).map(({ status }) => status)).toEqual(["ok", "ok"]);
    const denying: Policy = () => ({ verdict: "deny", rule: "closed", reason: "closed" });
    const closed = await again
      .with({ policy: denying, model: scripted(steps.slice(1)) })
      .resume(states[0] as (typeof states)[0], { accept: ["policy"] });
    expect(resultsIn(closed.transcript).map(({ status }) => status)).toEqual(["ok", "denied"]);
  });

  it("no, with a reason: the model is told it, the call has its one result, and the run goes on [H17]", async () => {
    const scene = await run([calling(transfer(), "look"), "Understood."], () => ({
      approved: false,
      reason: "not this week",
    }));
    expect(scene.result.text).toBe("Understood.");
    expect(texts(scene)).toEqual(["Tool 'transfer' was denied: not this week", "seen"]);
    expect(ofType(scene.events, "approval-answer")).toMatchObject([
      { approved: false, reason: "not this week" },
    ]);
    expect(ofType(scene.events, "tool-start").map(({ name }) => name)).toEqual(["look"]);
    expect(scene.done).toEqual([]);
  });

  it("other arguments: they run in the place of the model's, and the model, people and the record are told so [Z7]", async () => {
    const edited = { ...small, amount: 3 };
    const journal = memoryJournal();
    const scene = await run(
      [calling(transfer({ ...small, amount: 300 })), "done"],
      () => ({ approved: true, arguments: edited, reason: "less" }),
      { options: { journal } },
    );
    expect(scene.done).toEqual([edited]);
    expect(ofType(scene.events, "approval-answer")).toMatchObject([
      { approved: true, edited, reason: "less" },
    ]);
    expect(ofType(scene.events, "tool-end")).toMatchObject([{ arguments: edited, result: { status: "ok" } }]);
    expect(texts(scene)).toEqual([`(A person changed the arguments to ${JSON.stringify(edited)}.)\nsent 3`]);
    const reply = scene.result.transcript.messages.find(({ role }) => role === "assistant");
    expect(reply).toMatchObject({ parts: [{ arguments: { amount: 300 } }] }); // what the model wrote stays as it was
    expect(journal.records.map(({ json }) => json).join("\n")).toContain(
      `"edited":${JSON.stringify(edited)}`,
    );
  });

  it("other arguments are validated again: what does not match does not run, and the model is told", async () => {
    const scene = await run([calling(transfer()), "done"], () => ({
      approved: true,
      arguments: { to: "x", amount: -1 },
    }));
    expect(statuses(scene)).toEqual(["invalid"]);
    expect(texts(scene)).toEqual([
      "Tool 'transfer' did not run: a person approved it with other arguments, and they do not match its input schema: amount: Too small: expected number to be >0.",
    ]);
    expect(ofType(scene.events, "tool-end")[0]?.result.note).toBe('the person sent: {"to":"x","amount":-1}');
    expect(scene.done).toEqual([]);
    expect(scene.result.text).toBe("done");
  });

  it("other arguments are judged again: what the policy denies stays denied, whoever wrote it", async () => {
    const scene = await run([calling(transfer()), "done"], () => ({
      approved: true,
      arguments: { ...small, amount: 5000 },
    }));
    expect(texts(scene)).toEqual(["Tool 'transfer' was denied: more than 1000"]);
    expect(scene.done).toEqual([]);
    expect(scene.asked).toHaveLength(1);
  });

  it("other arguments do not run where the schema would change them once more: a person is shown what it made", async () => {
    const paid: unknown[] = [];
    const pay = (change: (euro: number) => number) =>
      tool({
        name: "pay",
        description: "",
        inputSchema: z.object({ amount: z.number().transform(change), memo: z.string().trim() }),
        effect: "irreversible",
        execute: (args) => void paid.push(args),
      });
    const asking: Policy = () => ({ verdict: "ask", rule: "money", reason: "money leaves" });
    const approve: Approve = ({ arguments: shown }) => ({
      approved: true,
      arguments: { ...(shown as { amount: number }), memo: "cake" },
    });
    const told = async (change: (euro: number) => number): Promise<string | undefined> => {
      const model = scripted([calling(["pay", { amount: 5, memo: " tea " }]), "done"]);
      const clerk = agent({ name: "clerk", model, tools: [pay(change)], policy: asking });
      return resultsIn((await clerk.run("go", { approve })).transcript)[0]?.status;
    };
    expect(await told((euro) => euro * 100)).toBe("denied");
    expect(await told(Math.round)).toBe("ok");
    expect(paid).toEqual([{ amount: 5, memo: "cake" }]);
  });

  it("other arguments are a yes to themselves alone: the next call is asked about", async () => {
    const answers: Approval[] = [
      { approved: true, for: "run", arguments: { ...small, amount: 3 } },
      { approved: false },
      { approved: false },
    ];
    const scene = await run(
      [calling(transfer()), calling(transfer()), calling(transfer({ ...small, amount: 3 })), "done"],
      () => answers.shift() ?? false,
    );
    expect(scene.asked).toHaveLength(3);
    expect(statuses(scene)).toEqual(["ok", "denied", "denied"]);
  });
});

describe("what is not clearly yes", () => {
  it("nobody to ask means no, at once, and says so [Y20]", async () => {
    const scene = await run([calling(transfer()), "done"], undefined);
    expect(texts(scene)).toEqual([
      "Tool 'transfer' was denied: it needs an approval (money leaves), and there is nobody to ask",
    ]);
    expect(scene.done).toEqual([]);
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const odd: readonly [string, () => unknown][] = [
    ["undefined", () => undefined],
    ["null", () => null],
    ["a text", () => "yes"],
    ["a number", () => 1],
    ["an empty object", () => ({})],
    ["a text in an object", () => ({ approved: "true" })],
    ["a number in an object", () => ({ approved: 1 })],
    ["a list", () => [true]],
    ["a promise of null", () => Promise.resolve(null)],
    ["an error", () => { throw new Error("the terminal is gone"); }], // prettier-ignore
    ["something else that is thrown", () => Promise.reject(undefined)],
    ["a getter that throws", () => ({ get approved(): boolean { throw new Error("no"); } })], // prettier-ignore
    ["arguments that are a list", () => ({ approved: true, arguments: [1] })],
    ["arguments that are a text", () => ({ approved: true, arguments: '{"to":"x"}' })],
    ["arguments that are null", () => ({ approved: true, arguments: null })],
    ["arguments that are a circle", () => ({ approved: true, arguments: circle })],
  ];

  it.each(odd)("%s means no, and the call has exactly one result [Y20, H17]", async (_what, answer) => {
    const scene = await run([calling(transfer(), "look"), "done"], answer as Approve);
    expect(statuses(scene)).toEqual(["denied", "ok"]);
    expect(scene.done).toEqual([]);
    expect(scene.result.text).toBe("done");
    expect(ofType(scene.events, "approval-answer")).toMatchObject([{ approved: false }]);
    expect(ofType(scene.events, "tool-end")).toHaveLength(2);
  });

  it.each([undefined, null])("says that an answer of %s is none, in words of people", async (answer) => {
    const scene = await run([calling(transfer()), "done"], (() => answer) as never);
    expect(texts(scene)).toEqual(["Tool 'transfer' was denied: the answer was nothing at all"]);
  });

  it("what the question holds cannot be changed by whoever answers it", async () => {
    const scene = await run([calling(transfer()), "done"], (call) => {
      try {
        (call.arguments as { amount: number }).amount = 999;
      } catch {
        // frozen is as good
      }
      return true;
    });
    expect(scene.done).toEqual([small]);
  });
});

describe("a replay", () => {
  it("asks nobody, and ends as the run did: yes, no, for the run, and with other arguments", async () => {
    const steps = [calling(transfer(), transfer()), calling(transfer({ ...small, amount: 6 })), "done"];
    const answers: readonly Approval[] = [
      { approved: true },
      { approved: true, for: "run" },
      { approved: false, reason: "no" },
      { approved: true, arguments: { ...small, amount: 2 } },
    ];
    for (const answer of answers) {
      const journal = memoryJournal();
      const first = await run(steps, () => answer, { options: { journal, runId: "r" } });
      const again = await run(
        [new Error("asked again")],
        () => {
          throw new Error("asked again");
        },
        { options: { journal: memoryJournal(journal.records), runId: "r" } },
      );
      expect(again.asked).toEqual([]);
      expect(again.done).toEqual([]);
      expect(factsOf(again.events)).toEqual(factsOf(first.events));
      expect(roundTrip(again.result.transcript)).toEqual(roundTrip(first.result.transcript));
    }
  });
});

it("lets the calls that only look, and that no change comes before, run while a person is asked", async () => {
  const log: string[] = [];
  const noting = (name: string, effect: "read" | "irreversible") =>
    tool({
      name,
      description: "",
      inputSchema: z.object({}),
      effect,
      execute: () => log.push(`ran ${name}`),
    });
  const clerk = agent({
    name: "clerk",
    model: scripted([calling(["look", {}], ["pay", {}], ["read", {}]), "done"]),
    tools: [noting("look", "read"), noting("pay", "irreversible"), noting("read", "read")],
    policy: policy({ name: "p", rules: [allow("look", "read"), ask("pay")] }),
  });
  const approve: Approve = ({ tool: name }) => log.push(`asked ${name}`) > 0;
  for await (const _ of clerk.stream("Pay what I owe", { approve }));
  expect(log).toEqual(["ran look", "asked pay", "ran pay", "ran read"]);
});

describe("runs inside runs", () => {
  it("are asked about through the outer run, with the intent of that", async () => {
    const asked: ApprovalRequest[] = [];
    const inner = agent({
      name: "inner",
      description: "",
      model: scripted([calling(transfer()), "done"]),
      tools: [
        tool({
          name: "transfer",
          description: "",
          inputSchema: transferInput,
          execute: ({ amount }) => amount,
        }),
      ],
      policy: careful,
    });
    const outer = agent({
      name: "outer",
      model: scripted([calling(["inner", { input: "Pay." }]), "done"]),
      tools: [inner.asTool()],
    });
    await outer.run("Pay my debts", { approve: (call) => (asked.push(call), false) });
    expect(asked).toMatchObject([{ agent: "inner", tool: "transfer", intent: { text: "Pay my debts" } }]);
  });
});
