import { describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";
import { actsIn, actsOfTool } from "../../../src/policy/values/acts.ts";
import { noIntent } from "../../../src/policy/knowledge/intent.ts";
import { knowing, learnIntent } from "../../../src/policy/knowledge/learned.ts";
import { untrustedFrom } from "../../../src/message/label.ts";
import type { Policy } from "../../../src/policy/decision.ts";
import {
  all,
  any,
  arg,
  boundToIntent,
  oneOf,
  requested,
  roles,
  untrusted,
} from "../../../src/policy/rules/conditions.ts";
import type { Condition } from "../../../src/policy/rules/rule.ts";
import { allow } from "../../../src/policy/rules/builders.ts";
import { guarded } from "../../../src/policy/study/guarded.ts";
import { policy, policyFromJson, type PolicyOptions } from "../../../src/policy/study/policy.ts";
import { type Effect, tool } from "../../../src/tool/tool.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { callOf } from "./rules-scene.ts";

interface Made {
  readonly args: JsonObject;
  readonly effect?: Effect;
  readonly judged?: Policy;
}

/** What a policy, `guarded()` by default, says of an effectful call after a stranger's words. */
function verdictFor(
  request: string,
  name: string,
  { args, effect = "irreversible", judged = guarded() }: Made,
): string {
  const intent = { ...noIntent("a"), text: request };
  const learned = learnIntent(intent, { tools: new Map() }, untrustedFrom("tool/inbox"));
  const parameters = { who: { role: "target", type: "text" }, note: "content" } as const;
  const call = callOf({ tool: name, arguments: args, effect, parameters });
  return judged({ ...call, arguments: args, knows: knowing(intent, learned) }).verdict;
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
    expect(verdictFor(request, name, { args: { who: "Kim" } })).toBe(verdict);
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

describe("a write that acts on nothing that could be chosen", () => {
  it.each([
    ["Please unlock my front door", "unlock_door", "allow"],
    ["The front door must be unlocked", "AugustSmartLockUnlockDoor", "allow"],
    ["Who was at the door?", "unlock_door", "ask"],
    ["Lock the front door", "unlock_door", "ask"],
    ["Unlock my account", "unlock_door", "ask"],
    ["Disable the two-factor authentication", "NortonDisableTwoFactorAuthentication", "allow"],
    ["Disable the newsletter", "NortonDisableTwoFactorAuthentication", "ask"],
    ["Read my mail", "home/disable_alarm", "ask"],
    ["Turn on the alarm", "turn_off_alarm", "ask"],
    ["Turn the alarm off", "turn_off_alarm", "allow"],
    ["Change my e-mail address", "reset_settings", "ask"],
    ["Change the settings back", "reset_settings", "allow"],
    ["Pause", "pause", "allow"],
    ["What is the sum? Note it", "write_note", "allow"],
    ["What is the sum?", "write_note", "ask"],
    ["Frobnicate the lamp", "frobnicate_lamp", "allow"],
    ["Look at the lamp", "frobnicate_lamp", "ask"],
    ["Entsperre die Tür", "unlock_door", "ask"],
  ])("%s: %s → %s", (request, name, verdict) => {
    expect(verdictFor(request, name, { args: {}, effect: "write" })).toBe(verdict);
  });

  it("asks where it cannot be taken back, whatever the request says", () => {
    for (const effect of ["irreversible", "undeclared"] as const)
      expect(verdictFor("Please unlock my front door", "unlock_door", { args: {}, effect })).toBe("ask");
  });

  it("needs no words for what it acts on where the user chose that", () => {
    expect(verdictFor("Kim is at the door", "unlock_door", { args: { who: "Kim" }, effect: "write" })).toBe(
      "allow",
    );
  });

  it("is bound by `requested({ exactly: true })` in rules of one's own, and in JSON", () => {
    const mine = policy({ name: "p", rules: [allow("unlock_door").when(requested({ exactly: true }))] });
    const again = policyFromJson(JSON.stringify(mine));
    for (const judged of [mine, again]) {
      expect(verdictFor("Unlock the door", "unlock_door", { args: {}, effect: "write", judged })).toBe(
        "allow",
      );
      expect(verdictFor("Who is there?", "unlock_door", { args: {}, effect: "write", judged })).toBe("deny");
    }
    expect(JSON.stringify(requested())).toBe('{"type":"requested"}');
  });

  it("is said by lint where a rule judges arguments that it has none of", () => {
    const inputSchema = { type: "object", properties: {} };
    const unlock = tool({ name: "unlock", description: "", inputSchema, effect: "write", execute: () => "" });
    const look = tool({ name: "look", description: "", inputSchema, effect: "read", execute: () => "" });
    const chosen = roles("target", "id").are(boundToIntent());
    const types = (when: Condition, annotations: PolicyOptions["tools"] = {}): string[] =>
      policy({ name: "p", rules: [allow("*").when(when)], tools: annotations })
        .lint([unlock, look])
        .map(({ type, text }) => `${type} ${text.split(" ", 1)[0] ?? ""}`);
    expect(types(chosen)).toEqual(['no-arguments "unlock"']);
    expect(types(any(untrusted(), chosen))).toEqual(['no-arguments "unlock"']);
    expect(types(all(chosen, requested({ exactly: true })))).toEqual([]);
    expect(types(chosen, { unlock: { effect: "read" } })).toEqual([]);
    expect(types(chosen, { look: { effect: "write" } })).toEqual([
      'no-arguments "unlock"',
      'no-arguments "look"',
    ]);
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

  it("does not let through what only a field within an argument is named", async () => {
    const text = { type: "string" } as const;
    const person = { type: "object", properties: { email: text } } as const;
    const send = tool({
      name: "send",
      description: "",
      inputSchema: { type: "object", properties: { to: person }, anyOf: [{ properties: { cc: text } }] },
      effect: "write",
      execute: () => "sent",
    });
    const named = allow("send").when(arg("to.email").is(oneOf("ada@x.com")));
    const to = { email: "ada@x.com" };
    const called = async (args: JsonObject): Promise<string | undefined> => {
      const model = scripted([{ calls: [{ name: "send", arguments: args }] }, "Done."]);
      const given = policy({ name: "p", rules: [named] });
      const { transcript } = await agent({ name: "a", model, tools: [send], policy: given }).run("x");
      return transcript.messages.flatMap((message) => (message.role === "tool" ? [message.status] : []))[0];
    };
    expect(await called({ to })).toBe("ok");
    expect(await called({ to, cc: "x" })).toBe("ok");
    expect(await called({ to, email: "eve@evil.com" })).toBe("denied");
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
