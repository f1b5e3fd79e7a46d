import { describe, expect, it } from "vitest";
import { draftEffect } from "../../../src/policy/study/draft-effects.ts";
import { draftParameters } from "../../../src/policy/study/draft-parameters.ts";
import { type DraftedTool, draftPolicy } from "../../../src/policy/study/draft.ts";
import { policyFromJson } from "../../../src/policy/study/policy.ts";
import type { Json } from "../../../src/util/json.ts";

describe("the effect of a draft", () => {
  it.each([
    ["get_user", "", "read"],
    ["listOrders", "", "read"],
    ["notes/search", "", "read"],
    ["email_search", "", "read"],
    ["order_status", "Returns the status of an order.", "read"],
    ["create_event", "Creates an event.", "write"],
    ["create_event", "Creates an event. It will also email the participants.", "irreversible"],
    ["get_and_delete", "", "irreversible"],
    ["get_messages", "Deletes what was read and returns it.", "irreversible"],
    ["update_card", "", "write"],
    ["message_send", "", "irreversible"],
    ["post", "", "irreversible"],
    ["refunds_process", "Refunds an order.", "irreversible"],
    ["frobnicate", "Does it.", undefined],
    ["", "", undefined],
  ])("of %s (%s) is %s", (name, description, effect) => {
    const drafted = draftEffect(name, description);
    expect(drafted.effect).toBe(effect);
    expect(drafted.because).not.toBe("");
  });
});

const roleOf = (name: string, schema: Json, others: Record<string, Json> = {}): string => {
  const [first] = draftParameters({ type: "object", properties: { [name]: schema, ...others } });
  return `${first?.role}${first?.type === undefined ? "" : ` ${first.type}`}`;
};
const text = { type: "string" };

describe("the parameters of a draft", () => {
  it.each<[string, Json, string]>([
    ["to", { type: "array", items: { type: "string", format: "email" } }, "target email"],
    ["recipients", { ...text, description: "The email addresses of the recipients" }, "target email"],
    ["recipient", { ...text, description: "IBAN of the recipient" }, "target iban"],
    ["homepage", { anyOf: [{ type: "null" }, { ...text, format: "uri" }] }, "target url"],
    ["url", text, "target url"],
    ["phone_number", text, "target phone"],
    ["order_id", text, "id identifier"],
    ["ticket", { $ref: "#/$defs/none" }, "target"],
    ["amount", { type: "number" }, "amount number"],
    ["copies", { type: "integer" }, "amount number"],
    ["email_body", text, "content"],
    ["subject", text, "content"],
    ["message", { type: "array", items: { type: "object" } }, "target"],
    ["user", text, "target"],
    ["due_date", text, "target date"],
    ["urgent", { type: "boolean" }, "target"],
  ])("take %s %j for %s", (name, schema, role) => {
    expect(roleOf(name, schema)).toBe(role);
  });

  it("say how and when where another says whom; a power is more than that", () => {
    expect(roleOf("urgent", { type: "boolean" }, { to: text })).toBe("content");
    expect(roleOf("due_date", text, { to: text })).toBe("content");
    expect(roleOf("permission", { enum: ["read", "write"] }, { to: text })).toBe("target");
  });
});

const tool = (
  name: string,
  properties: Record<string, Json> = {},
  more: Partial<DraftedTool> = {},
): DraftedTool => ({
  name,
  description: "",
  schema: { type: "object", properties },
  ...more,
});

describe("a drafted policy", () => {
  it("trusts nothing that nobody answered for, gives each line a reason, and can be used", async () => {
    const { policy, lines } = await draftPolicy("post", [tool("read_mail"), tool("send_mail", { to: text })]);
    expect(policy).toEqual({
      name: "post",
      rules: "guarded",
      tools: {
        read_mail: { effect: "read" },
        send_mail: { effect: "irreversible", parameters: { to: "target" } },
      },
    });
    expect(policyFromJson(JSON.stringify(policyFromJson(policy))).toJSON()).toEqual(policy);
    expect(lines.map(({ because }) => because)).not.toContain("");
    expect(lines.filter((line) => line.tool === "send_mail")).toHaveLength(2);
  });

  it("says what the answers say", async () => {
    const own = { isStrangers: false, isPrivate: true, goesOut: false };
    const { policy } = await draftPolicy("p", [tool("list_rooms", { name: text })], () =>
      Promise.resolve(own),
    );
    expect(policy.tools).toEqual({ list_rooms: { effect: "read", trusted: true, secrecy: "private" } });
  });

  it("takes a look at an address for telling it to somebody", async () => {
    const { policy } = await draftPolicy("p", [tool("get_page", { url: text })]);
    const page = policyFromJson(policy);
    const call = (intent: string): string =>
      page.test([
        {
          tool: "get_page",
          arguments: { url: "https://a.example/?x=1" },
          intent,
          untrusted: true,
          expect: "allow",
        },
      ]).failed[0]?.decision.verdict ?? "allow";
    expect(call("Summarise my mail")).toBe("ask");
    expect(call("Read https://a.example/?x=1 to me")).toBe("allow");
  });

  it("does not repeat what the author of a tool says", async () => {
    const said = { effect: "irreversible", parameters: { to: "target" } } as const;
    const { policy } = await draftPolicy("p", [tool("list_them", { to: text, body: text }, { said })]);
    expect(policy.tools).toEqual({ list_them: { parameters: { body: "content" } } });
  });
});
