import { agent } from "../../../src/adapters/node.ts";
import { skill } from "../../../src/agent/skill.ts";
import { narrowed, widenings } from "../../../src/policy/study/narrow.ts";
import { fakeTool } from "../../../src/tool/fake-tool.ts";
import { describe, expect, it } from "vitest";
import { isWritError } from "../../../src/error/writ-error.ts";
import { policy, policyFromJson } from "../../../src/policy/study/policy.ts";
import { allow, ask } from "../../../src/policy/rules/builders.ts";
import { presetRules } from "../../../src/policy/rules/presets.ts";
import { callOf } from "./rules-scene.ts";

const rule = { verdict: "allow", tools: ["send"] };

function complaint(json: unknown): string {
  try {
    policyFromJson(json);
  } catch (error) {
    if (isWritError(error, "policy-invalid")) return error.message;
    throw error;
  }
  return "";
}

const inRule = (field: object): unknown => ({ name: "p", rules: [{ ...rule, ...field }] });
const when = (condition: unknown): unknown => inRule({ when: condition });
const test = (is: unknown): unknown => when({ type: "argument", path: "to", is });

let deep: unknown = { type: "untrusted" };
for (let depth = 0; depth < 100; depth += 1) deep = { type: "not", of: deep };

describe("a policy from JSON", () => {
  it.each<[name: string, json: unknown, told: string]>([
    ["no object", null, "`policy` must be an object, got null"],
    ["a list", [], "`policy` must be an object, got a list"],
    ["no name", { rules: [] }, "`name` must be a string, got nothing"],
    ["an empty name", { name: "", rules: [] }, "`name` must not be empty"],
    ["no rules", { name: "p" }, "`rules` must be a list, got nothing"],
    ["an unknown preset", { name: "p", rules: "lax" }, '`rules` must be "guarded" or "strict", got "lax"'],
    ["an unknown field", { name: "p", rules: [], rule: 1 }, 'unknown field "rule"'],
    ["an unknown field of a rule", inRule({ whne: 1 }), '`rules[0]` has the unknown field "whne"'],
    [
      "a verdict",
      inRule({ verdict: "maybe" }),
      '`rules[0].verdict` must be "allow" or "ask" or "deny", got "maybe"',
    ],
    ["no tools", inRule({ tools: [] }), "`rules[0].tools` must not be empty"],
    [
      "a pattern of tools",
      inRule({ tools: ["mail_*"] }),
      '`rules[0].tools[0]` must be the name of a tool, or "*" alone for all, got "mail_*"',
    ],
    ["a rule that is no object", { name: "p", rules: ["allow"] }, "`rules[0]` must be an object"],
    ["a text for a list", inRule({ show: "to" }), "`rules[0].show` must be a list"],
    ["because", inRule({ because: 5 }), "`rules[0].because` must be a string, got a number"],
    ["an unknown condition", when({ type: "moon" }), "`rules[0].when.type` must be one of all, any, not"],
    ["an inherited condition", when({ type: "constructor" }), "`rules[0].when.type` must be one of"],
    [
      "a field of another condition",
      when({ type: "untrusted", path: "x" }),
      '`rules[0].when` has the unknown field "path"',
    ],
    ["nothing to hold", when({ type: "all", of: [] }), "`rules[0].when.of` must not be empty"],
    [
      "a fault deep inside",
      when({
        type: "not",
        of: { type: "any", of: [{ type: "untrusted" }, { type: "effect", in: ["big"] }] },
      }),
      '`rules[0].when.of.of[1].in[0]` must be one of none, read, write, irreversible, undeclared, got "big"',
    ],
    [
      "a role",
      when({ type: "roles", roles: ["who"], is: { type: "bound" } }),
      "`rules[0].when.roles[0]` must be one of",
    ],
    [
      "an empty path",
      when({ type: "argument", path: "", is: { type: "bound" } }),
      "`rules[0].when.path` must not be empty",
    ],
    ["a count", when({ type: "calls", atLeast: -1 }), "`rules[0].when.atLeast` must be a whole number"],
    ["half a count", when({ type: "calls", atLeast: 1.5 }), "`rules[0].when.atLeast` must be a whole number"],
    ["an unknown test", test({ type: "like" }), "`rules[0].when.is.type` must be one of bound, one-of"],
    [
      "an unknown type",
      test({ type: "bound", as: "uri" }),
      "`rules[0].when.is.as` must be one of email, url",
    ],
    ["no values", test({ type: "one-of", values: [] }), "`rules[0].when.is.values` must not be empty"],
    [
      "a function among values",
      test({ type: "one-of", values: [() => "test"] }),
      "`rules[0].when.is.values[0]` must be a text, a number, true, false or null",
    ],
    [
      "a list among values",
      test({ type: "one-of", values: [["test", "staging"]] }),
      "`rules[0].when.is.values[0]` must be a text, a number, true, false or null, got a list",
    ],
    [
      "an object among values",
      test({ type: "one-of", values: ["test", { of: 1 }] }),
      "`rules[0].when.is.values[1]` must be a text, a number, true, false or null, got an object",
    ],
    ["no bounds", test({ type: "within" }), "needs `min` or `max`"],
    ["crossed bounds", test({ type: "within", min: 2, max: 1 }), "has a `min` above its `max`"],
    [
      "an endless bound",
      test({ type: "within", max: Infinity }),
      "`rules[0].when.is.max` must be a finite number",
    ],
    [
      "a host with a path",
      test({ type: "host-in", hosts: ["a.b/c"] }),
      "`rules[0].when.is.hosts[0]` must be a host in lower case",
    ],
    [
      "a host in capitals",
      test({ type: "host-in", hosts: ["A.b"] }),
      "`rules[0].when.is.hosts[0]` must be a host in lower case",
    ],
    [
      "every host",
      test({ type: "host-in", hosts: ["*"] }),
      "`rules[0].when.is.hosts[0]` must be a host in lower case",
    ],
    [
      "an effect that says nothing",
      { name: "p", rules: [], tools: { x: { effect: "undeclared" } } },
      "`tools.x.effect`",
    ],
    [
      "a public annotation",
      { name: "p", rules: [], tools: { x: { secrecy: "public" } } },
      "`tools.x.secrecy`",
    ],
    [
      "trust that is no truth",
      { name: "p", rules: [], tools: { x: { trusted: "yes" } } },
      "`tools.x.trusted` must be true or false",
    ],
    [
      "all tools at once",
      { name: "p", rules: [], tools: { "*": {} } },
      '`tools` must name each tool: "*" stands for none here',
    ],
    [
      "a parameter",
      { name: "p", rules: [], tools: { x: { parameters: { to: { role: "target", typ: "email" } } } } },
      '`tools.x.parameters.to` has the unknown field "typ"',
    ],
    ["an empty constant", { name: "p", rules: [], constants: [""] }, "`constants[0]` must not be empty"],
    [
      "two rules of one name",
      {
        name: "p",
        rules: [
          { ...rule, name: "a" },
          { ...rule, name: "a" },
        ],
      },
      '`rules[1]` has the name "a"',
    ],
    [
      "a name of the preset",
      { name: "p", rules: "guarded", extraRules: [{ ...rule, name: "guarded/chosen" }] },
      "which another rule has",
    ],
    ["a bomb", when(deep), "is nested deeper than 32 levels"],
    [
      "too many rules",
      { name: "p", rules: Array.from({ length: 10_001 }, () => rule) },
      "has more than 10000 elements",
    ],
    [
      "holes",
      { name: "p", rules: Object.assign([], { length: 3 }) },
      "`rules[0]` must be an object, got nothing",
    ],
    [
      "an own prototype",
      JSON.parse('{"name":"p","rules":[],"tools":{"__proto__":{"effect":"read"}}}'),
      '"__proto__"',
    ],
    [
      "a getter",
      {
        name: "p",
        get rules() {
          return [];
        },
      },
      "has a getter",
    ],
    ["a class", { name: "p", rules: [], tools: new Map() }, "`tools` must be a plain object"],
  ])("refuses %s", (_name, json, told) => {
    expect(complaint(json)).toContain(told);
  });

  it("says which policy is wrong", () => {
    expect(complaint({ name: "mail", rules: [1] })).toContain('The policy "mail" cannot be used');
  });

  it("makes an error of everything that reading throws", () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new TypeError("trap");
        },
      },
    );
    expect(complaint(hostile)).toContain("it cannot be read: trap");
    expect(
      complaint({
        name: "p",
        rules: new Proxy([], {
          get: () => {
            throw new RangeError("no");
          },
        }),
      }),
    ).toContain("no");
  });

  it("takes nothing from a prototype", () => {
    const inherited = Object.create({ verdict: "allow", tools: ["*"] }) as unknown;
    expect(complaint({ name: "p", rules: [inherited] })).toContain("must be a plain object");
    const bare = Object.assign(Object.create(null), rule) as unknown;
    expect(policyFromJson({ name: "p", rules: [bare] }).rules).toHaveLength(1);
  });

  it("is frozen and owns what it was made of", () => {
    const json = {
      name: "p",
      rules: [{ verdict: "deny", tools: ["send"] }],
      constants: ["a"],
      tools: { x: { effect: "read" } },
    };
    const made = policyFromJson(json);
    json.rules.length = 0;
    json.constants.push("b");
    expect(made(callOf()).verdict).toBe("deny");
    expect(made.constants).toEqual(["a"]);
    for (const part of [
      made,
      made.rules,
      made.rules[0],
      made.rules[0]?.tools,
      made.tools,
      made.tools["x"],
      made.toJSON(),
    ])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it("comes back from JSON as it was", () => {
    const made = policy({
      name: "p",
      rules: "guarded",
      tools: {
        "server/x": {
          effect: "read",
          secrecy: { readers: ["a@b.c"] },
          parameters: { to: { role: "target", type: "email" } },
        },
      },
      constants: ["me@b.c"],
      extraRules: [ask("y").show("z")],
    });
    const text = JSON.stringify(made);
    expect(JSON.parse(text)).toEqual(made.toJSON());
    expect(policyFromJson(`\ufeff${text}`).toJSON()).toEqual(made.toJSON());
    expect(policyFromJson(JSON.parse(text)).toJSON()).toStrictEqual(made.toJSON());
    expect(made.rules).toEqual([...presetRules.guarded(), { verdict: "ask", tools: ["y"], show: ["z"] }]);
  });

  it("is a function with a name, and a policy", () => {
    const made = policy({ name: "mail", rules: [allow("send")] });
    expect(typeof made).toBe("function");
    expect(made.name).toBe("mail");
    expect(made(callOf()).verdict).toBe("allow");
  });
});

describe("a policy as a file", () => {
  const file = { name: "p", rules: "guarded", skills: { post: ["send"] } } as const;

  it("is read from its text, which is that of the policy again", () => {
    const text = JSON.stringify(policyFromJson(JSON.stringify(file)));
    expect(JSON.parse(text)).toEqual(file);
    expect(policyFromJson(text).skills).toEqual(file.skills);
    expect(complaint("{")).toContain("it cannot be read as JSON");
    expect(complaint("{")).not.toContain("YAML");
    expect(complaint("name: p\nrules: guarded")).toContain("give the value of YAML, not its text");
    const twice = '{ "name": "p",\n  "rules": [{ "type": "deny", "tools": ["pay"] }],\n  "rules": [] }';
    expect(complaint(twice)).toContain('it has the key "rules" twice in one object (line 3)');
    expect(complaint({ ...file, skills: { post: [] } })).toContain(
      "`skills.post` is empty: a skill has tools",
    );
  });

  it("holds the skills of an agent to the tools that it names for them", () => {
    const make = (skills: Record<string, readonly string[]>, lists: readonly string[]): (() => unknown) => {
      const tools = lists.map((name) => fakeTool(name, "ok"));
      const post = skill({ name: "post", description: "Post", tools });
      return () =>
        agent({ name: "a", model: () => "x", skills: [post], policy: policyFromJson({ ...file, skills }) });
    };
    expect(make({ post: ["send"], other: ["send"] }, ["send"])).not.toThrow();
    expect(make({ post: ["send"] }, ["send", "drop"])).toThrow('its skill "post" lists "drop"');
    expect(make({ other: ["send"] }, ["send", "drop"])).not.toThrow();
    expect(make({ post: ["sned"] }, ["send"])).toThrow("sned");
  });

  it("is narrowed to the tools that both name, and widened by more", () => {
    const [wide, small] = [["a", "b"], ["a"]].map((post) => policyFromJson({ ...file, skills: { post } }));
    expect(wide && small && JSON.parse(JSON.stringify(narrowed(wide, small)))).toMatchObject({
      skills: { post: ["a"] },
    });
    expect(wide && small && widenings(small.toJSON(), wide.toJSON())).toEqual([
      "gives more tools to the skill: post",
    ]);
    expect(wide && small && widenings(wide.toJSON(), small.toJSON())).toEqual([]);
    expect(small && widenings(small.toJSON(), { name: "p", rules: "guarded" })).toHaveLength(1);
  });
});
