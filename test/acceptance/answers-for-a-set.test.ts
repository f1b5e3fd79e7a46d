import { describe, expect, it } from "vitest";
import { z } from "zod";
import { durableRuns } from "../../src/durable.ts";
import {
  agent,
  type AgentDefinition,
  type ApprovalRequest,
  type Approve,
  ask,
  deny,
  memoryJournal,
  type Policy,
  policy,
  type RunOptions,
  tool,
} from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { storesIn } from "./durable-place.ts";
import { type Called, calling, ofType, resultsIn, watch, type Watched } from "./watching.ts";

const asking = policy({ name: "set", rules: [deny("drop"), ask("send", "pay")] });
const asks: Policy = () => ({ verdict: "ask", rule: "all", reason: "asks" });

interface Scene extends Watched {
  /** What was sent and paid. */
  readonly done: readonly string[];
  /** The tools of each question: first the one that is asked about. */
  readonly asked: readonly (readonly string[])[];
}

/** A run of one reply, or of several, that asks about mails and money. */
async function run(
  replies: readonly (readonly Called[])[],
  approve: Approve,
  about: { definition?: Partial<AgentDefinition<undefined, undefined>>; options?: RunOptions } = {},
): Promise<Scene> {
  const done: string[] = [];
  const asked: string[][] = [];
  const made = (name: string) =>
    tool({
      name,
      description: "",
      inputSchema: z.object({ to: z.string() }),
      effect: "irreversible",
      execute: ({ to }) => `${name} ${String(done.push(`${name} ${to}`))}`,
    });
  const clerk = agent({
    name: "clerk",
    // of the turn that is asked about, so that a run can go on in another process
    model: ({ messages }) => {
      const turn = messages.filter(({ role }) => role === "assistant").length;
      const calls = replies[turn];
      return calls === undefined ? "Done." : calling(...calls);
    },
    tools: [made("send"), made("pay"), made("drop"), fakeTool("look", "seen")],
    policy: asking,
    ...about.definition,
  });
  const watched = await watch(
    clerk.stream("Go", {
      approve: (call, others = []) => {
        asked.push([call, ...others].map(({ tool: name, arguments: args }) => `${name} ${toOf(args)}`));
        return approve(call, others);
      },
      ...about.options,
    }),
  );
  return { ...watched, done, asked };
}

const toOf = (args: unknown): string => (args as { to: string }).to;
const to = (name: string, whom: unknown): Called => [name, { to: whom } as never];
const hashes = (others: readonly ApprovalRequest[] = []): string[] => others.map(({ hash }) => hash);
const yesToAll: Approve = (_call, others) => ({ approved: true, also: hashes(others) });
const statuses = ({ result }: Scene): string[] => resultsIn(result.transcript).map(({ status }) => status);

describe("a question about one call of a reply", () => {
  it("shows the questions of those behind it, of several tools, and nothing that is not asked about", async () => {
    const calls = [to("send", "ada"), ["look"], to("drop", "x"), ["send"], to("pay", "bob")] as const;
    const scene = await run([calls as never], () => true);
    expect(scene.asked).toEqual([["send ada", "pay bob"], ["pay bob"]]);
    expect(scene.done).toEqual(["send ada", "pay bob"]);
  });

  it("shows each as it is asked about in its turn", async () => {
    const seen: ApprovalRequest[][] = [];
    await run([[to("send", "ada"), to("pay", "bob"), to("send", "cleo")]], (call, others = []) => {
      seen.push([call, ...others]);
      return true;
    });
    const [[, ...ahead] = [], second, third] = seen;
    expect(ahead).toEqual([second?.[0], third?.[0]]);
  });

  it("does not wait for a call whose arguments are checked asynchronously: that is asked about by itself", async () => {
    let check: (() => void) | undefined;
    const slow = tool({
      name: "pay",
      description: "",
      inputSchema: z.object({
        to: z.string().refine(() => new Promise<boolean>((end) => (check = () => end(true)))),
      }),
      effect: "irreversible",
      execute: () => "paid",
    });
    const send = fakeTool("send", "sent");
    const asked: number[] = [];
    const clerk = agent({
      name: "clerk",
      model: scripted([calling(to("send", "ada"), to("pay", "bob")), "Done."]),
      tools: [send, slow],
      policy: asks,
    });
    const running = clerk.run("Go", { approve: (_call, others = []) => asked.push(others.length) > 0 });
    await expect.poll(() => asked).toEqual([0]);
    await expect.poll(() => check).toBeDefined();
    const settle = setInterval(() => check?.(), 5);
    const { outcome } = await running;
    clearInterval(settle);
    expect([outcome.type, asked]).toEqual(["answered", [0, 0]]);
  });
});

describe("an answer for a set", () => {
  it("is an answer for each of its calls, told as one", async () => {
    const scene = await run([[to("send", "ada"), to("pay", "bob"), to("send", "cleo")]], yesToAll);
    expect(scene.asked).toHaveLength(1);
    expect(scene.done).toEqual(["send ada", "pay bob", "send cleo"]);
    const questions = ofType(scene.events, "approval-request").map(({ request }) => request.hash);
    expect(new Set(questions).size).toBe(3);
    expect(ofType(scene.events, "approval-answer").map(({ approved, callId }) => [approved, callId])).toEqual(
      ofType(scene.events, "approval-request").map(({ callId }) => [true, callId]),
    );
  });

  it("is a no for each too, with its reason", async () => {
    const scene = await run([[to("send", "ada"), to("pay", "bob")]], (_call, others) => ({
      approved: false,
      reason: "not today",
      also: hashes(others),
    }));
    expect([scene.asked.length, scene.done]).toEqual([1, []]);
    expect(resultsIn(scene.result.transcript).map(({ text }) => text)).toEqual([
      "Tool 'send' was denied: not today",
      "Tool 'pay' was denied: not today",
    ]);
  });

  it("leaves out what it does not name: that is asked about", async () => {
    const scene = await run(
      [[to("send", "ada"), to("pay", "bob"), to("send", "cleo")]],
      (call, others = []) =>
        call.tool === "pay"
          ? false
          : { approved: true, also: hashes(others.filter(({ tool: name }) => name === "send")) },
    );
    expect(scene.asked).toEqual([["send ada", "pay bob", "send cleo"], ["pay bob"]]);
    expect(scene.done).toEqual(["send ada", "send cleo"]);
  });

  it("counts once for each call that was shown: the same call twice wants two", async () => {
    const calls = [to("send", "ada"), to("send", "ada"), to("send", "ada")];
    const one: Approve = (_call, others) => ({ approved: true, also: hashes(others).slice(0, 1) });
    expect((await run([calls], one)).asked).toEqual([["send ada", "send ada", "send ada"], ["send ada"]]);
    expect((await run([calls], yesToAll)).asked).toHaveLength(1);
  });

  it("counts for no later reply", async () => {
    const calls = [to("send", "ada"), to("pay", "bob")];
    const scene = await run([calls, [...calls].toReversed()], yesToAll);
    expect(scene.asked).toEqual([
      ["send ada", "pay bob"],
      ["pay bob", "send ada"],
    ]);
  });

  const wrong: readonly (readonly [what: string, also: (shown: readonly string[]) => unknown])[] = [
    ["has a hash that was not shown", () => ["f".repeat(64)]],
    ["has one twice that was shown once", ([first]) => [first, first]],
    ["is no list", () => "all"],
    ["has something that is no text", () => [undefined]],
  ];
  it.each(wrong)("is a no where its `also` %s", async (_what, also) => {
    const scene = await run([[to("send", "ada"), to("pay", "bob")]], (call, others) =>
      call.tool === "send" ? { approved: true, also: also(hashes(others)) as never } : false,
    );
    expect(scene.asked).toHaveLength(2);
    expect(scene.done).toEqual([]);
    expect(resultsIn(scene.result.transcript)[0]?.text).toContain("`also` of the answer");
  });

  it("is for the arguments that were shown: a call that a hook changes is asked about again", async () => {
    const scene = await run([[to("send", "ada"), to("pay", "bob"), to("pay", "cleo")]], yesToAll, {
      definition: {
        hooks: [
          {
            beforeToolCall: ({ arguments: args }) =>
              toOf(args) === "bob" ? { arguments: { to: "eve" } } : {},
          },
        ],
      },
    });
    expect(scene.asked).toEqual([["send ada", "pay bob", "pay cleo"], ["pay eve"]]);
    expect(scene.done).toEqual(["send ada", "pay eve", "pay cleo"]);
  });

  it("changes the arguments of the first alone", async () => {
    const scene = await run([[to("send", "ada"), to("pay", "bob")]], (_call, others) => ({
      approved: true,
      arguments: { to: "dora" },
      also: hashes(others),
    }));
    expect([scene.asked.length, scene.done]).toEqual([1, ["send dora", "pay bob"]]);
  });

  it("allows nothing that the policy denies by its turn", async () => {
    let isClosed = false;
    const scene = await run(
      [[to("send", "ada"), to("pay", "bob")]],
      (_call, others) => {
        isClosed = true;
        return { approved: true, also: hashes(others) };
      },
      {
        definition: {
          policy: ({ tool: name }) =>
            isClosed && name === "pay"
              ? { verdict: "deny", rule: "closed", reason: "closed" }
              : { verdict: "ask", rule: "open", reason: "asks" },
        },
      },
    );
    expect([statuses(scene), scene.done]).toEqual([["ok", "denied"], ["send ada"]]);
  });

  it("ends with the first no where a refused call ends its batch", async () => {
    const scene = await run(
      [[to("send", "ada"), to("pay", "bob")]],
      (_call, others) => ({ approved: false, also: hashes(others) }),
      {
        definition: { endOn: ["blocked-call"] },
      },
    );
    expect(ofType(scene.events, "approval-answer")).toHaveLength(1);
    expect(scene.done).toEqual([]);
  });

  it("is kept for each call under its own key, and a replay asks nobody", async () => {
    const journal = memoryJournal();
    const calls = [to("send", "ada"), to("pay", "bob")];
    const first = await run([calls], yesToAll, { options: { journal } });
    const keys = ["turn/1/approval/0", "turn/1/approval/1"].map((key) => journal.find?.(key));
    const [one, two] = ofType(first.events, "approval-request").map(({ request }) => request.hash);
    expect(keys).toMatchObject([{ approved: true, also: [{ index: 1, hash: two }] }, { approved: true }]);
    expect(one).not.toBe(two);
    const again = await run([calls], () => false, { options: { journal } });
    expect([again.asked, again.done]).toEqual([[], []]);
    expect(statuses(again)).toEqual(["ok", "ok"]);
  });

  it("is found again by a process that goes on after the first of its answers was kept", async () => {
    const calls = [to("send", "ada"), to("pay", "bob")];
    const whole = memoryJournal();
    await run([calls], yesToAll, { options: { journal: whole } });
    const until = whole.records.findIndex(({ key }) => key === "turn/1/approval/0");
    const journal = memoryJournal(whole.records.slice(0, until + 1));
    const later = await run([calls], () => false, { options: { journal } });
    expect([later.asked, later.done]).toEqual([[], ["send ada", "pay bob"]]);
  });
});

describe("where a run waits, all questions of a reply stand at once, each by itself", () => {
  it("one whose time is over is a no for its call alone, and the answers for the others count", async () => {
    const done: string[] = [];
    const made = (name: string) =>
      tool({
        name,
        description: "",
        inputSchema: z.object({ to: z.string() }),
        effect: "irreversible",
        execute: ({ to: whom }) => `${name} ${String(done.push(`${name} ${whom}`))}`,
      });
    const clerk = agent({
      name: "clerk",
      model: scripted([calling(to("send", "ada"), to("pay", "bob"), to("send", "cleo")), "Done."]),
      tools: [made("send"), made("pay")],
      policy: asks,
      approvals: ({ tool: name }) => (name === "pay" ? { within: "1ms" } : {}),
    });
    const runs = durableRuns({ store: storesIn("memory")(), agents: [clerk] });
    await runs.start(clerk, "Go", { id: "r" });
    await using _worker = runs.work();
    await expect
      .poll(async () => (await runs.waiting("r")).map(({ request }) => request.tool))
      .toEqual(["send", "send"]);
    for (const { key, request } of await runs.waiting("r")) {
      await runs.answer("r", key, { approved: true, hash: request.hash });
      await expect(runs.answer("r", key, { approved: true, hash: request.hash })).rejects.toMatchObject({
        code: "question-answered",
      });
    }
    expect(await runs.result("r")).toMatchObject({ output: "Done." });
    const ends: string[] = [];
    for await (const fact of runs.events("r"))
      if (fact.type === "tool-end") ends.push(`${fact.name} ${fact.result.status}`);
    expect(ends).toEqual(["send ok", "pay denied", "send ok"]);
    expect(done).toEqual(["send ada", "send cleo"]);
  });
});

it("shows the questions of the next hundred calls, however many there are: each is judged again, so that more would cost the square", async () => {
  const mails = Array.from({ length: 250 }, (_, place) => to("send", String(place)));
  const { asked, done } = await run([mails], yesToAll, { definition: { budget: { toolCalls: 300 } } });
  expect(asked.map(({ length }) => length)).toEqual([101, 101, 48]);
  expect(done).toHaveLength(250);
});
