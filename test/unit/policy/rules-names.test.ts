import { describe, expect, it } from "vitest";
import { agent, allow, ask, deny, policy, skill, tool } from "../../../src/index.ts";
import { absent, all, arg, boundToIntent, unknownLinks } from "../../../src/policy.ts";
import type { RuleInput } from "../../../src/policy/rules/builders.ts";
import type { JsonObject } from "../../../src/util/json.ts";

const to = { type: "string" } as const;
const people = { type: "array", items: { type: "object", properties: { mail: to } } } as const;
const event = { type: "object", properties: { to, "a.b": to }, additionalProperties: false } as const;
const events = { type: "array", items: event } as const;
const closed = {
  type: "object",
  properties: { to, people, event, events },
  additionalProperties: false,
} as const;

function made(rule: RuleInput, inputSchema: JsonObject = closed): () => unknown {
  const send = tool({ name: "send", description: "", inputSchema, execute: () => "" });
  const note = tool({
    name: "note",
    description: "",
    inputSchema: { type: "object", properties: { text: to, "a.b": to }, additionalProperties: false },
    execute: () => "",
  });
  const rules = policy({ name: "mail", rules: [rule] });
  return () => agent({ name: "clerk", model: () => "", tools: [send, note], policy: rules });
}

describe("a rule that names an argument which none of its tools has", () => {
  it.each([
    allow("send").when(arg("too").each(boundToIntent())),
    allow("send").when(arg("people[0].mail").is(boundToIntent())),
    deny("send").unless(arg("mail").is(boundToIntent())),
    deny("send", "note").when(unknownLinks("body")),
    ask("send").show("to", "body"),
    allow("send").when(arg("event.too").is(boundToIntent())),
    allow("send").when(arg("events.too").each(boundToIntent())),
    allow("send").when(arg("event..to").is(boundToIntent())),
    ask("send").show("event.too"),
  ])("is refused: $when $unless $show", (rule) => {
    expect(made(rule)).toThrow(/policy "mail" of agent "clerk".*rule 1.*argument/s);
  });

  it("says which argument is meant", () => {
    expect(made(allow("send").when(arg("too").each(boundToIntent())))).toThrow(
      'its rule "allow send (rule 1)" names the argument "too", which "send" does not have; did you mean "to"?',
    );
  });

  it.each([
    allow("send").when(arg("to").each(boundToIntent())),
    allow("send").when(arg("people.mail").is(boundToIntent())),
    allow("send", "note").when(unknownLinks("text")),
    allow("note").when(arg("a.b").is(boundToIntent())),
    allow("send").when(all(arg("to").is(boundToIntent()), arg("bcc").is(absent()))),
    allow("send").when(all(arg("events.to").each(boundToIntent()), arg("event.a.b").is(boundToIntent()))),
    allow("send").when(arg("people.phone").is(boundToIntent())),
    allow("*").when(arg("anything").is(boundToIntent())),
    ask("send", "note").show("people.mail", "text"),
    ask("*").show("anything"),
  ])("is not $when $show", (rule) => {
    expect(made(rule)).not.toThrow();
  });

  it("may judge any argument of a tool that takes others than its schema names", () => {
    const rule = allow("send").when(arg("bcc").each(boundToIntent()));
    const schemas: readonly JsonObject[] = [
      { type: "object" },
      { type: "object", properties: { to } },
      { type: "object", properties: { to }, patternProperties: { "^b": to }, additionalProperties: false },
      { anyOf: [{ type: "object", properties: { bcc: to }, additionalProperties: false }] },
    ];
    for (const open of schemas) expect(made(rule, open)).not.toThrow();
  });

  it("may judge an argument that a tool of its name has in another skill", () => {
    const sender = (field: string) =>
      tool({
        name: "send",
        description: "",
        inputSchema: { type: "object", properties: { [field]: to }, additionalProperties: false },
        execute: () => "",
      });
    const skills = ["to", "bcc"].map((field) =>
      skill({ name: field, description: "", tools: [sender(field)] }),
    );
    const rules = policy({ name: "mail", rules: [allow("send").when(arg("to").is(boundToIntent()))] });
    expect(() => agent({ name: "clerk", model: () => "", skills, policy: rules })).not.toThrow();
  });
});
