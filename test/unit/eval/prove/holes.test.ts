import { describe, expect, it } from "vitest";
import { type Agent, agent, allow, deny, policy, skill } from "../../../../src/index.ts";
import { arg, type Condition, hostIn } from "../../../../src/policy.ts";
import { fakeTool, prove, type Sentence } from "../../../../src/testing.ts";
import { boundFields } from "../../../../src/eval/prove/sentence.ts";
import type { Executor } from "../../../../src/run/executor.ts";
import type { Tool } from "../../../../src/tool/tool.ts";
import type { JsonObject } from "../../../../src/util/json.ts";
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

describe("a rule with a host and all beneath it", () => {
  it("lets others pass than the one that another rule denies", async () => {
    const send = fakeTool("send", "", {
      effect: "write",
      inputSchema: { type: "object", properties: { to: { type: "string" } }, additionalProperties: false },
    });
    const at = (host: string): Condition => arg("to").each(hostIn(host));
    const rules = [allow("send").when(at("*.home.example")), deny("send").when(at("any.home.example"))];
    const clerk = agent({
      name: "clerk",
      model: () => "",
      tools: [send],
      policy: policy({ name: "hosts", rules }),
    });
    const [found] = (await prove(clerk, { sentences: [{ type: "given", tools: ["send"] }] })).sentences;
    expect(found?.verdict).toBe("broken");
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

describe("tools of one name in two skills", () => {
  const sends = (effect: "irreversible" | "read", properties: JsonObject): Tool =>
    fakeTool("send", "", {
      effect,
      inputSchema: {
        type: "object",
        properties,
        required: Object.keys(properties),
        additionalProperties: false,
      },
    });
  const clerk = agent({
    name: "clerk",
    model: () => "",
    skills: [
      skill({ name: "writing", description: "", tools: [sends("irreversible", { to: { type: "string" } })] }),
      skill({ name: "choosing", description: "", tools: [sends("read", { to: { enum: ["ada"] } })] }),
    ],
    policy: policy({ name: "all", rules: [allow("send")] }),
  });

  it.each<Sentence>([
    { type: "given", tools: ["send"] },
    { type: "never", effects: ["irreversible"] },
  ])("are told apart in the run that breaks %o", async (sentence) => {
    const [found] = (await prove(clerk, { sentences: [sentence] })).sentences;
    expect(found?.verdict).toBe("broken");
  });
});

describe("a bound that does not hold", () => {
  const input = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  } as const;
  const verdictsOf = async (clerk: Agent): Promise<readonly string[]> => {
    const sentences = boundFields.map((of): Sentence => ({ type: "bound", of, most: 2 }));
    return (await prove(clerk, { sentences })).sentences.map(({ verdict }) => verdict);
  };

  it("is shown of an agent that takes something else than a text", async () => {
    expect(await verdictsOf(agent({ name: "clerk", model: () => "", input }))).toEqual(
      boundFields.map(() => "broken"),
    );
  });

  it("is undecided where no run can be played: the other sentences are decided all the same", async () => {
    const executor: Executor = { execute: () => Promise.resolve([]) };
    const verdicts = await verdictsOf(agent({ name: "clerk", model: () => "", executor }));
    expect(verdicts).toEqual(["undecided", "undecided", "broken", "broken"]);
  });
});
