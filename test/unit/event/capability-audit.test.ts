import { expect, it } from "vitest";
import { agent, env, tool } from "../../../src/index.ts";
import { capabilityAudit, type CapabilityLook } from "../../../src/policy.ts";
import { scripted } from "../../../src/testing.ts";

const look = tool({
  name: "look",
  description: "Look at a variable",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  effect: "read",
  needs: [env("WRIT_AUDIT_*")],
  execute: ({ name }, context) => context.env(typeof name === "string" ? name : ""),
});

it("an audit tells each look, granted and denied, with its tool and agent, of runs inside too [Y22]", async () => {
  const names = ["WRIT_AUDIT_A", "PATH", "WRIT_AUDIT_B"];
  const calls = names.map((name) => ({ name: "look", arguments: { name } }));
  const grants = [env("WRIT_AUDIT_A")];
  const inner = agent({
    name: "inner",
    description: "x",
    model: scripted([{ calls }, "done"]),
    tools: [look],
    grants,
  });
  const outer = agent({
    name: "outer",
    model: scripted([{ calls: [{ name: "inner", arguments: { input: "go" } }] }, "done"]),
    tools: [inner.asTool()],
    grants,
  });
  const looks: CapabilityLook[] = [];
  await outer.run("go", { onEvent: capabilityAudit((each) => looks.push(each)), runId: "r" });
  expect(
    looks.map(({ agent: by, tool: using, resource, granted }) => [by, using, resource, granted]),
  ).toEqual([
    ["inner", "look", "env(WRIT_AUDIT_A)", true],
    ["inner", "look", "env(PATH)", false],
    ["inner", "look", "env(WRIT_AUDIT_B)", false],
  ]);
  expect(looks.map(({ reason }) => reason)).toEqual([
    undefined,
    "The tool did not declare it.",
    "It was not granted.",
  ]);
  expect(looks.every(({ parentRunId }) => parentRunId === "r")).toBe(true);
  expect(JSON.parse(JSON.stringify(looks))).toEqual(looks);
});

it("an audit that cannot be written ends the run [Y22]", async () => {
  const model = scripted([{ calls: [{ name: "look", arguments: { name: "WRIT_AUDIT_A" } }] }, "done"]);
  const looker = agent({ name: "looker", model, tools: [look], grants: [env("WRIT_AUDIT_A")] });
  const onEvent = capabilityAudit(() => {
    throw new Error("the disk is full");
  });
  await expect(looker.run("go", { onEvent })).rejects.toThrow("the disk is full");
});
