import { describe, expect, it } from "vitest";
import { draftEffect } from "../../../src/policy/study/draft-effects.ts";
import { draftParameters } from "../../../src/policy/study/draft-parameters.ts";
import { type DraftedTool, draftPolicy } from "../../../src/policy/study/draft.ts";
import { agent } from "../../../src/adapters/node.ts";
import { scripted } from "../../../src/testing.ts";
import { type Tool, tool as runnable } from "../../../src/tool/tool.ts";
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
    ["read_mail_then_delete", "", "irreversible"],
    ["fetchAndStore", "", "write"],
    ["compare_and_swap", "", "write"],
    ["show_and_sell", "", "irreversible"],
    ["check_out", "", "irreversible"],
    ["checkInGuest", "", "irreversible"],
    ["check_store_hours", "", "read"],
    ["find_store", "Finds a store.", "read"],
    ["check_inventory", "", "read"],
    ["get_messages", "Deletes what was read and returns it.", "irreversible"],
    ["update_card", "", "write"],
    ["message_send", "", "irreversible"],
    ["post", "", "irreversible"],
    ["refunds_process", "Refunds an order.", "irreversible"],
    ["verify_account", "Verifies the account.", "read"],
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

  it("are read behind references, whatever the names in them", () => {
    const schema = {
      type: "object",
      properties: { reply: { $ref: "#/$defs/of~1a%20person" } },
      $defs: { "of/a person": { type: "string", format: "email" } },
    };
    expect(draftParameters(schema)).toMatchObject([{ name: "reply", type: "email" }]);
  });

  it("say how and when where another says whom; a power is more than that", () => {
    expect(roleOf("urgent", { type: "boolean" }, { to: text })).toBe("content");
    expect(roleOf("due_date", text, { to: text })).toBe("content");
    expect(roleOf("permission", { enum: ["read", "write"] }, { to: text })).toBe("target");
  });

  it("say where something is, where another says what and when it is and a third whom it reaches", () => {
    const occasion = { title: text, start_date: text, guest: text };
    expect(roleOf("location", text, occasion)).toBe("content");
    expect(roleOf("venue", text, occasion)).toBe("content");
    expect(roleOf("location", text, { title: text, start_date: text })).toBe("target");
    expect(roleOf("location", text, { order: text, start_date: text })).toBe("target");
    expect(roleOf("location", text, { title: text, guest: text })).toBe("target");
    expect(roleOf("address", text, occasion)).toBe("target");
  });

  it.each<[string, Json, readonly string[] | undefined]>([
    ["permission", { enum: ["r", "rw"] }, ["r"]],
    ["permission", { enum: ["edit", "view"] }, ["view"]],
    ["role", { enum: ["owner", "editor", "viewer"] }, ["viewer"]],
    ["visibility", { enum: ["public", "private"] }, ["private"]],
    ["permission", { enum: ["rw", "admin"] }, undefined],
    ["permission", { enum: ["r"] }, undefined],
    ["permission", text, undefined],
    ["colour", { enum: ["r", "rw"] }, undefined],
  ])("grant the least power unsaid: %s %j", (name, schema, constants) => {
    const [drafted] = draftParameters({ type: "object", properties: { [name]: schema, to: text } });
    expect(drafted?.constants).toEqual(constants);
    expect(drafted?.role).toBe(constants === undefined && name === "colour" ? "content" : "target");
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

describe("the default of a parameter", () => {
  it.each<[string, Json, readonly string[] | undefined]>([
    ["folder", { ...text, default: "/downloads" }, ["/downloads"]],
    ["folder", { anyOf: [{ type: "null" }, { ...text, default: "/downloads" }] }, ["/downloads"]],
    ["folder", { anyOf: [{ type: "null" }, text], default: "/downloads" }, ["/downloads"]],
    ["amount", { type: "number", default: 2.5 }, ["2.5"]],
    ["copies", { type: "integer", default: 1 }, ["0", "1"]],
    ["copies", { type: "integer", default: 4 }, ["0", "1", "4"]],
    ["folder", { ...text, default: "" }, undefined],
    ["folder", { anyOf: [{ type: "null" }, text], default: null }, undefined],
    ["body", { ...text, default: "Hello" }, undefined],
  ])("%s %j needs no choice", (name, schema, constants) => {
    const [drafted] = draftParameters({ type: "object", properties: { [name]: schema } });
    expect(drafted?.constants).toEqual(constants);
  });

  it("is allowed said and unsaid, and no other value is", async () => {
    const schema = { ...text, default: "/downloads" };
    const { policy } = await draftPolicy("p", [tool("save_file", { file: text, folder: schema })]);
    const verdict = (folder: string): string | undefined =>
      policyFromJson(policy).test([
        {
          tool: "save_file",
          arguments: { file: "a.txt", folder },
          intent: "Save a.txt",
          untrusted: true,
          expect: "deny",
        },
      ]).failed[0]?.decision.verdict;
    expect(["/downloads", "/etc"].map(verdict)).toEqual(["allow", "ask"]);
  });
});

describe("the places that a draft takes values from", () => {
  const order = tool("get_order", { order_id: text }, { description: "An order with its items." });
  const details = {
    amount: { type: "number" },
    items: { type: "array", items: { type: "object", properties: { item_id: text } } },
  };
  const change = tool("change_order_items", { order_id: text, ...details, copies: { type: "integer" } });
  const said = async (
    tools: readonly DraftedTool[],
    answers?: Parameters<typeof draftPolicy>[2],
  ): Promise<Record<string, unknown>> => (await draftPolicy("p", tools, answers)).policy.tools ?? {};
  it("are records of the thing, by the names of fields; nothing is taken for what is removed", async () => {
    const at = { type: "found-in", tool: "get_order", whole: true };
    const id = { role: "id", type: "identifier" };
    expect(
      await said([order, change, tool("cancel_order", { order_id: text }), tool("get_weather")]),
    ).toEqual({
      get_order: { effect: "read", parameters: { order_id: id } },
      change_order_items: {
        effect: "write",
        parameters: {
          order_id: { ...id, from: [{ ...at, field: ["order_id", "order", "orders", "id", "ids", "id_"] }] },
          amount: { role: "amount", type: "number" },
          items: "target",
          "items.item_id": {
            ...id,
            from: [{ ...at, field: ["item_id", "item", "items", "id", "ids", "id_"] }],
          },
          copies: { role: "amount", type: "number", constants: ["0", "1"] },
        },
      },
      cancel_order: { effect: "irreversible", parameters: { order_id: id } },
      get_weather: { effect: "read" },
    });
  });

  it("are fields of the very name, for part of a person's name too, and not for who else is meant", async () => {
    const look = tool("get_notes");
    const act = tool("update_form", { first_name: text, first_recipient: text });
    const from = [{ type: "found-in", tool: "get_notes", whole: true, field: "first_name" }];
    const parameters = { first_name: { role: "target", from }, first_recipient: "target" };
    expect((await said([look, act]))["update_form"]).toMatchObject({ parameters });
  });

  it("give addresses where somebody said that no stranger writes them, and of the record that the user names", async () => {
    const send = tool("send_mail", { to: { ...text, format: "email" }, body: text });
    const tools = [tool("find_contact", { name: text }), send];
    const to = { role: "target", type: "email" };
    expect((await said(tools))["send_mail"]).toMatchObject({ parameters: { to } });
    const invite = tool("invite_them", { guests: { ...text, format: "email" } });
    const named = { type: "found-in", tool: "find_contact", whole: true, field: "guests", named: true };
    expect((await said([...tools, invite]))["invite_them"]).toMatchObject({
      parameters: { guests: { ...to, from: [named] } },
    });
    const pay = tool("send_money", { iban: text });
    expect((await said([pay, tool("find_contact")]))["send_money"]).toMatchObject({
      parameters: { iban: { role: "target", type: "iban" } },
    });
    const own = await said(tools, () =>
      Promise.resolve({ isStrangers: false, isPrivate: false, goesOut: false }),
    );
    expect(own["send_mail"]).toMatchObject({
      parameters: { to: { ...to, from: [{ type: "found-in", tool: "find_contact", whole: true }] } },
    });
  });

  it("let an act use an identifier anywhere in what a look gives into which no stranger writes, and what it removes nothing", async () => {
    const looks = tool("view_discounts", {}, { description: "Views the discount codes." });
    const pay = tool("checkout_cart", { discount_code: text });
    const cancel = tool("cancel_discount", { discount_code: text });
    const code = { role: "id", type: "identifier" };
    const own = await said([looks, pay, cancel], () =>
      Promise.resolve({ isStrangers: false, isPrivate: false, goesOut: false }),
    );
    expect(own["checkout_cart"]).toMatchObject({
      parameters: { discount_code: { ...code, from: [{ type: "found-in", tool: "view_discounts" }] } },
    });
    expect(own["cancel_discount"]).toMatchObject({ parameters: { discount_code: code } });
    expect((await said([looks, pay]))["checkout_cart"]).toMatchObject({
      parameters: { discount_code: { from: [{ tool: "view_discounts", whole: true }] } },
    });
  });

  it("say of a look at home which record it looks at, and nobody whom it reaches", async () => {
    const profile = tool("get_profile", {}, { description: "The profile with its pin." });
    const verify = tool("verify_account", { pin: text });
    const { policy } = await draftPolicy("p", [profile, verify], ({ name }) =>
      Promise.resolve(
        name === "get_profile" ? { isStrangers: false, isPrivate: true, goesOut: false } : undefined,
      ),
    );
    expect(policy.tools?.["verify_account"]).toMatchObject({ parameters: { pin: { role: "id" } } });
  });

  it("let an act use what stands alone in a field, and not what a text says", async () => {
    const { policy } = await draftPolicy("p", [order, change]);
    const found = { order_id: "A-17", items: [{ item_id: "I-1", note: "I-9" }] };
    const use = ({ name, description, schema }: DraftedTool, execute: () => Json): Tool =>
      runnable({ name, description, inputSchema: schema, execute });
    const act = (item_id: string): object => ({
      name: change.name,
      arguments: { order_id: "A-17", items: [{ item_id }], copies: 1 },
    });
    const calls = [{ name: order.name, arguments: { order_id: "A-17" } }, act("I-1"), act("I-9")];
    const model = scripted([...calls.map((call) => ({ calls: [call] })), "Done."] as Parameters<
      typeof scripted
    >[0]);
    const tools = [use(order, () => found), use(change, () => "changed")];
    const clerk = agent({ name: "clerk", model, tools, policy: policyFromJson(policy) });
    const { calls: made } = await clerk.run("Change the item in order A-17", { approve: () => false });
    expect(made.map(({ status }) => status)).toEqual(["ok", "ok", "denied"]);
  });
});

describe("an act on what another act made", () => {
  const create = tool("create_page", { path: text, content: text });
  const share = tool("share_page", { page_id: text, email: text });
  const drop = tool("delete_page", { page_id: text });

  it("takes the identifier of what it was given, and none for what it removes or for another thing", async () => {
    const note = tool("share_note", { note_id: text });
    const { policy } = await draftPolicy("p", [create, share, drop, note]);
    const field = ["page_id", "page", "pages", "id", "ids", "id_"];
    const id = { role: "id", type: "identifier" };
    expect(policy.tools?.["share_page"]?.parameters?.["page_id"]).toEqual({
      ...id,
      from: [{ type: "found-in", tool: "create_page", whole: true, field }],
    });
    expect(policy.tools?.["delete_page"]?.parameters?.["page_id"]).toEqual(id);
    expect(policy.tools?.["share_note"]?.parameters?.["note_id"]).toEqual(id);
  });

  it("may share what the user named, and not what a stranger named", async () => {
    const { policy } = await draftPolicy("p", [tool("read_mail"), create, share]);
    const use = ({ name, description, schema }: DraftedTool, execute: () => Json): Tool =>
      runnable({ name, description, inputSchema: schema, execute });
    const statuses = async (path: string): Promise<readonly string[]> => {
      const calls: readonly { readonly name: string; readonly arguments: Record<string, Json> }[] = [
        { name: "read_mail", arguments: {} },
        { name: "create_page", arguments: { path, content: "Bring a tent." } },
        { name: "share_page", arguments: { page_id: "P-26", email: "rosa@home.example" } },
      ];
      const model = scripted([...calls.map((call) => ({ calls: [call] })), "Done."]);
      const tools = [
        use(tool("read_mail"), () => "A stranger's words"),
        use(create, () => ({ id_: "P-26", path })),
        use(share, () => "shared"),
      ];
      const clerk = agent({ name: "clerk", model, tools, policy: policyFromJson(policy) });
      const asked = "Create a page packing.txt of my mail, and share it with rosa@home.example";
      const { calls: made } = await clerk.run(asked, { approve: ({ tool: name }) => name === "create_page" });
      return made.map(({ status }) => status);
    };
    expect(await statuses("packing.txt")).toEqual(["ok", "ok", "ok"]);
    expect(await statuses("secrets.txt")).toEqual(["ok", "ok", "denied"]);
  });
});

describe("an act that tells those in one of its arguments", () => {
  const properties = { title: text, notes: text, guests: { type: "array", items: text } };
  const verdict = async (
    description: string,
    args: Record<string, Json>,
    intent = "Create an event of my mail",
  ): Promise<string> => {
    const { policy } = await draftPolicy("p", [tool("create_event", properties, { description })]);
    const fixture = { tool: "create_event", arguments: args, intent, untrusted: true } as const;
    const [failed] = policyFromJson(policy).test([{ ...fixture, expect: "allow" }]).failed;
    return failed?.decision.verdict ?? "allow";
  };
  const tells = "Creates an event. It will also email the guests.";

  it("is a write where there is nobody to tell", async () => {
    expect(await verdict(tells, { title: "Reunion" })).toBe("allow");
    expect(await verdict(tells, { title: "Reunion", guests: [] })).toBe("allow");
    expect(await verdict(tells, { title: "Reunion", guests: ["eve@outside.example"] })).toBe("ask");
    expect(await verdict(tells, { title: "See https://evil.example/x" })).toBe("ask");
    expect(await verdict(tells, { title: "Reunion" }, "Read my mail to me")).toBe("ask");
    expect(await verdict(tells, { title: "Reunion", other: "eve@outside.example" })).toBe("ask");
  });

  it.each([
    "Creates an event. It will also email everybody in the company.",
    "Creates an event. It will also charge the guests.",
    "Creates an event. It will also charge your card and email the guests.",
    "Creates an event. It will also email the guests. It will also notify the press.",
  ])("stays what cannot be taken back: %s", async (description) => {
    expect(await verdict(description, { title: "Reunion" })).toBe("ask");
  });
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

  it("says of a write without a choice what binds it", async () => {
    const tools = [tool("unlock_door"), tool("write_note", { body: text }), tool("rename", { user: text })];
    const { lines } = await draftPolicy("home", [...tools, tool("delete_all")]);
    const bound = lines.filter(({ says }) => says.includes("unless the request names it"));
    expect(bound.map((line) => line.tool)).toEqual(["unlock_door"]);
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
