import { describe, expect, it } from "vitest";
import { compareManifests } from "../../../src/agent/describe/manifest-compare.ts";
import type { AgentManifest, ToolManifest } from "../../../src/agent/describe/manifest-data.ts";
import { strict } from "../../../src/policy/study/guarded.ts";
import { rulesOf } from "../../../src/policy/rules/policy-json.ts";

const send: ToolManifest = {
  effect: "write",
  needs: ["net(mail.example)"],
  parameters: { to: "target", text: "content" },
  trusted: false,
  resolves: false,
  secrecy: "private",
  enforcement: { level: "mediated", mechanism: "handles" },
  constraints: { maxCalls: 2, onlyAfter: ["login"] },
  mcp: { server: "mail", pin: "a".repeat(64) },
};

const before: AgentManifest = {
  version: 1,
  agent: "clerk",
  model: { id: "ollama/a", url: "http://localhost:11434", apiKeyPresent: false },
  grants: ["fs.read(/data)", "net(mail.example)"],
  policy: {
    name: "mail",
    rules: [
      { verdict: "allow", tools: ["send"] },
      { verdict: "ask", tools: ["send"], when: { type: "untrusted" } },
      { verdict: "deny", tools: ["erase"] },
    ],
    constants: ["me@x.example"],
    narrowedBy: { name: "night", rules: [] },
    tools: { browse: { reaches: "outside" }, book: { trusted: { of: "email" } } },
  },
  budget: { turns: 5 },
  memory: false,
  hooks: { nights: ["beforeToolCall"] },
  skills: { mail: { type: "agentic", tools: { send } }, shout: { type: "plain", tools: {} } },
  servers: {},
};

const withTool = (change: Partial<ToolManifest>): AgentManifest => ({
  ...before,
  skills: { ...before.skills, mail: { type: "agentic", tools: { send: { ...send, ...change } } } },
});
const withPolicy = (change: Partial<AgentManifest["policy"]>): AgentManifest => ({
  ...before,
  policy: { ...before.policy, ...change },
});
const { rules = [], tools } = before.policy;
const { rules: _rules, ...unreadable } = { ...before.policy, name: "mine (a function)" };

/** Both directions of one difference: what it means, and what its contrary means. */
const pairs: readonly [what: string, after: AgentManifest, wider: string, back: string][] = [
  [
    "a new tool",
    { ...before, skills: { ...before.skills, mail: { type: "agentic", tools: { send, look: send } } } },
    "skills › mail › tools › look: a new tool, effect write",
    "narrowed",
  ],
  [
    "a new skill",
    { ...before, skills: { ...before.skills, other: { type: "agentic", tools: { send } } } },
    "skills › other: a new skill with send",
    "narrowed",
  ],
  [
    "a new need",
    withTool({ needs: ["net(mail.example)", "exec(git)"] }),
    "skills › mail › tools › send › needs: new need exec(git)",
    "narrowed",
  ],
  [
    "a new grant",
    { ...before, grants: [...before.grants, "exec(git)"] },
    "grants: new grant exec(git)",
    "narrowed",
  ],
  [
    "a wider grant",
    { ...before, grants: ["fs.read(/)", "net(mail.example)"] },
    "grants: new grant fs.read(/)",
    "narrowed",
  ],
  [
    "a raised effect",
    withTool({ effect: "irreversible" }),
    "skills › mail › tools › send › effect: write → irreversible",
    "narrowed",
  ],
  [
    "an effect that is not declared any more",
    withTool({ effect: "undeclared" }),
    "skills › mail › tools › send › effect: write → undeclared",
    "narrowed",
  ],
  [
    "an allow rule that came",
    withPolicy({ rules: [...rules, { verdict: "allow", tools: ["*"] }] }),
    'policy › rules: new allow rule {"tools":["*"]}',
    "narrowed",
  ],
  [
    "an allow rule that stands over rules that ask",
    withPolicy({ rules: [{ verdict: "allow", tools: ["send"], exception: true }, ...rules.slice(1)] }),
    'policy › rules: new allow rule {"exception":true,"tools":["send"]}',
    "narrowed",
  ],
  [
    "a deny rule that went",
    withPolicy({ rules: rules.slice(0, 2) }),
    'policy › rules: deny rule {"tools":["erase"]} is gone',
    "narrowed",
  ],
  [
    "an ask rule that went",
    withPolicy({ rules: [...rules.slice(0, 1), ...rules.slice(2)] }),
    'policy › rules: ask rule {"tools":["send"],"when":{"type":"untrusted"}} is gone',
    "narrowed",
  ],
  [
    "a function in place of rules",
    { ...before, policy: unreadable },
    "policy: mail → mine (a function)",
    "changed",
  ],
  [
    "a value that is vouched for",
    withPolicy({ constants: ["me@x.example", "you@x.example"] }),
    "policy › constants: new constant you@x.example",
    "narrowed",
  ],
  ["a raised bound", { ...before, budget: { turns: 6 } }, "budget › turns: 5 → 6", "narrowed"],
  ["a bound that is gone", { ...before, budget: {} }, "budget › turns: 5 → none", "narrowed"],
  [
    "another provider",
    { ...before, model: { id: "openai/a" } },
    "model: ollama/a at http://localhost:11434 → openai/a: somebody else reads what it is told",
    "widened",
  ],
  [
    "another host",
    { ...before, model: { id: "ollama/a", url: "http://far.example", apiKeyPresent: false } },
    "model: ollama/a at http://localhost:11434 → ollama/a at http://far.example: somebody else reads what it is told",
    "widened",
  ],
  ["memory", { ...before, memory: true }, "memory: false → true", "narrowed"],
  ["a hook that went", { ...before, hooks: {} }, "hooks › nights: place beforeToolCall is gone", "changed"],
  [
    "a tool that becomes knowledge",
    withTool({ kind: "knowledge" }),
    "skills › mail › tools › send: kind tool → knowledge: a policy takes its calls for reading",
    "narrowed",
  ],
  [
    "trusted results",
    withTool({ trusted: true }),
    "skills › mail › tools › send › trusted: false → true",
    "narrowed",
  ],
  [
    "results that bind",
    withTool({ resolves: true }),
    "skills › mail › tools › send › resolves: false → true",
    "narrowed",
  ],
  [
    "results for everybody",
    withTool({ secrecy: "public" }),
    "skills › mail › tools › send › secrecy: private → public",
    "narrowed",
  ],
  [
    "results for some",
    withTool({ secrecy: ["a@x.example"] }),
    "skills › mail › tools › send › secrecy: private → readers",
    "narrowed",
  ],
  [
    "a target that is content now",
    withTool({ parameters: { to: "content", text: "content" } }),
    "skills › mail › tools › send › parameters › to: target → content",
    "narrowed",
  ],
  [
    "an argument that counted as a target",
    withTool({ parameters: { ...send.parameters, cc: "content" } }),
    "skills › mail › tools › send › parameters › cc: target → content",
    "narrowed",
  ],
  [
    "one constant more for an argument",
    withTool({ parameters: { ...send.parameters, to: 'target "all of us"' } }),
    'skills › mail › tools › send › parameters › to: target → target "all of us"',
    "narrowed",
  ],
  [
    "a place more that an argument takes",
    withTool({ parameters: { ...send.parameters, to: "target found-in(search mail whole named)" } }),
    "skills › mail › tools › send › parameters › to: target → target found-in(search mail whole named)",
    "narrowed",
  ],
  [
    "a look-up that is not said to reach outside any more",
    withPolicy({ tools: { ...tools, browse: {} } }),
    "policy › tools › browse › reaches outside: true → false",
    "narrowed",
  ],
  [
    "results that are trusted in any form",
    withPolicy({ tools: { ...tools, book: { trusted: true } } }),
    "policy › tools › book › trusted: in one form → in any form",
    "narrowed",
  ],
  [
    "an allow rule that came to the policy that it is held to",
    withPolicy({ narrowedBy: { name: "night", rules: [{ verdict: "allow", tools: ["send"] }] } }),
    'policy › narrowedBy › rules: new allow rule {"tools":["send"]}',
    "narrowed",
  ],
  [
    "a policy that it is not held to any more",
    withPolicy({ narrowedBy: undefined }),
    "policy › narrowedBy: it is not held to night any more",
    "narrowed",
  ],
  [
    "less enforcement",
    withTool({ enforcement: { level: "none", mechanism: "in process" } }),
    "skills › mail › tools › send › enforcement: mediated → none",
    "narrowed",
  ],
  [
    "more calls",
    withTool({ constraints: { onlyAfter: ["login"] } }),
    "skills › mail › tools › send › constraints: at most 2 calls → Infinity",
    "narrowed",
  ],
  [
    "an order that is gone",
    withTool({ constraints: { maxCalls: 2 } }),
    "skills › mail › tools › send › constraints: onlyAfter login is gone",
    "narrowed",
  ],
  [
    "another pin",
    withTool({ mcp: { server: "mail", pin: "b".repeat(64) } }),
    "skills › mail › tools › send › mcp: the server mail says something else of it (bbbbbbbbbbbb…)",
    "widened",
  ],
  [
    "a description that is approved now",
    withTool({ mcp: { server: "mail", pin: "a".repeat(64), approved: true } }),
    "skills › mail › tools › send › mcp: what the server mail says of it is approved now, and read as trusted",
    "narrowed",
  ],
  [
    "an agent inside",
    withTool({ agents: { inner: before } }),
    "skills › mail › tools › send › agents › inner: a new agent is run by it",
    "narrowed",
  ],
];

describe("compareManifests", () => {
  it("finds nothing between a manifest and itself, and nothing in the order of rules or their words", () => {
    expect(compareManifests(before, structuredClone(before))).toEqual([]);
    const reworded = rules.toReversed().map((rule) => ({ ...rule, name: "other", because: "other" }));
    expect(compareManifests(before, withPolicy({ rules: reworded }))).toEqual([]);
  });

  it.each(pairs)("calls it widened: %s [O5]", (...[, after, wider, back]) => {
    expect(compareManifests(before, after).map(({ type, path, text }) => [type, `${path}: ${text}`])).toEqual(
      [["widened", wider]],
    );
    expect(compareManifests(after, before).map(({ type }) => type)).toEqual([back]);
  });

  it.each<[string, AgentManifest]>([
    ["a smaller model of the same place", { ...before, model: { ...before.model, id: "ollama/b" } }],
    [
      "a key",
      {
        ...before,
        model: { id: "ollama/a", url: "http://localhost:11434", apiKey: "masked", apiKeyPresent: true },
      },
    ],
    ["another name", { ...before, agent: "other" }],
    ["a write that is called a look", withTool({ effect: "read" })],
    ["a further hook", { ...before, hooks: { ...before.hooks, days: ["afterRun"] } }],
  ])("calls it changed, neither wider nor narrower: %s", (_what, after) => {
    expect(compareManifests(before, after).map(({ type }) => type)).toEqual(["changed"]);
  });

  it("calls a rule that asks wider where nothing was said, and so each call was denied", () => {
    const asks = { verdict: "ask", tools: ["send"] } as const;
    const silent = withPolicy({ rules: rules.slice(1) });
    const asking = withPolicy({ rules: [...rules.slice(1), asks] });
    const types = (was: AgentManifest, is: AgentManifest): readonly string[] =>
      compareManifests(was, is).map(({ type }) => type);
    expect(compareManifests(silent, asking)).toEqual([
      { type: "widened", path: "policy › rules", text: 'new ask rule {"tools":["send"]}' },
    ]);
    const askingAll = withPolicy({ rules: [...rules.slice(1), { ...asks, tools: ["*"] }] });
    expect(types(silent, askingAll)).toEqual(["widened"]);
    expect(types(before, withPolicy({ rules: [...rules, asks] }))).toEqual(["narrowed"]);
    const { skills } = withTool({ effect: "read" });
    expect(types({ ...silent, skills }, { ...asking, skills })).toEqual(["narrowed"]);
    const preset = strict().toJSON();
    const strictly = withPolicy({ rules: rulesOf(preset) });
    const more = withPolicy({ rules: rulesOf({ ...preset, extraRules: [asks] }) });
    expect(types(strictly, more)).toEqual(["narrowed"]);
  });

  it("calls a skill wider that is a function now: nothing is held to a list any more", () => {
    const mail = { type: "plain", tools: {} } as const;
    const plain = { ...before, skills: { ...before.skills, mail } };
    expect(compareManifests(before, plain)).toMatchObject([
      { type: "widened", path: "skills › mail", text: "agentic → plain" },
      { type: "narrowed", path: "skills › mail › tools › send" },
    ]);
  });

  it("takes a place whose values must be more for a narrower one, and a constant that went too", () => {
    const to = (text: string): AgentManifest =>
      withTool({ parameters: { ...send.parameters, to: `target email${text}` } });
    const typeOf = (was: string, is: string): string | undefined =>
      compareManifests(to(was), to(is))[0]?.type;
    const [place, whole] = [" found-in(search mail)", " found-in(search mail whole)"];
    const nameOnly = " found-in(search mail whole named)";
    for (const [wide, narrow] of [
      [place, whole],
      [whole, nameOnly],
      [place, nameOnly],
      [' "a b" "c"', ' "c"'],
      [`${place} "c"`, place],
    ] as const) {
      expect(typeOf(wide, narrow)).toBe("narrowed");
      expect(typeOf(narrow, wide)).toBe("widened");
    }
    expect(typeOf(' "a"', ' "b"')).toBe("widened");
  });

  it("takes a grant within another one for no more power", () => {
    const wide = { ...before, grants: ["fs.read(/data)", "net(*.example.com)"] };
    const more = { ...wide, grants: [...wide.grants, "fs.read(/data/in)", "net(a.example.com)"] };
    expect(compareManifests(wide, more)).toEqual([]);
    const narrow = { ...wide, grants: ["fs.read(/data/in)", "net(a.example.com)"] };
    expect(new Set(compareManifests(wide, narrow).map(({ type }) => type))).toEqual(new Set(["narrowed"]));
    expect(compareManifests(narrow, wide).filter(({ type }) => type === "widened")).toHaveLength(2);
  });

  it("looks into agents inside agents, and tells one that cannot be looked into", () => {
    const outer = withTool({ agents: { inner: before } });
    const wider = withTool({ agents: { inner: { ...before, memory: true } } });
    expect(compareManifests(outer, wider)).toEqual([
      {
        type: "widened",
        path: "skills › mail › tools › send › agents › inner › memory",
        text: "false → true",
      },
    ]);
    const dark = withTool({ agents: { inner: null } });
    expect(compareManifests(outer, dark)).toMatchObject([{ type: "widened" }]);
    expect(compareManifests(dark, outer)).toMatchObject([{ type: "changed" }]);
    expect(compareManifests(dark, dark)).toEqual([]);
  });
});
