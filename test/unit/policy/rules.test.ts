import { describe, expect, it } from "vitest";
import {
  absent,
  all,
  any,
  arg,
  boundToIntent,
  calls,
  effect,
  hostIn,
  not,
  oneOf,
  roles,
  secrecyExceedsTargets,
  unknownLinks,
  untrusted,
  within,
} from "../../../src/policy/rules/conditions.ts";
import { policy } from "../../../src/policy/study/policy.ts";
import { allow, ask, deny, limit } from "../../../src/policy/rules/builders.ts";
import type { Condition } from "../../../src/policy/rules/rule.ts";
import type { Json } from "../../../src/util/json.ts";
import { callOf, judge, type Said, verdict, verdictBy } from "./rules-scene.ts";

/** Whether a condition surely holds, surely does not, or cannot be said: an allow and a deny tell. */
function truth(condition: Condition, said: Said): boolean | "unsaid" {
  const allows = verdict([allow("*").when(condition)], said) === "allow";
  const denies = verdict([allow("*"), deny("*").when(condition)], said) === "deny";
  const spared = verdict([allow("*"), deny("*").unless(condition)], said) === "allow";
  expect(spared).toBe(allows);
  if (allows) expect(denies).toBe(true);
  return allows ? true : denies ? "unsaid" : false;
}

const args = (value: unknown, more: Said = {}): Said => ({ ...more, arguments: { x: value } });
const x = arg("x");

describe("rules", () => {
  it("stand in one order: deny, ask, allow, whatever theirs is", () => {
    const [a, b, c] = [allow("send"), ask("send"), deny("send")];
    expect(verdict([a])).toBe("allow");
    expect(verdict([a, b])).toBe("ask");
    expect(verdict([b, a])).toBe("ask");
    expect(verdict([c, b, a])).toBe("deny");
    expect(verdict([a, b, c])).toBe("deny");
  });

  it("hold for their tools and for all", () => {
    expect(verdict([allow("send", "post")], { tool: "post" })).toBe("allow");
    expect(verdict([allow("send")], { tool: "post" })).toBe("deny");
    expect(verdict([allow("*")], { tool: "post" })).toBe("allow");
    expect(verdict([allow("post"), deny("*")], { tool: "post" })).toBe("deny");
    expect(verdict([allow("constructor", "__proto__")], { tool: "toString" })).toBe("deny");
    expect(verdict([allow("__proto__")], { tool: "__proto__" })).toBe("allow");
  });

  it("that do not match leave what only looks, and deny every effect, declared or not", () => {
    for (const effect of ["none", "read"] as const) expect(verdict([], { effect })).toBe("allow");
    for (const effect of ["write", "irreversible", "undeclared"] as const)
      expect(verdict([], { effect })).toBe("deny");
    expect(verdict([], { effect: "bogus" as "read" })).toBe("deny");
    for (const kind of ["knowledge", "memory"] as const)
      expect(verdict([], { effect: "undeclared", kind })).toBe("allow");
    expect(verdict([deny("send")], { kind: "memory" })).toBe("deny");
  });

  it("hold when they hold, and not in their exception", () => {
    const rule = deny("*")
      .when(untrusted())
      .unless(x.is(oneOf("a")));
    expect(verdict([allow("*"), rule], args("b", { untrusted: true }))).toBe("deny");
    expect(verdict([allow("*"), rule], args("a", { untrusted: true }))).toBe("allow");
    expect(verdict([allow("*"), rule], args("b"))).toBe("allow");
    const exception = allow("send").unless(untrusted());
    expect(verdict([exception], { untrusted: true })).toBe("deny");
    expect(verdict([exception])).toBe("allow");
  });

  it("say which of them decided, why, and which matched", () => {
    const decision = judge([
      allow("send").named("a"),
      ask("*").because("it leaves the house").show("to").named("b"),
      ask("send").named("c"),
      deny("post"),
    ]);
    expect(decision).toEqual({
      verdict: "ask",
      rule: "b",
      reason: "it leaves the house",
      evidence: {
        label: { integrity: "trusted", secrecy: "public", sources: [] },
        intent: "1f2e3d",
        show: ["to"],
        matched: ["a", "b", "c"],
      },
    });
    expect(judge([allow("a", "b", "c", "d", "send"), deny("x")]).rule).toBe("allow a, b, c, … (rule 1)");
    expect(judge([allow("a", "b", "send")]).rule).toBe("allow a, b, send (rule 1)");
    expect(judge([]).rule).toBe("no-rule");
    expect(judge([], { effect: "read" }).rule).toBe("only-looks");
    expect(judge([limit("send", { perRun: 1 })], { calls: 1 }).reason).toBe("it may be called once in a run");
    expect(judge([limit("send", { perRun: 2 })], { calls: 2 }).reason).toBe(
      "it may be called 2 times in a run",
    );
  });

  it("flag an effect that nobody declared, after untrusted data only", () => {
    const rules = [allow("*")];
    expect(judge(rules, { effect: "undeclared", untrusted: true }).flags).toEqual(["effect-undeclared"]);
    expect(judge(rules, { effect: "undeclared" }).flags).toBeUndefined();
    expect(judge(rules, { effect: "write", untrusted: true }).flags).toBeUndefined();
  });

  it("limit how often a tool is called", () => {
    const rules = [allow("send"), limit("send", { perRun: 2 })];
    expect([0, 1, 2, 3].map((calls) => verdict(rules, { calls }))).toEqual([
      "allow",
      "allow",
      "deny",
      "deny",
    ]);
    expect(verdict([limit("send", { perRun: 2 })])).toBe("deny");
    expect(
      policy({ name: "p", rules: [...rules, ask("*").unless(not(calls({ atLeast: 1 })))] }).counted,
    ).toEqual(["send", "*"]);
    expect(policy({ name: "p", rules: [allow("send")] }).counted).toEqual([]);
  });
});

describe("annotations of tools", () => {
  const rules = [allow("*").when(roles("target").are(boundToIntent("email")))];
  const annotated = policy({
    name: "p",
    rules,
    tools: { send: { effect: "read", parameters: { x: { role: "target", type: "email" }, y: "content" } } },
  });

  it("stand over what the tool says of itself", () => {
    expect(verdictBy(annotated, { effect: "write", arguments: { y: "secret" } })).toBe("allow");
    expect(verdictBy(annotated, { tool: "post", effect: "write", arguments: { y: "secret" } })).toBe("deny");
    expect(
      verdictBy(policy({ name: "p", rules: [], tools: { send: { effect: "write" } } }), { effect: "read" }),
    ).toBe("deny");
    expect(
      verdictBy(policy({ name: "p", rules: [], tools: { send: { effect: "write" } } }), { kind: "memory" }),
    ).toBe("allow");
  });

  it("leave what they do not speak of", () => {
    const asked: unknown[] = [];
    const parameters = { z: { role: "target", type: "iban" } } as const;
    const said = {
      arguments: { x: "a", z: "b" },
      parameters,
      asked: (...each: unknown[]) => asked.push(each),
    };
    verdictBy(
      policy({
        name: "p",
        rules: [allow("*").when(roles("target").are(boundToIntent()))],
        tools: annotated.tools,
      }),
      {
        ...said,
        bound: ["a", "b"],
      },
    );
    expect(asked).toEqual([
      ["a", "email"],
      ["b", "iban"],
    ]);
  });
});

describe("conditions", () => {
  it("effect", () => {
    expect(truth(effect("write", "none"), { effect: "write" })).toBe(true);
    expect(truth(effect("write"), { effect: "irreversible" })).toBe(false);
    expect(truth(effect("undeclared"), { effect: "magic" as "read" })).toBe(true);
    expect(truth(effect("none"), { effect: "write", kind: "knowledge" })).toBe(true);
  });

  it("untrusted", () => {
    expect(truth(untrusted(), { untrusted: true })).toBe(true);
    expect(truth(untrusted(), {})).toBe(false);
    const { knows, ...call } = callOf();
    const label = { ...knows.label, integrity: "holy" as "trusted" };
    const rules = policy({ name: "p", rules: [allow("*"), ask("*").when(untrusted())] });
    expect(rules({ ...call, knows: { ...knows, label } }).verdict).toBe("ask");
  });

  it("calls", () => {
    expect(truth(calls({ atLeast: 2 }), { calls: 2 })).toBe(true);
    expect(truth(calls({ atLeast: 2 }), { calls: 1 })).toBe(false);
    expect(truth(calls({ atLeast: 2 }), { calls: Number.NaN })).toBe("unsaid");
    expect(truth(calls({ atLeast: 2 }), { calls: "3" as unknown as number })).toBe("unsaid");
  });

  it("oneOf: to the letter, and a text that only looks the same is neither", () => {
    expect(truth(x.is(oneOf("a", 1, null)), args("a"))).toBe(true);
    expect(truth(x.is(oneOf("a", 1)), args(1))).toBe(true);
    expect(truth(x.is(oneOf("a", 1)), args("b"))).toBe(false);
    expect(truth(x.is(oneOf("a", 1)), args("1"))).toBe("unsaid");
    expect(truth(x.is(oneOf("admin")), args("Admin"))).toBe("unsaid");
    expect(truth(x.is(oneOf("admin")), args("ａdmin"))).toBe("unsaid");
    expect(truth(x.is(oneOf("admin")), args("ad\u200bmin "))).toBe("unsaid");
    expect(truth(x.is(oneOf("a")), args(null))).toBe(false);
    expect(truth(x.is(oneOf(null)), {})).toBe(true);
  });

  it("within: numbers only, bounds included", () => {
    const five = x.is(within({ min: 1, max: 5 }));
    expect([0, 1, 5, 6].map((value) => truth(five, args(value)))).toEqual([false, true, true, false]);
    expect(truth(x.is(within({ max: 5 })), args(-1e300))).toBe(true);
    expect(truth(x.is(within({ min: 5 })), args(1e300))).toBe(true);
    for (const odd of ["3", true, Number.NaN, Infinity, 3n]) expect(truth(five, args(odd))).toBe("unsaid");
    expect(truth(five, {})).toBe(false);
  });

  it.each<[value: Json, pattern: string, expected: boolean | "unsaid"]>([
    ["a@example.com", "example.com", true],
    ["a@EXAMPLE.com", "example.com", true],
    ["a@example.com", "*.example.com", false],
    ["a@mail.example.com", "*.example.com", true],
    ["a@evilexample.com", "*.example.com", false],
    ["a@evilexample.com", "example.com", false],
    ["https://example.com/x?y=a@b.c", "example.com", true],
    ["https://example.com./", "example.com", true],
    ["https://example.com:8443/", "example.com", true],
    ["example.com", "example.com", true],
    ["evil.com/example.com", "example.com", "unsaid"],
    ["https://example.com@evil.com/", "example.com", "unsaid"],
    ["https://evil.com\\@example.com/", "example.com", "unsaid"],
    ["https://evil.com/@example.com", "example.com", false],
    ["https://evil.com#example.com", "example.com", false],
    ["javascript://example.com/%0aalert(1)", "example.com", "unsaid"],
    ["ssh://evil.com%2f.example.com/x", "*.example.com", "unsaid"],
    ["a@example.com, b@evil.com", "example.com", "unsaid"],
    ["b@evil.com,a@example.com", "example.com", "unsaid"],
    ["A <a@example.com>", "example.com", true],
    ["b@evil.com <a@example.com>", "example.com", "unsaid"],
    ["a@b@example.com", "example.com", "unsaid"],
    ["a@example.com\nBcc: b@evil.com", "example.com", "unsaid"],
    ["a@exam\u200bple.com", "example.com", "unsaid"],
    ["An\u200bn <a@example.com>", "example.com", "unsaid"],
    ["a@example.com?cc=b@evil.com", "example.com", "unsaid"],
    ["a%evil.com@example.com", "example.com", "unsaid"],
    ["evil.com/x@example.com", "example.com", "unsaid"],
    ["//evil.com/x@example.com", "evil.com", "unsaid"],
    ["evil.com?@example.com", "example.com", "unsaid"],
    ["//evil.com/ <x@example.com>", "example.com", "unsaid"],
    ["evil.com!a@example.com", "example.com", "unsaid"],
    ["=?x?q?a=40evil.com=3e?=@example.com", "example.com", "unsaid"],
    ["a+b=c&d'e@example.com", "example.com", true],
    ["ssh://EXAMPLE.com/x", "example.com", true],
    ["ssh://127.1/x", "127.0.0.1", "unsaid"],
    ["ssh://build/x", "build", true],
    ["ssh://[::1]/x", "example.com", false],
    ["http://2130706433/", "127.0.0.1", true],
    [5, "example.com", "unsaid"],
    ["", "example.com", false],
  ])("hostIn: %j in %j is %j", (value, pattern, expected) => {
    expect(truth(x.is(hostIn(pattern)), args(value))).toBe(expected);
    expect(truth(x.is(hostIn("other.example", pattern)), args(value))).toBe(expected);
  });

  it("absent", () => {
    for (const value of [null, "", [], {}, undefined, [null, ""]])
      expect(truth(x.is(absent()), args(value))).toBe(true);
    expect(truth(x.is(absent()), {})).toBe(true);
    for (const value of [0, false, " ", ["a"], { a: 1 }])
      expect(truth(x.is(absent()), args(value))).toBe(false);
  });

  it("boundToIntent: asks with the type of the rule, else that of the tool", () => {
    const asked: unknown[] = [];
    const said: Said = { bound: ["a"], asked: (...each) => asked.push(each) };
    const parameters = { x: { role: "target", type: "iban" } } as const;
    expect(truth(x.is(boundToIntent("email")), args("a", said))).toBe(true);
    expect(truth(x.is(boundToIntent()), args("b", said))).toBe(false);
    expect(truth(x.is(boundToIntent()), args("a", { ...said, parameters }))).toBe(true);
    expect(truth(x.is(boundToIntent("path")), args("a", { ...said, parameters }))).toBe(true);
    expect(asked).toContainEqual(["a", "email"]);
    expect(asked).toContainEqual(["a", "path"]);
    expect(asked).toContainEqual(["a", "iban"]);
    expect(asked).toContainEqual(["b", undefined]);
    expect(truth(x.is(boundToIntent()), {})).toBe(true);
    expect(truth(x.is(boundToIntent()), args([null, ""]))).toBe(true);
    expect(truth(x.is(boundToIntent()), args(false))).toBe(false);
  });

  it("arg: each value of a list, a path through objects and lists", () => {
    expect(truth(x.each(oneOf("a", "b")), args(["a", "b"]))).toBe(true);
    expect(truth(x.each(oneOf("a", "b")), args(["a", ["c"]]))).toBe(false);
    expect(truth(arg("x.to").each(oneOf("a")), args([{ to: "a" }, { to: ["a", "a"] }]))).toBe(true);
    expect(truth(arg("x.to").each(oneOf("a")), args([{ to: "a" }, { to: "b" }]))).toBe(false);
    expect(
      truth(arg("x.to").is(boundToIntent()), { arguments: { "x.to": "evil", x: { to: "a" } }, bound: ["a"] }),
    ).toBe(false);
    expect(truth(arg("toString").is(absent()), {})).toBe(true);
  });

  it("arg: a plain value where the path goes on cannot be judged", () => {
    expect(truth(arg("x.to").is(boundToIntent()), args("evil@example.com"))).toBe("unsaid");
    expect(truth(arg("x.to").is(absent()), args([{ to: null }, "evil"]))).toBe("unsaid");
    expect(truth(arg("x.to").is(absent()), args(null))).toBe(true);
  });

  it("arg: the names of a map are values of it", () => {
    expect(truth(x.each(oneOf("a")), args({ "evil@example.com": "a" }))).toBe(false);
    expect(truth(x.each(oneOf("a")), args({ name: "a" }))).toBe(true);
  });

  it("roles: declared ones; the others are targets of an effect and content of a look", () => {
    const parameters = { to: "target", text: "content", sum: "amount", file: { role: "id" } } as const;
    const said = { arguments: { to: "a", text: "t", sum: 5, file: "f", more: "m" }, parameters };
    const each = (
      role: "target" | "content" | "amount" | "id",
      ...values: readonly Json[]
    ): boolean | "unsaid" => truth(roles(role).are(oneOf(...values)), said);
    expect(each("target", "a", "m")).toBe(true);
    expect(each("target", "a")).toBe(false);
    expect(each("content", "t")).toBe(true);
    expect(each("amount", 5)).toBe(true);
    expect(each("id", "f")).toBe(true);
    expect(truth(roles("target", "id").are(oneOf("a", "m")), said)).toBe(false);
    const looking = { ...said, effect: "read" } as const;
    expect(truth(roles("target").are(oneOf("a")), looking)).toBe(true);
    expect(truth(roles("content").are(oneOf("t", "m")), looking)).toBe(true);
    expect(truth(roles("target").are(oneOf("m")), { arguments: { to: "m" }, effect: "undeclared" })).toBe(
      true,
    );
  });

  it("roles: every leaf has the role of its parameter, and a role that nobody knows is a target", () => {
    const parameters = { event: "content", odd: "boss" as "target" } as const;
    const said = { arguments: { event: { to: ["a", { b: "c" }] }, odd: "o" }, parameters };
    expect(truth(roles("content").are(oneOf("a", "c")), said)).toBe(true);
    expect(truth(roles("target").are(oneOf("o")), said)).toBe(true);
    expect(truth(roles("amount").are(oneOf("nothing")), said)).toBe(true);
    const inherited = { arguments: { toString: "t", constructor: "c" }, parameters: {} };
    expect(truth(roles("target").are(oneOf("t", "c")), inherited)).toBe(true);
    expect(truth(roles("target").are(oneOf("whole")), { arguments: "whole" })).toBe(true);
    expect(truth(roles("target").are(oneOf("a")), { arguments: { "x y": "a" } })).toBe(false);
  });

  it("unknownLinks: in content, or in one argument", () => {
    const parameters = { text: "content" } as const;
    const said = (text: unknown): Said => ({
      arguments: { text, to: "https://evil.example/" },
      parameters,
      links: ["https://known.example/"],
    });
    expect(truth(unknownLinks(), said("see https://evil.example/x"))).toBe(true);
    expect(truth(unknownLinks(), said(["a", { b: "https://evil.example/x" }]))).toBe(true);
    expect(truth(unknownLinks(), said("see https://known.example/"))).toBe(false);
    expect(truth(unknownLinks(), said("no link, 5"))).toBe(false);
    expect(truth(unknownLinks("to"), said(""))).toBe(true);
    expect(truth(unknownLinks("text"), said("https://known.example/"))).toBe(false);
    expect(truth(unknownLinks(), said(Symbol("x")))).toBe("unsaid");
  });

  it("secrecyExceedsTargets", () => {
    const told = (to: unknown, secrecy: Said["secrecy"], more: Said = {}): boolean | "unsaid" =>
      truth(secrecyExceedsTargets(), { arguments: { to }, secrecy, ...more });
    const readers = { readers: ["ada@example.com", "example.org"] };
    expect(told("eve@example.net", "public")).toBe(false);
    expect(told("ada@example.com", "private")).toBe(true);
    expect(told(null, "private")).toBe(false);
    expect(told("ada@example.com", readers)).toBe(false);
    expect(told("Ada@Example.com", readers)).toBe(false);
    expect(told("ada@example.com", { readers: ["Ada <Ada@Example.COM>"] })).toBe(false);
    expect(told("https://example.org/x", { readers: ["Example.ORG."] })).toBe(false);
    expect(told("https://example.org/x", { readers: ["https://example.org/y"] })).toBe(true);
    expect(told(["ada@example.com", "eve@example.net"], readers)).toBe(true);
    expect(told("eve@example.org", readers)).toBe(true);
    expect(told("https://example.org/x", readers)).toBe(false);
    expect(told("https://example.net/x", readers)).toBe(true);
    expect(told("general", readers)).toBe(true);
    expect(told(5, readers)).toBe(true);
    expect(told("/data/x", "private", { parameters: { to: { role: "target", type: "path" } } })).toBe(false);
    expect(told("x-1", "private", { parameters: { to: "id" } })).toBe(false);
    const content = { parameters: { to: "content" }, links: ["https://known.example/"] } as const;
    expect(told("https://evil.example/", "private", content)).toBe(true);
    expect(told("https://example.org/a", readers, content)).toBe(false);
    expect(told("https://known.example/", "private", content)).toBe(false);
    expect(told(5n, "private")).toBe("unsaid");
    expect(told("a", { readers: "all" } as unknown as "private")).toBe("unsaid");
  });

  it("all, any, not: what cannot be said stays unsaid unless the rest decides", () => {
    const [yes, no, unsaid] = [effect("irreversible"), effect("read"), x.is(within({ min: 1 }))];
    const said = args("odd");
    const table = [
      [all(yes, yes), true],
      [all(yes, no), false],
      [all(unsaid, yes), "unsaid"],
      [all(unsaid, no), false],
      [any(no, yes), true],
      [any(no, no), false],
      [any(unsaid, no), "unsaid"],
      [any(unsaid, yes), true],
      [not(yes), false],
      [not(no), true],
      [not(unsaid), "unsaid"],
    ] as const;
    for (const [condition, expected] of table)
      expect(truth(condition, said), JSON.stringify(condition)).toBe(expected);
  });
});

describe("what cannot be evaluated", () => {
  const throwing = {
    get to(): string {
      throw new TypeError("no");
    },
  };
  const rule = roles("target").are(boundToIntent());

  it("allows nothing and keeps no deny and no ask away", () => {
    expect(truth(rule, { arguments: throwing })).toBe("unsaid");
    expect(truth(arg("to").is(absent()), { arguments: throwing })).toBe("unsaid");
    expect(
      truth(rule, {
        arguments: new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error("x");
            },
          },
        ),
      }),
    ).toBe("unsaid");
    expect(truth(rule, { arguments: { to: new Date(0) } })).toBe("unsaid");
    expect(truth(rule, { arguments: { to: () => 1 } })).toBe("unsaid");
    const circle: Record<string, unknown> = {};
    circle["to"] = circle;
    expect(truth(rule, { arguments: circle })).toBe("unsaid");
    expect(truth(rule, { arguments: { to: Array.from({ length: 6000 }, () => "") } })).toBe("unsaid");
    let deep: unknown = "x";
    for (let depth = 0; depth < 100; depth += 1) deep = [deep];
    expect(truth(unknownLinks(), { arguments: { to: deep }, parameters: { to: "content" } })).toBe("unsaid");
    expect(truth(unknownLinks("to"), { arguments: { to: deep } })).toBe("unsaid");
    expect(truth(secrecyExceedsTargets(), { arguments: { to: deep }, secrecy: "private" })).toBe("unsaid");
    const many = { to: Array.from({ length: 6000 }, () => ({ x: null })) };
    expect(truth(arg("to.x").is(absent()), { arguments: many })).toBe("unsaid");
    expect(truth(rule, { arguments: { to: deep } })).toBe("unsaid");
    expect(truth(arg("to.x").is(absent()), { arguments: { to: deep } })).toBe("unsaid");
  });

  it("is a run that knows nothing, too", () => {
    const { knows: _knows, ...call } = callOf({ arguments: { to: "a" } });
    for (const condition of [untrusted(), rule, calls({ atLeast: 1 }), secrecyExceedsTargets()]) {
      const cannot = call as ReturnType<typeof callOf>;
      expect(policy({ name: "p", rules: [allow("*").when(condition)] })(cannot).verdict).toBe("deny");
      expect(policy({ name: "p", rules: [allow("*"), ask("*").when(condition)] })(cannot).verdict).toBe(
        "ask",
      );
    }
    const decision = policy({ name: "p", rules: [] })(call as ReturnType<typeof callOf>);
    expect(decision.evidence?.label).toEqual({
      integrity: "untrusted",
      secrecy: "private",
      sources: ["unreadable"],
    });
  });

  it("is a promise where yes or no is expected", () => {
    const call = callOf({ arguments: { to: "a" } });
    const knows = { ...call.knows, isBound: () => Promise.resolve(true) as unknown as boolean };
    expect(policy({ name: "p", rules: [allow("*").when(rule)] })({ ...call, knows }).verdict).toBe("deny");
    expect(policy({ name: "p", rules: [allow("*"), deny("*").when(rule)] })({ ...call, knows }).verdict).toBe(
      "deny",
    );
    const links = { ...call.knows, isKnownLink: () => Promise.resolve(true) as unknown as boolean };
    const posted = { ...call, arguments: { to: "https://x.example/" }, knows: links };
    expect(
      policy({ name: "p", rules: [allow("*"), ask("*").when(unknownLinks("to"))] })(posted).verdict,
    ).toBe("ask");
  });

  it("is denied where even the call cannot be read", () => {
    const hostile = new Proxy(callOf(), {
      get: () => {
        throw new Error("no");
      },
    });
    expect(policy({ name: "p", rules: [allow("*")] })(hostile)).toEqual({
      verdict: "deny",
      rule: "policy-error",
      reason: "the call cannot be read",
    });
  });

  it("looks at arguments and knowledge once, however many rules ask", () => {
    const looked = { arguments: 0, knows: 0 };
    const call = callOf({ arguments: { to: "a" }, bound: ["a"] });
    const watched = {
      ...call,
      get arguments() {
        looked.arguments += 1;
        return call.arguments;
      },
      get knows() {
        looked.knows += 1;
        return call.knows;
      },
    };
    policy({
      name: "p",
      rules: [allow("*").when(rule), ask("*").when(not(rule)), deny("*").when(unknownLinks())],
    })(watched);
    expect(looked).toEqual({ arguments: 1, knows: 1 });
  });
});
