import {
  agent,
  type Agent,
  allow,
  ask,
  type Budget,
  deny,
  exec,
  guarded,
  limit,
  net,
  type Policy,
  policy,
  skill,
} from "../../../../src/index.ts";
import {
  absent,
  all,
  any,
  arg,
  boundToIntent,
  effect,
  foundIn,
  hostIn,
  narrowed,
  not,
  oneOf,
  roles,
  strict,
  untrusted,
  within,
} from "../../../../src/policy.ts";
import { fakeTool, type FakeToolOptions, type Sentence } from "../../../../src/testing.ts";
import type { Tool } from "../../../../src/tool/tool.ts";
import type { JsonObject } from "../../../../src/util/json.ts";

/** A mistake of an author: the agent has it in `broken`, and not in `sound`. */
export interface Hole {
  readonly sentence: Sentence;
  readonly broken: Agent<string>;
  readonly sound: Agent<string>;
}

const fields = (properties: JsonObject): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const text = { type: "string" } as const;
const email = { type: "string", format: "email" } as const;

const make = (name: string, properties: JsonObject, more: FakeToolOptions): Tool =>
  fakeTool(name, "", { inputSchema: fields(properties), ...more });

const readMail = make("read_mail", {}, { effect: "read" });
const trustedMail = make("read_mail", {}, { effect: "read", trusted: true });
const secrets = make("read_secret", {}, { effect: "read", secrecy: "private", trusted: true });
const send = make(
  "send_mail",
  { to: email, text },
  { effect: "irreversible", parameters: { to: "target", text: "content" } },
);
const refund = make("refund", { order: text, amount: { type: "number" } }, { effect: "irreversible" });
const remove = make("delete_file", { path: text }, { effect: "irreversible" });
const wire = make("wire", { iban: text }, { effect: "irreversible" });
const rooms = make("list_rooms", {}, { effect: "read" });

const clerk = (tools: readonly Tool[], own?: Policy, budget?: Budget): Agent<string> =>
  agent({
    name: "clerk",
    model: () => "",
    tools,
    ...(own === undefined ? {} : { policy: own }),
    ...(budget === undefined ? {} : { budget }),
  });
const rules = (...list: Parameters<typeof policy>[0]["rules"][]): Policy =>
  policy({ name: "own", rules: list.flat() as never });
const free = (...names: readonly string[]): Policy => rules([allow(...names)]);

const givenAfterMail = { type: "given", tools: ["send_mail"], after: ["read_mail"] } as const;
const toTheNamed = { type: "given", tools: ["send_mail"], arguments: ["to"] } as const;
const neverAlone = (name: string): Sentence => ({ type: "never", tools: [name], without: "person" });
const once = (name: string): Sentence => ({ type: "at-most", times: 1, tools: [name] });

const invite = (own: Policy): Agent<string> => {
  const event = fields({ title: text, participants: { type: "array", items: email } });
  return clerk([readMail, make("invite", { event }, { effect: "write" })], own);
};
const copied = (own: Policy): Agent<string> =>
  clerk([make("send_mail", { to: email, cc: email }, { effect: "irreversible" })], own);
const seated = (from: readonly ReturnType<typeof foundIn>[]): Agent<string> => {
  const search = make("search", { id: text }, { effect: "read" });
  const book = make(
    "book_seat",
    { seat: text },
    { effect: "write", parameters: { seat: { role: "id", type: "identifier", from } } },
  );
  return clerk([search, book], guarded());
};
const sharing = (role: "content" | "target"): Tool =>
  make(
    "share_file",
    { file: text, with: email },
    { effect: "write", parameters: { file: "id", with: role } },
  );
const skilled = (more: readonly Tool[], budget: Budget = {}): Agent<string> =>
  agent({
    name: "clerk",
    model: () => "",
    skills: [
      skill({ name: "reading", description: "", tools: [readMail, ...more] }),
      skill({ name: "paying", description: "", tools: [refund] }),
    ],
    budget,
  });
const auto = (...autoTools: readonly Tool[]): Agent<string> =>
  agent({
    name: "clerk",
    model: () => "",
    autoTools,
    skills: [
      skill({ name: "reading", description: "", tools: [readMail] }),
      skill({ name: "filing", description: "", tools: [remove] }),
    ],
  });
const reaching = (need: ReturnType<typeof net> | ReturnType<typeof exec>): Agent<string> =>
  agent({
    name: "clerk",
    model: () => "",
    tools: [{ ...readMail, needs: [need] }],
    grants: [net("*"), exec("git")],
  });
const bounded = (budget: Budget): Agent<string> => clerk([readMail], undefined, budget);
const counted = (maxCalls: number): Agent<string> =>
  clerk([{ ...refund, constraints: { maxCalls } }], free("refund"));

/** A mistake each, by what it is. */
export const holes: Readonly<Record<string, Hole>> = {
  "nobody is asked before a mail goes out": {
    sentence: neverAlone("send_mail"),
    broken: clerk([readMail, send]),
    sound: clerk([readMail, send], rules([ask("send_mail")])),
  },
  "a rule allows whatever the address is": {
    sentence: givenAfterMail,
    broken: clerk([readMail, send], free("send_mail")),
    sound: clerk([readMail, send], guarded()),
  },
  "an address is called content": {
    sentence: { type: "given", tools: ["share_file"], arguments: ["with"], after: ["read_mail"] },
    broken: clerk([readMail, sharing("content")], guarded()),
    sound: clerk([readMail, sharing("target")], guarded()),
  },
  "mails of strangers are called trusted": {
    sentence: givenAfterMail,
    broken: clerk([trustedMail, send], guarded()),
    sound: clerk([readMail, send], guarded()),
  },
  "a list is trusted where its entries have a form, and says nothing to bind an address to": {
    sentence: { type: "given", tools: ["send_mail"], arguments: ["to"], after: ["list_rooms"] },
    broken: clerk([rooms, send], guarded({ tools: { list_rooms: { trusted: { of: "identifier" } } } })),
    sound: clerk([rooms, send], guarded()),
  },
  "the copy is not looked at": {
    sentence: { type: "given", tools: ["send_mail"] },
    broken: copied(rules([allow("send_mail").when(arg("to").is(boundToIntent("email")))])),
    sound: copied(
      rules([
        allow("send_mail").when(
          all(arg("to").is(boundToIntent("email")), arg("cc").is(boundToIntent("email"))),
        ),
      ]),
    ),
  },
  "a limit is missing": {
    sentence: once("refund"),
    broken: clerk([refund], free("refund")),
    sound: clerk([refund], rules([allow("refund"), limit("refund", { perRun: 1 })])),
  },
  "a limit is one too high": {
    sentence: once("refund"),
    broken: clerk([refund], rules([allow("refund"), limit("refund", { perRun: 2 })])),
    sound: clerk([refund], rules([allow("refund"), limit("refund", { perRun: 1 })])),
  },
  "small amounts need nobody": {
    sentence: neverAlone("refund"),
    broken: clerk(
      [refund],
      rules([
        allow("refund").when(arg("amount").is(within({ max: 50 }))),
        ask("refund").unless(arg("amount").is(within({ max: 50 }))),
      ]),
    ),
    sound: clerk([refund], rules([allow("refund"), ask("refund")])),
  },
  "amounts over the highest bound need nobody": {
    sentence: neverAlone("refund"),
    broken: clerk(
      [refund],
      rules([
        allow("refund").when(not(arg("amount").is(within({ max: 10_000 })))),
        ask("refund").when(arg("amount").is(within({ max: 10_000 }))),
      ]),
    ),
    sound: clerk(
      [refund],
      rules([ask("refund").when(arg("amount").is(within({ max: 10_000 }))), deny("refund")]),
    ),
  },
  "amounts over the highest bound need not be the user's": {
    sentence: { type: "given", tools: ["refund"], arguments: ["amount"] },
    broken: clerk(
      [refund],
      rules([
        allow("refund").when(
          any(arg("amount").is(boundToIntent()), not(arg("amount").is(within({ max: 10_000 })))),
        ),
      ]),
    ),
    sound: clerk([refund], rules([allow("refund").when(arg("amount").is(boundToIntent()))])),
  },
  "an exception is wider than was meant": {
    sentence: { ...givenAfterMail, arguments: ["to"] },
    broken: clerk(
      [readMail, send],
      guarded({ exceptions: [allow("send_mail").when(not(arg("to").is(oneOf("boss@home.example"))))] }),
    ),
    sound: clerk(
      [readMail, send],
      guarded({ exceptions: [allow("send_mail").when(arg("to").is(oneOf("boss@home.example")))] }),
    ),
  },
  "what forbids after strangers' words does not see them": {
    sentence: { type: "never", tools: ["delete_file"], after: ["read_mail"] },
    broken: clerk(
      [trustedMail, remove],
      rules([allow("delete_file"), deny("delete_file").when(untrusted())]),
    ),
    sound: clerk([readMail, remove], rules([allow("delete_file"), deny("delete_file").when(untrusted())])),
  },
  "a condition stands the wrong way round": {
    sentence: { type: "never", tools: ["wire"], after: ["read_mail"] },
    broken: clerk([readMail, wire], rules([allow("wire"), deny("wire").unless(untrusted())])),
    sound: clerk([readMail, wire], rules([allow("wire"), deny("wire").when(untrusted())])),
  },
  "a skill lists a tool too many": {
    sentence: { type: "never", tools: ["refund"], skills: ["reading"] },
    broken: skilled([refund]),
    sound: skilled([]),
  },
  "a tool of the agent is in every skill": {
    sentence: { type: "never", tools: ["delete_file"], skills: ["reading"] },
    broken: auto(remove),
    sound: auto(),
  },
  "any host can be reached": {
    sentence: { type: "powers", within: ["net(api.home.example)"] },
    broken: reaching(net("*")),
    sound: reaching(net("api.home.example")),
  },
  "a program can be run": {
    sentence: { type: "powers", within: ["net(*)"] },
    broken: reaching(exec("git")),
    sound: reaching(net("api.home.example")),
  },
  "the bound of turns is the default": {
    sentence: { type: "bound", of: "turns", most: 3 },
    broken: bounded({}),
    sound: bounded({ turns: 3 }),
  },
  "the bound of calls is gone": {
    sentence: { type: "bound", of: "toolCalls", most: 5 },
    broken: bounded({ toolCalls: Infinity }),
    sound: bounded({ toolCalls: 5 }),
  },
  "dollars have no bound": {
    sentence: { type: "bound", of: "costUsd", most: 2 },
    broken: bounded({}),
    sound: bounded({ costUsd: 2, price: () => 0 }),
  },
  "tokens have no bound": {
    sentence: { type: "bound", of: "tokens", most: 10_000 },
    broken: bounded({}),
    sound: bounded({ tokens: 10_000 }),
  },
  "turns of an agent with several skills have a bound too high": {
    sentence: { type: "bound", of: "turns", most: 3 },
    broken: skilled([], { turns: 4 }),
    sound: skilled([], { turns: 3 }),
  },
  "tokens of an agent with several skills have no bound": {
    sentence: { type: "bound", of: "tokens", most: 10_000 },
    broken: skilled([]),
    sound: skilled([], { tokens: 10_000 }),
  },
  "hosts beneath the own one are let through": {
    sentence: { ...toTheNamed, hosts: ["home.example"] },
    broken: clerk(
      [send],
      rules([allow("send_mail").when(arg("to").each(hostIn("home.example", "*.home.example")))]),
    ),
    sound: clerk([send], rules([allow("send_mail").when(arg("to").each(hostIn("home.example")))])),
  },
  "one of two arguments is enough": {
    sentence: toTheNamed,
    broken: clerk(
      [send],
      rules([allow("send_mail").when(any(arg("to").is(boundToIntent()), arg("text").is(boundToIntent())))]),
    ),
    sound: clerk(
      [send],
      rules([allow("send_mail").when(all(arg("to").is(boundToIntent()), arg("text").is(boundToIntent())))]),
    ),
  },
  "whoever writes a record chooses the seat": {
    sentence: { type: "given", tools: ["book_seat"], after: ["search"] },
    broken: seated([foundIn("search", { whole: true, field: "seat" })]),
    sound: seated([]),
  },
  "what is secret may be sent": {
    sentence: { type: "apart", from: ["read_secret"], tools: ["send_mail"] },
    broken: clerk([secrets, send], guarded()),
    sound: clerk([secrets, send], rules([ask("send_mail")])),
  },
  "a constraint is too wide": { sentence: once("refund"), broken: counted(3), sound: counted(1) },
  "a limit counts each tool by itself": {
    sentence: { type: "at-most", times: 1, effects: ["irreversible"], without: "person" },
    broken: clerk(
      [refund, wire],
      rules([allow("*"), limit("refund", { perRun: 1 }), limit("wire", { perRun: 1 })]),
    ),
    sound: clerk([refund, wire], rules([allow("refund"), ask("wire"), limit("refund", { perRun: 1 })])),
  },
  "an effect is not declared": {
    sentence: { type: "never", tools: ["delete_file"], after: ["read_mail"], without: "person" },
    broken: clerk([readMail, make("delete_file", { path: text }, {})]),
    sound: clerk([readMail, remove]),
  },
  "the people within an event are not looked at": {
    sentence: { type: "given", tools: ["invite"], arguments: ["event.participants"], after: ["read_mail"] },
    broken: invite(rules([allow("invite").when(arg("event.title").is(boundToIntent("text")))])),
    sound: invite(rules([allow("invite").when(arg("event.participants").each(boundToIntent("email")))])),
  },
  "what is left out lets everything pass": {
    sentence: { type: "given", tools: ["send_mail"] },
    broken: copied(
      rules([allow("send_mail").when(any(arg("bcc").is(absent()), arg("to").is(boundToIntent())))]),
    ),
    sound: copied(rules([allow("send_mail").when(roles("target").are(boundToIntent()))])),
  },
  "two policies are put together, and neither asks": {
    sentence: neverAlone("wire"),
    broken: clerk([wire], narrowed(strict(), rules([allow("wire")]))),
    sound: clerk([wire], narrowed(strict(), rules([ask("*").when(effect("irreversible"))]))),
  },
};
