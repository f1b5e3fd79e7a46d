import { expect, it } from "vitest";
import { agent, allow, policy, skill } from "../../../../src/index.ts";
import { fakeTool, prove, type Sentence, simulate } from "../../../../src/testing.ts";

const fields = (name: string) =>
  ({
    type: "object",
    properties: { [name]: { type: "string" } },
    required: [name],
    additionalProperties: false,
  }) as const;
const send = fakeTool("send", "sent", {
  effect: "irreversible",
  inputSchema: fields("to"),
  parameters: { to: "target" },
});
const refund = fakeTool("refund", "done", { effect: "irreversible", inputSchema: fields("order") });
const one = { name: "sending", description: "", tools: [send], input: fields("who") };
const two = { name: "paying", description: "", tools: [refund], input: fields("order") };
const clerkOf = (...skills: readonly (typeof one | typeof two)[]) =>
  agent({
    name: "clerk",
    model: () => "",
    skills: skills.map((each) => skill(each)),
    policy: policy({ name: "all", rules: [allow("*")] }),
  });

const sentences: Sentence[] = [
  { type: "never", tools: ["send"] },
  { type: "given", tools: ["send"] },
  { type: "bound", of: "turns", most: 2 },
  { type: "bound", of: "tokens", most: 10 },
];

it.each([[[one]], [[two, one]]])("finds runs of skills that take an input of their own", async (skills) => {
  const sheet = await prove(clerkOf(...skills), { sentences });
  expect(sheet.sentences.map(({ verdict }) => verdict)).toEqual(["broken", "broken", "broken", "broken"]);
});

it("does not simulate runs that no skill takes, and tells what the skills take", async () => {
  await expect(simulate(clerkOf(one, two) as never, { schedules: 5 })).rejects.toMatchObject({
    code: "input-invalid",
    message: expect.stringContaining('none of its skills (sending, paying) takes "Do it."'),
  });
  const inputs = [{ who: "Ada" }, { order: "A1" }] as never;
  const began: string[] = [];
  const { failure } = await simulate(clerkOf(one, two) as never, {
    inputs,
    schedules: 40,
    invariants: {
      "each has a skill": ({ runs }) => {
        for (const { facts } of runs)
          began.push(facts.find((fact) => fact.type === "skill-chosen")?.skill ?? "none");
      },
    },
  });
  expect(failure?.message).toBeUndefined();
  expect(began).toEqual(Array.from({ length: 40 }, () => ["sending", "paying"]).flat());
});
