import { describe, expect, it } from "vitest";
import { agent, allow, deny, policy } from "../../../../src/index.ts";
import { arg, boundToIntent, hostIn, within, type PolicyDefinition } from "../../../../src/policy.ts";
import { fakeTool, prove, type Sentence, sentenceInvariants, simulate } from "../../../../src/testing.ts";
import type { JsonObject } from "../../../../src/util/json.ts";

const text = { type: "string" } as const;
const closed = (properties: JsonObject): JsonObject => ({
  type: "object",
  properties,
  additionalProperties: false,
});
const open = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const map = (values: JsonObject): JsonObject =>
  closed({ title: text, with: { type: "object", additionalProperties: values } });
const toIsGiven = allow("send").when(arg("to").is(boundToIntent()));

interface Case extends Pick<PolicyDefinition, "rules" | "tools"> {
  readonly schema: JsonObject;
  readonly names?: readonly string[];
}

/** Calls that reach a value by a name of a field that the model chose. */
const cases: Readonly<Record<string, Case>> = {
  "the name of a field says it, and a truth value stands in the field": {
    schema: map({ type: "boolean" }),
    rules: [allow("send")],
    names: ["with"],
  },
  "the name of a field says it, and one of a list stands in the field": {
    schema: map({ enum: ["owner", "reader"] }),
    rules: [allow("send")],
    names: ["with"],
  },
  "a rule looks at hosts, and the name of the field is such a host too": {
    schema: map(text),
    rules: [allow("send").when(arg("with").each(hostIn("home.example")))],
    names: ["with"],
  },
  "a rule looks at numbers, and the name of the field is one of the schema's": {
    schema: map({ type: "number" }),
    rules: [allow("send").when(arg("with").each(within({ max: 10_000 })))],
    names: ["with"],
  },
  "an address stands within the field of a name that the model chose": {
    schema: map(closed({ mail: text })),
    rules: [allow("send")],
    names: ["with"],
  },
  "the policy declares an argument that the schema has not": {
    schema: open({ to: text }),
    rules: [toIsGiven],
    tools: { send: { parameters: { cc: "target" } } },
  },
  "a rule speaks of an argument that the schema has not": {
    schema: open({ to: text }),
    rules: [
      allow("send").when(arg("bcc").each(hostIn("home.example"))),
      deny("send").unless(arg("to").is(boundToIntent())),
    ],
  },
};

describe("a call whose model chooses the name of a field", () => {
  it.each(Object.entries(cases))("breaks what is said of its values: %s", async (_what, given) => {
    const { schema, rules, tools, names } = given;
    const send = fakeTool("send", "sent", { effect: "write", inputSchema: schema });
    const own = policy({ name: "own", rules, ...(tools === undefined ? {} : { tools }) });
    const clerk = agent({ name: "clerk", model: () => "", tools: [send], policy: own });
    const sentence: Sentence = { type: "given", tools: ["send"], ...(names && { arguments: names }) };
    const [found] = (await prove(clerk, { sentences: [sentence] })).sentences;
    expect(found?.verdict).toBe("broken");
  });

  it("breaks nothing where the schema is a reference, and a field within another has the name", async () => {
    const mail = open({ to: text, event: closed({ cc: { enum: ["ada"] } }) });
    const send = fakeTool("send", "sent", {
      effect: "write",
      inputSchema: { $ref: "#/$defs/mail", $defs: { mail } },
    });
    const own = policy({ name: "own", rules: [toIsGiven] });
    const clerk = agent({ name: "clerk", model: () => "", tools: [send], policy: own });
    const [found] = (await prove(clerk, { sentences: [{ type: "given", tools: ["send"] }] })).sentences;
    expect(found?.verdict).toBe("proved");
  });

  it("breaks a sentence about an argument that another one of its tools declares", async () => {
    const send = fakeTool("send", "sent", { effect: "write", inputSchema: closed({ to: text, cc: text }) });
    const post = fakeTool("post", "posted", { effect: "write", inputSchema: open({ to: text }) });
    const rules = [allow("post"), allow("send").when(arg("cc").is(boundToIntent()))];
    const own = policy({ name: "own", rules });
    const clerk = agent({ name: "clerk", model: () => "", tools: [send, post], policy: own });
    const sentence: Sentence = { type: "given", tools: ["send", "post"], arguments: ["cc"] };
    const [found] = (await prove(clerk, { sentences: [sentence] })).sentences;
    expect(found?.verdict).toBe("broken");
  });
});

it("takes what a schema lists in such a field for given, in a run as in a proof", async () => {
  const share = fakeTool("share", "", { effect: "write", inputSchema: map({ enum: ["owner", "reader"] }) });
  const own = policy({ name: "own", rules: [allow("share").when(arg("with").is(boundToIntent()))] });
  const clerk = agent({ name: "clerk", model: () => "", tools: [share], policy: own });
  const sentences: readonly Sentence[] = [{ type: "given", tools: ["share"] }];
  const shared = { name: "share", arguments: { with: { "ada@home.example": "owner" } } };
  const { failure } = await simulate(
    clerk.with({ policy: policy({ name: "all", rules: [allow("share")] }) }),
    {
      inputs: ["Share it with ada@home.example."],
      script: [{ calls: [shared] }],
      schedule: { deviations: [] },
      invariants: {
        ...sentenceInvariants(clerk, sentences),
        "it was shared": ({ effects }) => effects.length === 1,
      },
    },
  );
  expect(failure?.message).toBeUndefined();
});
