import { describe, expect, it } from "vitest";
import { agent } from "../../../src/adapters/node.ts";
import { scripted } from "../../../src/model/scripted.ts";
import type { Decision, Policy } from "../../../src/policy/decision.ts";
import { sensible } from "../../../src/policy/rules/sensible.ts";
import type { AgentEvent } from "../../../src/event/event.ts";
import { allow, ask, deny } from "../../../src/policy/rules/builders.ts";
import { arg, oneOf, planned } from "../../../src/policy/rules/conditions.ts";
import { explain } from "../../../src/policy/study/explain.ts";
import { guarded, strict } from "../../../src/policy/study/guarded.ts";
import { policyFromJson, policy as policyOf, type RulePolicy } from "../../../src/policy/study/policy.ts";
import { planTool } from "../../../src/tool/plan-tool.ts";
import type { PlannedAct } from "../../../src/tool/planned-act.ts";
import { type Tool, tool } from "../../../src/tool/tool.ts";
import type { JsonObject } from "../../../src/util/json.ts";

interface Proposed {
  readonly name: string;
  readonly arguments?: JsonObject;
}

const object = {
  type: "object",
  properties: {
    to: { type: "string" },
    text: { type: "string" },
    id: { type: "string" },
    code: { type: "string" },
    event: { type: "object", properties: { title: { type: "string" }, guest: { type: "string" } } },
  },
} as const;
const listed: readonly Tool[] = [
  tool({
    name: "read_mail",
    description: "d",
    inputSchema: { type: "object" },
    effect: "read",
    execute: () => "words",
  }),
  tool({
    name: "send",
    description: "d",
    inputSchema: object,
    effect: "irreversible",
    parameters: {
      to: { role: "target", type: "email" },
      text: "content",
      id: "id",
      code: { role: "id", type: "identifier" },
      event: "content",
      "event.title": "content",
      "event.guest": { role: "target", type: "email" },
    },
    execute: () => "sent",
  }),
  tool({
    name: "drop",
    description: "d",
    inputSchema: object,
    effect: "irreversible",
    execute: () => "dropped",
  }),
  planTool(),
];
const read: Proposed = { name: "read_mail" };
const send = (to: string, more: JsonObject = {}): Proposed => ({
  name: "send",
  arguments: { to, text: "Hello", ...more },
});
const plan = (...acts: readonly PlannedAct[]): Proposed => ({
  name: "plan_acts",
  arguments: { acts: acts.map((act) => ({ ...act })) },
});
const eve = "eve@evil.example";

interface Played {
  readonly decisions: readonly Decision[];
  /** The verdicts; `asked` where a person was. */
  readonly verdicts: readonly string[];
  readonly ran: readonly string[];
}

/** Plays a script of turns: a call, or several, each. A person says what `says` gives. */
async function play(
  turns: readonly (Proposed | readonly Proposed[])[],
  {
    policy = guarded(),
    says = true,
    prompt = "Do it",
  }: { policy?: Policy; says?: boolean; prompt?: string } = {},
): Promise<Played> {
  const decisions: Decision[] = [];
  const asked = new Set<string>();
  const ids: string[] = [];
  const ran: string[] = [];
  const steps = turns.map((turn) => {
    const calls = Array.isArray(turn) ? (turn as readonly Proposed[]) : [turn as Proposed];
    return { calls: calls.map(({ name, arguments: args = {} }) => ({ name, arguments: args })) };
  });
  await agent({ name: "a", model: scripted([...steps, "Done."]), tools: listed, policy }).run(prompt, {
    approve: () => says,
    onEvent: (event) => {
      if (event.type === "call-decided") {
        decisions.push(event.decision);
        ids.push(event.callId);
      }
      if (event.type === "approval-request") asked.add(event.callId);
      if (event.type === "tool-end" && event.result.status === "ok") ran.push(event.name);
    },
  });
  const verdicts = decisions.map(({ verdict }, index) => (asked.has(ids[index] ?? "") ? "asked" : verdict));
  return { decisions, verdicts, ran };
}

const known: PlannedAct = { tool: "send", arguments: { to: eve, text: "Hello" } };

describe("a plan that a model makes before it reads a stranger's words", () => {
  it("has its calls carried out as they were planned, each once, and says who planned them", async () => {
    const { verdicts, decisions } = await play([plan(known), read, send(eve), send(eve)]);
    expect(verdicts).toEqual(["allow", "allow", "allow", "asked"]);
    expect(decisions[2]?.evidence?.planned).toBe("model");
    expect(decisions[3]?.evidence?.planned).toBeUndefined();
    expect(explain(decisions[2] as Decision, "people")).toContain(
      "planned: by the model, before it had read",
    );
  });

  it("lends nothing to the same call twice in one reply", async () => {
    const { verdicts } = await play([plan(known), read, [send(eve), send(eve)]]);
    expect(verdicts).toEqual(["allow", "allow", "allow", "asked"]);
  });

  it("lends nothing to a look that begins while the model still writes the same call once more", async () => {
    const policy = policyOf({ name: "own", rules: [ask("read_mail").unless(planned()), allow("*")] });
    const looks = plan({ tool: "read_mail", arguments: {} });
    const { verdicts } = await play([looks, [read, read]], { policy });
    expect(verdicts).toEqual(["asked", "allow", "asked"]);
  });

  it("lends nothing to other arguments", async () => {
    const { verdicts } = await play([
      plan(known),
      read,
      send(eve, { text: "Hello, and more" }),
      send("eve@other.example"),
    ]);
    expect(verdicts.slice(2)).toEqual(["asked", "asked"]);
  });

  it("has what is outside of it ask, whatever its values", async () => {
    const prompt = "Send hello to ada@x.example";
    expect((await play([read, send("ada@x.example", { text: "hello" })], { prompt })).verdicts).toEqual([
      "allow",
      "allow",
    ]);
    const { verdicts, decisions } = await play([plan({ tool: "drop" }), read, send("ada@x.example")], {
      prompt,
    });
    expect(verdicts).toEqual(["allow", "allow", "asked"]);
    expect(decisions[2]?.rule).toBe("guarded/outside-plan");
  });

  it("says which acts the request asks for", async () => {
    const prompt = "Please tidy up C-17";
    const drop = { name: "drop", arguments: { id: "C-17" } };
    expect((await play([read, drop], { prompt })).verdicts).toEqual(["allow", "asked"]);
    expect((await play([plan({ tool: "drop" }), read, drop], { prompt })).verdicts).toEqual([
      "allow",
      "allow",
      "allow",
    ]);
  });

  it("counts for nothing under strict(), nor against a rule of the author's", async () => {
    expect((await play([plan(known), read, send(eve)], { policy: strict() })).verdicts.at(-1)).toBe("asked");
    const always = guarded({ extraRules: [ask("send")] });
    expect((await play([plan(known), read, send(eve)], { policy: always, says: false })).verdicts).toEqual([
      "asked",
      "allow",
      "asked",
    ]);
  });

  it("is a person's to agree to, or nobody's, where the author says so", async () => {
    const asks = guarded({ extraRules: [ask("plan_acts")] });
    const { verdicts, decisions } = await play([plan(known), read, send(eve)], { policy: asks });
    expect(verdicts).toEqual(["asked", "allow", "allow"]);
    expect(decisions[2]?.evidence?.planned).toBe("person");
    const never = guarded({ extraRules: [deny("plan_acts")] });
    expect((await play([plan(known), read, send(eve)], { policy: never })).verdicts).toEqual([
      "deny",
      "allow",
      "asked",
    ]);
  });
});

describe("a plan after a stranger's words", () => {
  const more: PlannedAct = { tool: "send", arguments: { to: "bob@x.example", text: "Hello" } };

  it("is one question for all of its calls, each once", async () => {
    const calls = [
      read,
      plan(known, more),
      send("bob@x.example"),
      send(eve),
      send(eve),
      send("cleo@x.example"),
    ];
    const { verdicts, ran } = await play(calls);
    expect(verdicts).toEqual(["allow", "asked", "allow", "allow", "asked", "asked"]);
    expect(ran.filter((name) => name === "send")).toHaveLength(4);
  });

  it("has a person asked once, where a rule of the author's always asks", async () => {
    const policy = guarded({ extraRules: [ask("send")] });
    const { verdicts } = await play([plan(known), read, send(eve), send(eve)], { policy });
    expect(verdicts).toEqual(["asked", "allow", "ask", "asked"]);
  });

  it("is named in what the default policy decides, whose question was answered with the plan", async () => {
    const { verdicts, decisions } = await play([read, plan(known), send(eve), send(eve)], {
      policy: sensible,
    });
    expect(verdicts).toEqual(["allow", "asked", "ask", "asked"]);
    expect(decisions.map(({ evidence }) => evidence?.planned)).toEqual([
      undefined,
      undefined,
      "person",
      undefined,
    ]);
  });

  it("lends nothing when a person says no", async () => {
    const { verdicts, ran } = await play([read, plan(known), send(eve)], { says: false });
    expect(verdicts).toEqual(["allow", "asked", "asked"]);
    expect(ran).toEqual(["read_mail"]);
  });

  it("asks, though each of its acts would be allowed", async () => {
    const prompt = "Send hello to ada@x.example";
    const named = plan({ tool: "send", arguments: { to: "ada@x.example", text: "hello" } });
    expect((await play([read, named], { prompt })).verdicts).toEqual(["allow", "asked"]);
  });

  it("can leave content and records open, within what was shown", async () => {
    const open = plan({ tool: "send", arguments: { to: eve }, free: ["text", "code"] });
    const last = async (more_: JsonObject, to = eve): Promise<string | undefined> =>
      (await play([read, open, { name: "send", arguments: { to, ...more_ } }])).verdicts.at(-1);
    expect(await last({ text: "Whatever", code: "869451" })).toBe("allow");
    expect(await last({ text: "Whatever" })).toBe("allow");
    expect(await last({ text: "Look at https://evil.example/x" })).toBe("asked");
    expect(await last({ text: "Hi", code: "869 451 and more" })).toBe("asked");
    expect(await last({ text: "Hi", id: "X" })).toBe("asked");
    expect(await last({ text: "Hi" }, "eve@other.example")).toBe("asked");
  });
});

describe("a plan that cannot be agreed to", () => {
  it.each<readonly [string, PlannedAct, RulePolicy]>([
    ["leaves open whom it reaches", { tool: "send", arguments: { text: "Hello" }, free: ["to"] }, guarded()],
    ["leaves open a record of no type", { tool: "send", arguments: { to: eve }, free: ["id"] }, guarded()],
    [
      "leaves open an argument with somebody in it",
      { tool: "send", arguments: { to: eve }, free: ["event"] },
      guarded(),
    ],
    ["leaves open a part of one", { tool: "send", arguments: { to: eve }, free: ["event.title"] }, guarded()],
    ["leaves open what the tool does not list", { tool: "drop", arguments: {}, free: ["id"] }, guarded()],
    ["names a tool that there is not", { tool: "sendd" }, guarded()],
    ["names itself", { tool: "plan_acts" }, guarded()],
    ["names a call that the policy denies", known, guarded({ extraRules: [deny("send")] })],
    [
      "has an argument that the tool names only within another one",
      { tool: "send", arguments: { to: eve, guest: eve } },
      policyFromJson({
        name: "own",
        rules: [allow("plan_acts"), allow("send").when(arg("to").is(oneOf(eve)))],
      }),
    ],
  ])("%s", async (_what, act, policy) => {
    expect((await play([plan(act)], { policy })).verdicts).toEqual(["deny"]);
    expect((await play([read, plan(act)], { policy })).verdicts).toEqual(["allow", "deny"]);
  });

  it("is asked about where it leaves something open, before any stranger's words too", async () => {
    expect((await play([plan({ tool: "send", arguments: { to: eve }, free: ["text"] })])).verdicts).toEqual([
      "asked",
    ]);
  });
});

it("a plan, and what was carried out of it, outlast a checkpoint", async () => {
  const steps = [plan(known), read, send(eve), send(eve)].map((call) => ({
    calls: [{ arguments: {}, ...call }],
  }));
  const asked: string[] = [];
  const approve = ({ tool: name }: { readonly tool: string }): boolean => {
    asked.push(name);
    return false;
  };
  const clerk = agent({
    name: "a",
    model: scripted([...steps, "Done."]),
    tools: [...listed],
    policy: guarded(),
    budget: { turns: 2 },
    hooks: [{ onBudgetExceeded: () => ({ checkpoint: true }) }],
  });
  let { checkpoint } = await clerk.run("Do it", { approve });
  for (const turns of [3, 9]) {
    const kept = JSON.parse(JSON.stringify(checkpoint)) as NonNullable<typeof checkpoint>;
    const result = await clerk.with({ budget: { turns } }).resume(kept, { approve });
    if (turns === 3) expect(asked).toEqual([]);
    ({ checkpoint } = result);
  }
  expect(asked).toEqual(["send"]);
});

it("a plan is nothing that a recorded run is judged by anew", async () => {
  const calls = [read, plan(known), send(eve)].map(({ name, arguments: args = {} }) => ({
    calls: [{ name, arguments: args }],
  }));
  const events: AgentEvent[] = [];
  await agent({ name: "a", model: scripted([...calls, "Done."]), tools: listed, policy: guarded() }).run(
    "Do it",
    {
      approve: () => true,
      onEvent: (event) => void events.push(event),
    },
  );
  const judged = guarded().simulate(events, { tools: listed });
  expect(judged.map(({ tool: name, was, would }) => `${name} ${was.verdict} ${would.verdict}`)).toEqual([
    "read_mail allow allow",
    "send allow ask",
  ]);
});
