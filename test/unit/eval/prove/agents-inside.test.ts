import { expect, it } from "vitest";
import { type Agent, agent, allow, deny, policy, skill } from "../../../../src/index.ts";
import { type PolicyDefinition, untrusted } from "../../../../src/policy.ts";
import { fakeTool, prove, type Sentence } from "../../../../src/testing.ts";
import type { Tools } from "../../../../src/tools.ts";

const inputSchema = { type: "object", properties: {}, additionalProperties: false } as const;
const refund = fakeTool("refund", "done", { effect: "irreversible", inputSchema });
const readMail = fakeTool("read_mail", "", { effect: "read", inputSchema });
const never = (more: Partial<Sentence> = {}): Sentence =>
  ({ type: "never", tools: ["refund"], ...more }) as Sentence;

const made = (
  name: string,
  tools: Tools,
  ...rules: Exclude<PolicyDefinition["rules"], string>
): Agent<string> =>
  agent({ name, model: () => "", tools, policy: policy({ name, rules: [allow("*"), ...rules] }) });
const verdictOf = async (one: Agent<string>, sentence: Sentence): Promise<string | undefined> =>
  (await prove(one, { sentences: [sentence] })).sentences[0]?.verdict;

it("counts the calls of an agent inside in the skill that calls it", async () => {
  const payer = made("payer", [refund]).asTool({ description: "pays" });
  const clerk = agent({
    name: "clerk",
    model: () => "",
    skills: [
      skill({ name: "reading", description: "", tools: [payer] }),
      skill({ name: "filing", description: "", tools: [readMail] }),
    ],
    policy: policy({ name: "all", rules: [allow("*")] }),
  });
  expect(await verdictOf(clerk, never({ skills: ["reading"] }))).toBe("undecided");
  expect(await verdictOf(clerk, never({ skills: ["payer"] }))).toBe("undecided");
  expect(await verdictOf(clerk, never({ skills: ["filing"] }))).toBe("proved");
});

it("leaves out the tools that an agent inside may not call there", async () => {
  const payer = made("payer", [refund, readMail]);
  expect(await verdictOf(made("clerk", [payer.asTool()]), never())).toBe("undecided");
  expect(
    await verdictOf(made("clerk", [refund, payer.asTool({ deny: ["refund"] })], deny("refund")), never()),
  ).toBe("proved");
});

it("takes a run inside for trusted whose tools are the author's alone", async () => {
  const strange = {
    ...fakeTool("strange", "", { effect: "read", inputSchema }),
    origin: { server: "s", pin: "p" },
  };
  const payer = made("payer", [refund, strange], deny("refund").when(untrusted()));
  expect(await verdictOf(made("clerk", [payer.asTool()]), never())).toBe("proved");
  expect(await verdictOf(made("clerk", [payer.asTool({ allow: ["refund"] })]), never())).toBe("undecided");
});

it("takes what is read for a fresh answer for read", async () => {
  const output = {
    type: "object",
    properties: { urgent: { type: "boolean" } },
    additionalProperties: false,
  } as const;
  const reader = agent({ name: "reader", model: () => "", tools: [readMail], output });
  const clerk = (fresh: boolean): Agent<string> =>
    made("clerk", [reader.asTool({ fresh }), refund], deny("refund").when(untrusted()));
  expect(await verdictOf(clerk(false), never({ after: ["read_mail"] }))).toBe("proved");
  expect(await verdictOf(clerk(true), never({ after: ["read_mail"] }))).toBe("undecided");
});
