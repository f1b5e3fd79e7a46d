import fc from "fast-check";
import { isWritError } from "../../src/error/writ-error.ts";
import { readLabel } from "../../src/message/label.ts";
import { labelOfAll } from "../../src/message/message.ts";
import { readTranscript } from "../../src/message/read-transcript.ts";
import type { CallRequest } from "../../src/policy/decision.ts";
import { noIntent } from "../../src/policy/knowledge/intent.ts";
import { policyFromJson, type RulePolicy } from "../../src/policy/study/policy.ts";
import { capabilityText, parseCapabilities, parseCapability } from "../../src/tool/capability.ts";
import { tool, type Tool } from "../../src/tool/tool.ts";
import { lenientJson } from "../../src/util/lenient-json.ts";
import { type Json, parseJson } from "../../src/util/json.ts";
import type { Faults } from "./checks.ts";
import { anyJson, hostileNames, injections, rawArguments } from "./hostile.ts";
import { change, changed, type Change } from "./mutate.ts";
import { shown } from "./play-agent.ts";

/** Runs work that may refuse with errors of the catalogue alone. Gives what it gave, or undefined. */
function refusing<Value>(work: () => Value, faults: Faults, where: string): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (!isWritError(error)) faults.push(`${where} threw ${shown(error)}`);
    return undefined;
  }
}

/** A policy that somebody touched, and a call that is put to it. */
export interface PolicyScene {
  readonly base: number;
  readonly changes: readonly Change[];
  readonly tool: string;
  readonly args: Json;
  readonly label: Json;
  readonly effect: CallRequest["effect"];
}

const bases: readonly Json[] = [
  {
    name: "p",
    rules: "guarded",
    tools: { look: { effect: "read", trusted: true } },
    constants: ["me@example.com"],
  },
  {
    name: "p",
    rules: [
      {
        verdict: "allow",
        tools: ["look"],
        when: { type: "argument", path: "to", is: { type: "bound", as: "email" } },
      },
      {
        verdict: "ask",
        tools: ["*"],
        when: {
          type: "all",
          of: [{ type: "untrusted" }, { type: "not", of: { type: "calls", atLeast: 2 } }],
        },
      },
      {
        verdict: "deny",
        tools: ["pay"],
        unless: { type: "argument", path: "amount", is: { type: "within", min: 0, max: 10 } },
      },
      {
        verdict: "deny",
        tools: ["look"],
        when: { type: "unknown-links" },
        because: "links",
        show: ["to"],
        name: "n",
      },
    ],
  },
  {
    name: "p",
    rules: "strict",
    extraRules: [{ verdict: "deny", tools: ["pay"], when: { type: "secrecy-exceeds-targets" } }],
  },
];

export const policyScene: fc.Arbitrary<PolicyScene> = fc.record({
  base: fc.nat(2),
  changes: fc.array(change(anyJson), { maxLength: 2 }),
  tool: fc.constantFrom("look", "pay", "__proto__", "constructor", ...hostileNames),
  args: anyJson,
  label: fc.oneof(
    anyJson,
    fc.constantFrom<Json>(
      { integrity: "untrusted", secrecy: "private", sources: ["x"] },
      { integrity: "trusted", secrecy: { readers: [] }, sources: [] },
    ),
  ),
  effect: fc.constantFrom("none", "read", "write", "irreversible", "undeclared"),
});

export async function playPolicy({
  base,
  changes,
  tool: name,
  args,
  label,
  effect,
}: PolicyScene): Promise<Faults> {
  const faults: Faults = [];
  const json = changed(bases[base] ?? null, changes);
  const policy = refusing(() => policyFromJson(json), faults, "reading a policy");
  if (policy === undefined) return faults;
  const call: CallRequest = {
    agent: "a",
    skill: "s",
    turn: 1,
    callId: "c",
    tool: name,
    effect,
    arguments: args,
    parameters: { to: "target", body: "content", amount: { role: "amount", type: "number" } },
    knows: {
      intent: noIntent("a"),
      label: readLabel(label),
      isBound: () => false,
      isFound: () => false,
      asksFor: () => true,
      isKnownLink: () => false,
      calls: () => 1,
    },
  };
  const first = judge(policy, call, faults);
  const second = judge(policy, call, faults);
  if (first !== second) faults.push("a policy said two things of one call");
  const again = refusing(
    () => policyFromJson(JSON.parse(JSON.stringify(policy))),
    faults,
    "reading its JSON",
  );
  if (again === undefined || judge(again, call, faults) !== first)
    faults.push("a policy is not what its JSON says");
  const isEffect = effect !== "none" && effect !== "read";
  if (
    isEffect &&
    base === 1 &&
    changes.length === 0 &&
    !["look", "pay"].includes(name) &&
    /"verdict":"allow"/.test(first)
  )
    faults.push(`no rule allows ${name}, and it is allowed`);
  return faults;
}

function judge(policy: RulePolicy, call: CallRequest, faults: Faults): string {
  try {
    const decision = policy(call);
    if (!["allow", "ask", "deny"].includes(decision.verdict))
      faults.push(`the verdict is ${decision.verdict}`);
    for (const audience of ["model", "people"] as const)
      if (typeof policy.explain(decision, audience) !== "string") faults.push("an explanation is no text");
    return JSON.stringify(decision);
  } catch (error) {
    faults.push(`a policy threw ${shown(error)}`);
    return "";
  }
}

const capabilityParts = [
  "net",
  "fs.read",
  "fs.write",
  "env",
  "secret",
  "exec",
  "llm",
  "none",
  "NET",
  "__proto__",
  "constructor",
  "",
  "=",
  "==",
  ",",
  "*",
  "*.com",
  "*.example.com",
  "a.example",
  "A.Example.",
  "//evil",
  "https://u:p@a.example",
  "http://a.example:0",
  "a.example:65536",
  "a.example:99999",
  "127.1",
  "0x7f.1",
  "2130706433",
  "0.0.0.0",
  "[::]",
  "[::1]",
  "[fe80::1%25eth0]",
  "[::ffff:127.0.0.1]",
  "\\\\evil",
  "a\tb",
  "a\nb",
  "%2e%2e",
  "xn--e1afmkfd",
  "пример.example",
  "/",
  "/data",
  "/data/../etc",
  "//data",
  "/data/**",
  "/da*ta",
  "relative",
  "./x",
  "/\u0000",
  "/proc/self/root",
  "/dev/fd",
  "file:///data",
  "X=Y",
  "APP_*",
  "*",
  "git",
  "-x",
  "a/b",
  "a;b",
  "/usr/bin/git",
  "../git",
  "$(x)",
  " ",
] as const;

export const capabilityScene: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...capabilityParts, "="), { minLength: 1, maxLength: 4 })
  .map((parts) => {
    const [kind = "", ...rest] = parts;
    return rest.length === 0 ? kind : `${kind}=${rest.join("")}`;
  });

/** What is read as a capability is canonical, and says nothing that it does not mean. */
export async function playCapability(text: string): Promise<Faults> {
  const faults: Faults = [];
  refusing(() => parseCapabilities(text), faults, "reading capabilities");
  const read = refusing(() => parseCapability(text), faults, "reading a capability");
  if (read === undefined) return faults;
  const { kind, scope } = read;
  const again = refusing(
    () => parseCapability(kind === "llm" ? kind : `${kind}=${scope}`),
    faults,
    "reading it again",
  );
  if (again?.scope !== scope) faults.push(`${capabilityText(read)} is read as ${String(again?.scope)}`);
  if (!Object.isFrozen(read)) faults.push("a capability can be changed");
  if (scope.includes("\u0000")) faults.push(`${JSON.stringify(text)} has a NUL`);
  const wrong: Readonly<Record<string, RegExp>> = {
    net: /[@\s\\?#%]|^\.|\.\.|(^|\/\/)\*\.[a-z]+(:|$)/,
    "fs.read": /^[^/]|(^|\/)\.\.?(\/|$)|\/\//,
    "fs.write": /^[^/]|(^|\/)\.\.?(\/|$)|\/\//,
    env: /[=\s]|^$|^\*$/,
    secret: /[=\s*]|^$/,
    exec: /[\s;$]|^-|^$|(^|\/)\.\.(\/|$)/,
  };
  if (wrong[kind]?.test(scope) === true) faults.push(`${text} became ${capabilityText(read)}`);
  return faults;
}

/** A conversation as JSON that somebody touched. */
export const transcriptScene: fc.Arbitrary<readonly Change[]> = fc.array(change(anyJson), {
  minLength: 1,
  maxLength: 2,
});

const conversation: Json = {
  messages: [
    { role: "system", text: "s" },
    { role: "user", parts: [{ type: "text", text: "u" }] },
    {
      role: "assistant",
      parts: [
        { type: "text", text: "t" },
        { type: "tool-call", id: "a", name: "look", arguments: {} },
        { type: "tool-call", id: "b", name: "look", arguments: { to: "x" } },
      ],
    },
    { role: "tool", callId: "a", name: "look", status: "ok", text: "r" },
    { role: "tool", callId: "b", name: "look", status: "error", text: "r" },
    {
      role: "assistant",
      parts: [{ type: "text", text: "end" }],
      label: { integrity: "untrusted", secrecy: "public", sources: ["tool/look"] },
    },
  ],
};

export async function playTranscript(changes: readonly Change[]): Promise<Faults> {
  const faults: Faults = [];
  const json = changed(conversation, changes);
  const read = refusing(() => readTranscript(json as never), faults, "reading a transcript");
  if (read === undefined) return faults;
  try {
    const roles = read.messages.map(({ role }) => role);
    if (roles.some((role) => !["system", "user", "assistant", "tool"].includes(role)))
      faults.push(`a message of ${roles.join()}`);
    const hasResult = read.messages.some(
      (message) =>
        message.role === "tool" &&
        (message.status === "ok" || message.status === "error") &&
        message.label === undefined,
    );
    if (hasResult && labelOfAll(read.messages).integrity === "trusted")
      faults.push("a stranger's result is trusted");
    if (read.characters < 0 || Number.isNaN(read.characters)) faults.push("its size is no number");
  } catch (error) {
    faults.push(`a transcript that was read cannot be used: ${shown(error)}`);
  }
  return faults;
}

/** A schema of a stranger, and arguments for it. */
export interface SchemaScene {
  readonly schema: number;
  readonly args: Json;
  readonly raw: string;
}

const bomb = (depth: number): Json =>
  depth === 0 ? { type: "string" } : { allOf: [bomb(depth - 1), bomb(depth - 1)] };

export const strangers: readonly Json[] = [
  { type: "object", properties: { to: { $ref: "#" } } },
  { type: "object", properties: { to: { $ref: "#/properties/to" } } },
  { $ref: "https://evil.example/schema.json" },
  { type: "object", properties: { to: { $ref: "https://evil.example/schema.json" } } },
  { type: "object", properties: { to: { type: "string", pattern: "^(a+)+$" } } },
  { type: "object", properties: { to: { type: "string", pattern: "(" } } },
  { type: "object", properties: { to: { type: "string", pattern: "(?=x)(\\1)" } } },
  { type: "object", properties: { to: { enum: Array.from({ length: 3000 }, (_, index) => `v${index}`) } } },
  { type: "object", properties: { to: bomb(7) } },
  { type: "object", description: "d".repeat(200_000) },
  { type: "object", properties: { to: { default: JSON.parse('{"__proto__":{"admin":true}}') as Json } } },
  JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["constructor"]}',
  ) as Json,
  {
    type: "object",
    additionalProperties: { type: "number" },
    patternProperties: { "^(x+)+$": { type: "string" } },
  },
  { type: "object", minProperties: -1 },
  { type: "objekt" },
  { type: ["object", "null"] },
  { type: "array" },
  true,
  { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
  {
    type: "object",
    properties: { to: { format: "email", type: "string" }, name: { format: "no-such", type: "string" } },
  },
  { $id: "https://evil.example/x", type: "object" },
  { $schema: "https://evil.example/meta", type: "object" },
  { type: "object", $dynamicRef: "#x" },
  { type: "object", properties: { to: { multipleOf: 0 } } },
  null,
];

export const schemaScene: fc.Arbitrary<SchemaScene> = fc.record({
  schema: fc.nat(strangers.length - 1),
  args: fc.oneof(
    anyJson,
    fc.constantFrom<Json>(
      { to: `${"a".repeat(40)}!` },
      { ["x".repeat(40)]: "y" },
      { to: { to: { to: {} } } },
    ),
  ),
  raw: fc.constantFrom(...rawArguments, ...injections),
});

/** A schema is compiled once: what it does to arguments is what matters. */
const defined = new Map<number, { readonly tool: Tool | undefined; readonly faults: Faults }>();

export async function playSchema({ schema, args, raw }: SchemaScene): Promise<Faults> {
  let known = defined.get(schema);
  if (known === undefined) {
    const faults: Faults = [];
    const inputSchema = strangers[schema] as never;
    const made = refusing(
      () => tool({ name: "x", description: "", inputSchema, execute: () => null }),
      faults,
      `schema ${schema}`,
    );
    defined.set(schema, (known = { tool: made, faults }));
  }
  const faults = [...known.faults];
  const parsed = parseJson(raw);
  if (parsed.ok && JSON.stringify(parsed.value).includes("__proto__")) faults.push("a prototype was read");
  lenientJson(raw);
  const values = parsed.ok ? [args, parsed.value] : [args];
  for (const value of values) {
    try {
      const given = JSON.stringify(value);
      const result = await known.tool?.input.parse(JSON.parse(given));
      if (
        result?.ok === true &&
        typeof result.value === "object" &&
        result.value !== null &&
        "admin" in result.value &&
        !given.includes("admin")
      )
        faults.push("a prototype was set");
    } catch (error) {
      faults.push(`schema ${schema} threw for ${JSON.stringify(value)}: ${shown(error)}`);
    }
  }
  return faults;
}
