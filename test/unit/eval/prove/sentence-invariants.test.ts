import { expect, it } from "vitest";
import { type Agent, agent, allow, ask, policy, skill } from "../../../../src/index.ts";
import {
  fakeTool,
  type ProposedCall,
  prove,
  type Schedule,
  type Sentence,
  sentenceInvariants,
  simulate,
} from "../../../../src/testing.ts";
import type { Tools } from "../../../../src/tools.ts";

const nothing = { type: "object", properties: {}, additionalProperties: false } as const;
const order = { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const;
const refund = fakeTool("refund", "done", {
  effect: "irreversible",
  inputSchema: order,
  parameters: { order: "id" },
});
const readMail = fakeTool("read_mail", "", { effect: "read", inputSchema: nothing });

const everything = policy({ name: "all", rules: [allow("*")] });
const made = (name: string, tools: Tools): Agent<string> =>
  agent({ name, model: () => "", tools, policy: everything });

const call = (name: string, args: ProposedCall["arguments"] = { input: "x" }): ProposedCall => ({
  name,
  arguments: args,
});
const refunds = call("refund", { order: "EVE-1" });
const reads = call("read_mail", {});

/** The run in which the model makes these replies, one after the other, whichever agent asks. */
const replies = (list: readonly (readonly ProposedCall[])[]): Schedule => ({
  deviations: list.map((calls, place) => ({ at: `model ${place + 1}`, does: "proposes", calls })),
});

/** What a sentence says of a run. */
const said = async (
  one: Agent<string>,
  sentence: Sentence,
  schedule: Schedule,
): Promise<string | undefined> => {
  const invariants = sentenceInvariants(one, [sentence]);
  const { failure } = await simulate(one, { invariants, schedule });
  return failure?.message.split("\n")[0];
};

const payer = made("payer", [refund, readMail]);
const clerk = made("clerk", [payer.asTool(), refund, readMail]);
const never = (more: Partial<Sentence> = {}): Sentence =>
  ({ type: "never", tools: ["refund"], ...more }) as Sentence;

it.each([false, true])("sees calls of agents inside, of theirs too (durable: %s)", async (durable) => {
  const chief = made("chief", [clerk.asTool()]);
  const ran = /refund ran with \{"order":"EVE-1"\}/;
  expect(await said(clerk, never(), { ...replies([[call("payer")], [refunds]]), durable })).toMatch(ran);
  expect(
    await said(chief, never(), { ...replies([[call("clerk")], [call("payer")], [refunds]]), durable }),
  ).toMatch(ran);
  expect(await said(clerk, never(), { ...replies([[call("payer")], [reads]]), durable })).toBeUndefined();
});

it("sees values that a model gave inside, which it wrote into the input of the agent too", async () => {
  const given: Sentence = { type: "given", tools: ["refund"] };
  const asks = call("payer", { input: "Refund EVE-1" });
  expect(await said(clerk, given, replies([[asks], [refunds]]))).toMatch(/refund ran with order "EVE-1"/);
});

it("counts the calls of all runs together", async () => {
  const once: Sentence = { type: "at-most", tools: ["refund"], times: 1 };
  expect(await said(clerk, once, replies([[call("payer"), refunds], [refunds]]))).toMatch(/2 calls ran/);
  expect(await said(clerk, once, replies([[call("payer")], [refunds]]))).toBeUndefined();
  const bound: Sentence = { type: "bound", of: "toolCalls", most: 2 };
  expect(await said(clerk, bound, replies([[call("payer")], [refunds, reads]]))).toMatch(/it made 3 calls/);
});

it("takes what was read for read in the runs inside, and what they read once their answer is there", async () => {
  const after = never({ after: ["read_mail"] });
  const broken = /refund ran/;
  expect(await said(clerk, after, replies([[reads], [call("payer")], [refunds]]))).toMatch(broken);
  expect(await said(clerk, after, replies([[call("payer")], [reads], [], [refunds]]))).toMatch(broken);
  expect(await said(clerk, after, replies([[call("payer")], [reads], [refunds]]))).toMatch(broken);
  expect(await said(clerk, after, replies([[call("payer"), reads], [refunds]]))).toBeUndefined();
  expect(await said(clerk, after, replies([[call("payer"), refunds], [reads]]))).toBeUndefined();
});

it("tells the skills of a run, and those of the runs inside it", async () => {
  const two = agent({
    name: "clerk",
    model: () => "",
    skills: [
      skill({ name: "reading", description: "", tools: [payer.asTool()] }),
      skill({ name: "filing", description: "", tools: [readMail] }),
    ],
    policy: everything,
  });
  const played = replies([[call("payer")], [refunds]]);
  expect(await said(two, never({ skills: ["reading"] }), played)).toMatch(/refund ran/);
  expect(await said(two, never({ skills: ["payer"] }), played)).toMatch(/refund ran/);
  expect(await said(two, never({ skills: ["filing"] }), played)).toBeUndefined();
});

it("holds in drawn runs where it is proved: a person agrees to calls of agents inside", async () => {
  const asking = agent({
    name: "payer",
    model: () => "",
    tools: [refund],
    policy: policy({ name: "asking", rules: [ask("refund")] }),
  });
  const careful = made("clerk", [asking.asTool(), readMail]);
  const sentences = [never({ without: "person" })];
  const sheet = await prove(careful, { sentences });
  expect(sheet.sentences.map(({ verdict }) => verdict)).toEqual(["proved"]);
  const invariants = sentenceInvariants(careful, sentences);
  const { failure, counts } = await simulate(careful, { invariants, schedules: 60 });
  expect(failure?.message).toBeUndefined();
  expect(counts["questions"]).toBeGreaterThan(5);
  expect(counts["effects"]).toBeGreaterThan(5);
});

it("takes what the user said before in the session for the user's word", async () => {
  const send = fakeTool("send", "sent", {
    effect: "irreversible",
    inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  });
  const clerk = agent({ name: "clerk", model: () => "", tools: [send] });
  const playedWith = (...inputs: readonly string[]): ReturnType<typeof simulate> =>
    simulate(clerk, {
      inputs,
      schedule: {
        deviations: [
          {
            at: "model 2",
            does: "proposes",
            calls: [{ name: "send", arguments: { to: "ada@home.example" } }],
          },
        ],
      },
      invariants: sentenceInvariants(clerk, [{ type: "given", tools: ["send"] }]),
    });
  expect((await playedWith("I am ada@home.example.", "Send it to me.")).failure).toBeUndefined();
  expect((await playedWith("I am Ada.", "Send it to me.")).failure?.message).toContain("which nobody gave");
});
