import { describe, expect, it } from "vitest";
import { agent, skill } from "../../../../src/index.ts";
import { fakeTool, prove } from "../../../../src/testing.ts";
import { holes } from "./holes.ts";

describe("planted holes", () => {
  it("are more than 25", () => expect(Object.keys(holes).length).toBeGreaterThanOrEqual(25));

  it.each(Object.entries(holes))("%s", async (_name, { sentence, broken, sound }) => {
    const [found] = (await prove(broken, { sentences: [sentence] })).sentences;
    expect(found).toMatchObject({ verdict: "broken", script: expect.stringContaining("process.exitCode") });
    const [held] = (await prove(sound, { sentences: [sentence] })).sentences;
    expect(held?.because).toBeDefined();
    expect(held?.verdict).toBe("proved");
  });
});

describe("a policy that is a function", () => {
  const refund = fakeTool("refund", "done", { effect: "irreversible", inputSchema: { type: "object" } });
  const refunds = { type: "at-most", times: 1, tools: ["refund"] } as const;

  it("is named as the reason why a number of calls is undecided", async () => {
    const clerk = agent({
      name: "clerk",
      model: () => "",
      tools: [refund],
      policy: function careful() {
        return { verdict: "deny", rule: "careful", reason: "not today" };
      },
    });
    const [found] = (await prove(clerk, { sentences: [refunds] })).sentences;
    expect(found?.verdict).toBe("undecided");
    expect(found?.because).toMatch(/^the policy is the function careful, so that .* refund may run 2 times /);
  });
});

describe("a sentence", () => {
  it("cannot be about tools by their names and by their effects", async () => {
    const clerk = agent({ name: "clerk", model: () => "" });
    const both = { type: "never", tools: ["look"], effects: ["irreversible"] } as const;
    await expect(prove(clerk, { sentences: [both] })).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringContaining("`tools` or `effects`, not both"),
    });
  });
});

describe("the program of a broken sentence", () => {
  const look = fakeTool("look", "seen", { effect: "read", inputSchema: { type: "object" } });
  const program = async (
    names: readonly string[],
    selectSkill?: () => string,
  ): Promise<string | undefined> => {
    const skills = names.map((name) => skill({ name, description: "", tools: [look] }));
    const clerk = agent({ name: "clerk", model: () => "", skills, selectSkill });
    const [found] = (await prove(clerk, { sentences: [{ type: "bound", of: "turns", most: 2 }] })).sentences;
    return found?.script;
  };

  it("says which of several skills a model takes", async () => {
    expect(await program(["reading", "filing"])).toContain("skill 1");
  });

  it.each([
    ["stands alone", ["reading"], undefined],
    ["the author selects", ["reading", "filing"], () => "filing"],
  ])("says nothing of a skill that %s", async (_which, names, select) => {
    const text = await program(names, select);
    expect(text).toContain("process.exitCode");
    expect(text).not.toContain("skill 1");
  });
});
