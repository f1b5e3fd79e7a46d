import { describe, expect, it } from "vitest";
import { actsIn, actsOfTool } from "../../../src/policy/values/acts.ts";
import { noIntent } from "../../../src/policy/knowledge/intent.ts";
import { knowing, learnIntent } from "../../../src/policy/knowledge/learned.ts";
import { untrustedFrom } from "../../../src/message/label.ts";
import { arg, boundToIntent, oneOf } from "../../../src/policy/rules/conditions.ts";
import { allow } from "../../../src/policy/rules/builders.ts";
import { guarded } from "../../../src/policy/study/guarded.ts";
import { policy } from "../../../src/policy/study/policy.ts";
import { tool } from "../../../src/tool/tool.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { callOf } from "./rules-scene.ts";

/** What `guarded()` says of an irreversible call after a stranger's words. */
function verdictFor(request: string, name: string, args: JsonObject): string {
  const intent = { ...noIntent("a"), text: request };
  const learned = learnIntent(intent, { tools: new Map() }, untrustedFrom("tool/inbox"));
  const call = callOf({ tool: name, arguments: args, parameters: { who: { role: "target", type: "text" } } });
  return guarded()({ ...call, arguments: args, knows: knowing(intent, learned) }).verdict;
}

describe("a choice is for the kind of act that the request names", () => {
  it.each([
    ["Add Kim to the Billing group", "delete_member", "ask"],
    ["Add Kim to the Billing group", "add_member", "allow"],
    ["Please remove Kim from the group", "delete_member", "allow"],
    ["Tell me about Kim", "cancelOrder", "ask"],
    ["Cancelling is fine for Kim", "cancelOrder", "allow"],
    ["Pay Kim what I owe", "send_money", "allow"],
    ["Look at Kim", "frobnicate", "allow"],
    ["Reserve a seat for Kim", "cancel_reservation", "ask"],
    ["Write an email to Kim", "email_delete", "ask"],
    ["Füge Kim zur Gruppe hinzu", "delete_member", "ask"],
  ])("%s: %s → %s", (request, name, verdict) => {
    expect(verdictFor(request, name, { who: "Kim" })).toBe(verdict);
  });

  it.each([
    ["rescheduled", "change"],
    ["copies were removed", "remove"],
    ["cancelled", "remove"],
    ["a payment", "pay"],
    ["replies", "tell"],
  ] as const)("reads the inflected words of %s", (text, act) => {
    expect([...actsIn(text)]).toContain(act);
  });

  it("knows no act where no word is one", () => {
    expect([...actsOfTool("open_page")]).toEqual([]);
  });
});

describe("an allow over single arguments", () => {
  const rule = allow("send").when(arg("to").each(boundToIntent("email")));
  const judged = policy({ name: "p", rules: [rule] });
  const toAda = { to: "ada@x.com" };
  const callWith = (args: JsonObject, fields = ["to", "cc"]): ReturnType<typeof callOf> => ({
    ...callOf({ arguments: args, bound: ["ada@x.com", "eve@evil.com"] }),
    arguments: args,
    fields: new Set(fields),
  });

  it("does not let through what the schema never named", () => {
    expect(judged(callWith(toAda)).verdict).toBe("allow");
    expect(judged(callWith({ ...toAda, bcc: "eve@evil.com" })).verdict).toBe("deny");
    expect(judged(callWith({ ...toAda, cc: "eve@evil.com" })).verdict).toBe("allow");
  });

  it("does where a condition of the rule is about it, or the policy lists it", () => {
    const both = policy({ name: "p", rules: [allow("send").when(arg("bcc.to").is(oneOf("x")))] });
    expect(both(callWith({ bcc: { to: "x" } })).verdict).toBe("allow");
    const listed = policy({ name: "p", rules: [rule], tools: { send: { parameters: { bcc: "content" } } } });
    expect(listed(callWith({ ...toAda, bcc: "x" })).verdict).toBe("allow");
  });

  it("is said by lint where the schema is open", () => {
    const inputSchema = { type: "object", properties: { to: { type: "string" } } };
    const open = tool({ name: "send", description: "", inputSchema, execute: () => "" });
    const closed = tool({
      name: "send",
      description: "",
      inputSchema: { ...inputSchema, additionalProperties: false },
      execute: () => "",
    });
    expect(judged.lint([open]).map(({ type }) => type)).toEqual(["open-schema"]);
    expect(judged.lint([closed])).toEqual([]);
  });
});
