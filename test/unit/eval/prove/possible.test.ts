import { expect, it } from "vitest";
import { anyType, judgedPaths, strangersFor } from "../../../../src/eval/prove/places.ts";
import { placesOf } from "../../../../src/eval/prove/schema-places.ts";
import { possible } from "../../../../src/eval/prove/possible.ts";
import { subjectOf } from "../../../../src/eval/prove/subject.ts";
import { agent, policy } from "../../../../src/index.ts";
import type { RulePolicy } from "../../../../src/policy.ts";
import type { Label } from "../../../../src/message/label.ts";
import type { CallRequest } from "../../../../src/policy/decision.ts";
import { noIntent } from "../../../../src/policy/knowledge/intent.ts";
import { valuesIn } from "../../../../src/policy/values/bound-values.ts";
import type { Condition, Rule, ValueTest } from "../../../../src/policy/rules/rule.ts";
import { namesIn } from "../../../../src/schema/property-names.ts";
import { fakeTool } from "../../../../src/testing.ts";
import type { Json } from "../../../../src/util/json.ts";
import { randomFrom } from "../../../random.ts";

const schema = {
  type: "object",
  properties: {
    to: { type: "string" },
    amount: { type: "number" },
    text: { type: "string" },
    event: { type: "object", properties: { who: { type: "array", items: { type: "string" } } } },
  },
} as const;
const tools = (["read", "write", "irreversible"] as const).map((effect) =>
  fakeTool(`send_${effect}`, "", {
    effect,
    inputSchema: schema,
    parameters: {
      amount: "amount",
      text: "content",
      to: { role: "target", type: "email", constants: ["own@home.example"] },
    },
  }),
);

type Pick = <Value>(from: readonly Value[]) => Value;

function pickFrom(seed: number): Pick {
  const random = randomFrom(seed);
  return (from) => from[Math.floor(random() * from.length)] as (typeof from)[number];
}

const tests = (pick: Pick): ValueTest =>
  pick<ValueTest>([
    { type: "bound" },
    { type: "bound", as: pick(["email", "text", "number"] as const) },
    { type: "one-of", values: pick([["eve@outside.example"], ["ada@home.example", 5]]) },
    { type: "within", max: pick([5, 100]) },
    { type: "within", min: pick([0, 10]), max: 50 },
    { type: "host-in", hosts: pick([["home.example"], ["*.example", "other.test"]]) },
    { type: "absent" },
  ]);

function conditionOf(pick: Pick, depth = 0): Condition {
  const path = pick(["to", "amount", "text", "event", "event.who", "other"]);
  const plain = pick<Condition>([
    { type: "argument", path, is: tests(pick) },
    {
      type: "roles",
      roles: pick([["target"], ["target", "amount", "id"], ["content"]] as const),
      is: tests(pick),
    },
    { type: "effect", in: pick([["read"], ["write", "irreversible"]] as const) },
    { type: "untrusted" },
    { type: "requested" },
    { type: "requested", exactly: true },
    { type: "unknown-links" },
    { type: "secrecy-exceeds-targets" },
    { type: "calls", atLeast: pick([1, 2]) },
  ]);
  if (depth > 2) return plain;
  const of = [conditionOf(pick, depth + 1), conditionOf(pick, depth + 1)];
  return pick<Condition>([
    plain,
    plain,
    { type: "all", of },
    { type: "any", of },
    { type: "not", of: plain },
  ]);
}

function ruleOf(pick: Pick): Rule {
  return {
    verdict: pick(["allow", "allow", "ask", "deny"] as const),
    tools: pick([["*"], tools.map(({ name }) => name)]),
    ...(pick([true, true, false]) ? { when: conditionOf(pick) } : {}),
    ...(pick([true, false, false]) ? { unless: conditionOf(pick) } : {}),
  };
}

const labels: readonly Label[] = [
  { integrity: "trusted", secrecy: "public", sources: [] },
  { integrity: "untrusted", secrecy: "public", sources: ["tool/x"] },
  { integrity: "untrusted", secrecy: "private", sources: ["tool/x"] },
];
const texts = [
  "ada@home.example",
  "eve@outside.example",
  "own@home.example",
  "x.home.example",
  "see https://evil.example/a",
  "hi",
  "",
];

const argumentsOf = (pick: Pick): Json => ({
  ...(pick([true, false]) ? { to: pick(texts) } : {}),
  ...(pick([true, false]) ? { amount: pick([-3, 0, 5, 17, 50, 51, 1000]) } : {}),
  ...(pick([true, false]) ? { text: pick(texts) } : {}),
  ...(pick([true, false]) ? { event: { who: pick([[], [pick(texts)], [pick(texts), pick(texts)]]) } } : {}),
  ...(pick([true, false, false]) ? { other: pick(texts) } : {}),
});

const [clerk] = subjectOf(agent({ name: "clerk", model: () => "", tools })).ways;

/** A policy, a call that it decides about, and what is held possible of such calls. */
function scene(seed: number) {
  const pick = pickFrom(seed);
  const rules = Array.from({ length: pick([1, 2, 3, 4]) }, () => ruleOf(pick));
  const own: RulePolicy = policy({ name: "own", rules });
  const tool = pick(tools);
  const [label, calls, intent] = [
    pick(labels),
    pick([0, 1, 2]),
    pick(["", "send it to ada@home.example, 17 or 5"]),
  ];
  const said = valuesIn([intent]);
  const call: CallRequest = {
    agent: "clerk",
    skill: "clerk",
    turn: 1,
    callId: "c",
    tool: tool.name,
    effect: tool.effect,
    arguments: argumentsOf(pick),
    parameters: tool.parameters ?? {},
    ...namesIn(schema),
    knows: {
      intent: noIntent("clerk"),
      label,
      calls: () => calls,
      isFound: () => false,
      isBound: (value, type) => said.has(value, type),
      isKnownLink: () => false,
      asksFor: () => intent !== "",
    },
  };
  if (clerk === undefined) throw new Error("an agent has a skill");
  return {
    own,
    way: { ...clerk, policy: own, known: new Map() },
    tool,
    call,
    situation: { label, calls },
    said,
  };
}

it("holds possible whatever a policy says of a call", { timeout: 600_000 }, () => {
  const counts = { allow: 0, ask: 0, deny: 0, ruledOut: 0 };
  for (let seed = 1; seed <= 1500; seed += 1) {
    const { own, way, tool, call, situation } = scene(seed);
    const { verdict } = own(call);
    const may = possible(way, tool, situation);
    counts[verdict] += 1;
    if (!may.free) counts.ruledOut += 1;
    if (verdict === "allow") expect(may.free, `seed ${seed}`).toBe(true);
    if (verdict !== "deny") expect(may.runs, `seed ${seed}`).toBe(true);
  }
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(100);
});

it("holds possible what a policy allows of a value that nobody gave", { timeout: 600_000 }, () => {
  const counts = { allowed: 0, ruledOut: 0 };
  for (let seed = 1; seed <= 300; seed += 1) {
    const { own, way, tool, call, situation, said } = scene(seed);
    for (const place of placesOf(tool, judgedPaths(own, tool.name)))
      for (const value of strangersFor({ policy: own, tool: tool.name, hosts: [] }, place)) {
        if (anyType.some((type) => said.has(value, type))) continue;
        const args = { ...(call.arguments as object), ...place.with(value) };
        const isAllowed = own({ ...call, arguments: args }).verdict === "allow";
        const { free } = possible(way, tool, { ...situation, args: place.with(value) });
        if (isAllowed) expect(free, `seed ${seed}, ${place.path} ${JSON.stringify(value)}`).toBe(true);
        counts[isAllowed ? "allowed" : free ? "allowed" : "ruledOut"] += 1;
      }
  }
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(100);
});
