import { describe, expect, it } from "vitest";
import { agent, skill } from "../../../src/index.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

const look = fakeTool("look", "seen");
const find = fakeTool("find", "found");
const answers = ["a", "b", "c", "d"];

describe("a call that an agent requires", () => {
  it.each([
    ["a call", "required", "native", []],
    ["a call", "required", "json", []],
    ['a call of "look"', { tool: "look" }, "native", ["find"]],
    ['a call of "look"', { tool: "look" }, "json", []],
  ] as const)(
    "%s is refused where its run has no tool for it, before a model is asked",
    async (...[forced, toolChoice, driver, tools]) => {
      const model = scripted(answers);
      const forcing = agent({ name: "a", model, tools: [look, find], toolChoice, driver });
      const message = `"a" cannot be run with the option \`tools\`: \`toolChoice\` requires ${forced}, and it leaves out every tool that could be called.`;
      await expect(forcing.run("Go", { tools })).rejects.toMatchObject({
        code: "run-option-unusable",
        message,
      });
      expect(model.requests).toEqual([]);
    },
  );

  it("is refused of a skill that has no such tool", async () => {
    const silent = skill({ name: "talk", description: "Talks", tools: [] });
    const looking = skill({ name: "see", description: "Looks", tools: [look] });
    const model = scripted([{ calls: [{ name: "look" }] }, "Seen."]);
    const both = agent({ name: "a", model, skills: [silent, looking], toolChoice: "required" });
    const message =
      'Skill "talk" of agent "a": `toolChoice` requires a call, and the skill has no such tool.';
    await expect(both.run("Go", { skill: "talk" })).rejects.toMatchObject({
      code: "definition-invalid",
      message,
    });
    expect((await both.run("Go", { skill: "see" })).text).toBe("Seen.");
  });

  it("is made with the tools that are left", async () => {
    const model = scripted([{ calls: [{ name: "look" }] }, "Seen."]);
    const forced = agent({ name: "a", model, tools: [look, find], toolChoice: { tool: "look" } });
    expect((await forced.run("Go", { tools: ["look"] })).text).toBe("Seen.");
  });
});
