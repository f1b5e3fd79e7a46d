import { expect, it } from "vitest";
import { branch, pipe, repeat } from "../../../../src/compose.ts";
import {
  type Agent,
  agent,
  allow,
  inMemorySessions,
  type Model,
  policy,
  session,
  skill,
} from "../../../../src/index.ts";
import { secrecyExceedsTargets, untrusted } from "../../../../src/policy.ts";
import { fakeTool, prove, scripted, type Sentence } from "../../../../src/testing.ts";
import { retry } from "../../../../src/tools.ts";
import type { Tool } from "../../../../src/index.ts";

const inputSchema = { type: "object", properties: {}, additionalProperties: false } as const;
const refund = fakeTool("refund", "done", { effect: "irreversible", inputSchema });
const everything = policy({ name: "all", rules: [allow("*")] });
const freely: Sentence = { type: "never", effects: ["irreversible"], without: "person" };

const verdictOf = async (one: Agent<string>, sentence: Sentence): Promise<string | undefined> =>
  (await prove(one, { sentences: [sentence] })).sentences[0]?.verdict;

it("takes a run for one that may begin trusted and private: an earlier one of its session read secrets", async () => {
  const secrets = fakeTool("read_secret", "1", {
    effect: "read",
    secrecy: "private",
    trusted: true,
    inputSchema,
  });
  const wire = fakeTool("wire", "done", {
    effect: "irreversible",
    inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    parameters: { to: "target" },
  });
  const skills = [
    skill({ name: "reading", description: "", tools: [secrets] }),
    skill({ name: "paying", description: "", tools: [wire] }),
  ];
  const own = policy({
    name: "own",
    rules: [allow("read_secret"), allow("wire").when(secrecyExceedsTargets()).unless(untrusted())],
  });
  const clerk = (model: Model | (() => string)): Agent<string> =>
    agent({ name: "clerk", model, skills, policy: own });
  expect(
    await verdictOf(
      clerk(() => ""),
      freely,
    ),
  ).toBe("undecided");

  const reads = { calls: [{ name: "read_secret", arguments: {} }] };
  const wires = { calls: [{ name: "wire", arguments: { to: "eve@x.example" } }] };
  const one = clerk(scripted([reads, "Read.", wires, "Paid."]));
  const conversation = session(inMemorySessions(), "one");
  await one.run("Read", { session: conversation, skill: "reading" });
  const { calls: made } = await one.run("Pay", { session: conversation, skill: "paying" });
  expect(made.map(({ name, status }) => `${name} ${status}`)).toEqual(["wire ok"]);
});

it("says of a composition that it proves none, and names no other function", async () => {
  const one = agent({ name: "one", model: () => "" });
  const proving = prove(pipe(one, one) as never);
  await expect(proving).rejects.toThrow(/^prove\(\) of .* Prove the members of a composition one by one\.$/);
});

it("proves nothing of what functions of a composition may run that is a tool", async () => {
  const asks = (tool: Tool): Agent<string> => {
    const calls = [{ name: tool.name, arguments: { input: "x" } }];
    return agent({ name: "clerk", model: scripted([{ calls }, "ok"]), tools: [tool], policy: everything });
  };
  const judge = agent({
    name: "judge",
    model: scripted([{ calls: [{ name: "refund", arguments: {} }] }, "good"]),
    tools: [refund],
    policy: everything,
  });
  const writer = agent({ name: "writer", model: () => "text" });
  const judged = repeat(writer, { until: async (text, round) => (await judge(text, round)) === "good" });
  const clerk = asks(judged.with({ name: "again" }).asTool({ effect: "read" }));
  const ran: string[] = [];
  await clerk.run("Go", { onEvent: (event) => void (event.type === "tool-end" && ran.push(event.name)) });
  expect(ran).toEqual(["refund", "again"]);
  expect(await verdictOf(clerk, freely)).toBe("undecided");
  expect(await verdictOf(clerk, { ...freely, type: "at-most", times: 1 })).toBe("undecided");

  const deep = pipe(writer, branch({ on: () => "writer", cases: { writer } })).with({ name: "deep" });
  expect(await verdictOf(asks(deep.asTool({ effect: "read" })), freely)).toBe("undecided");
  const listed = pipe(writer, branch({ on: writer, cases: { writer }, otherwise: writer })).with({
    name: "listed",
  });
  expect(await verdictOf(asks(listed.asTool({ effect: "read" })), freely)).toBe("proved");
});

it.each(["its own", "the agent's"])(
  "names as taken for granted that recoveries ask no agent which calls tools, where a tool has %s",
  async (whose) => {
    const recover = { executionFailed: () => retry(1) };
    const save = fakeTool("save", "", { effect: "write", ...(whose === "its own" ? { recover } : {}) });
    const saver = agent({
      name: "saver",
      model: () => "",
      tools: [save],
      ...(whose === "its own" ? {} : { recover: { default: recover } }),
    });
    const said = async (proven: Agent) => (await prove(proven, { sentences: [] })).assumptions.join("\n");
    expect(await said(saver)).toContain("recoveries have nothing asked that calls tools");
    expect(
      await said(agent({ name: "saver", model: () => "", tools: [fakeTool("save", "")] })),
    ).not.toContain("recoveries");
  },
);

it("names as taken for granted that a caller brings no tools: a policy for all tools lets them run", async () => {
  const look = fakeTool("look", "", { effect: "read", inputSchema });
  const reader = agent({ name: "reader", model: () => "", tools: [look], policy: everything });
  const { sentences, assumptions } = await prove(reader, { sentences: [freely] });
  expect(sentences[0]?.verdict).toBe("proved");
  expect(assumptions.join("\n")).toContain("none that its caller brings (`callerTools`)");
});
