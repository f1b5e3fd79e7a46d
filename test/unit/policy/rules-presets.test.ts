import { describe, expect, it } from "vitest";
import { guarded, strict } from "../../../src/policy/study/guarded.ts";
import { sensible } from "../../../src/policy/rules/sensible.ts";
import { deny } from "../../../src/policy/rules/builders.ts";
import { callOf, type Said, verdictBy } from "./rules-scene.ts";

const parameters = { to: "target", euro: "amount", text: "content", file: "id" } as const;
const mail = (args: object, more: Said = {}): Said => ({
  arguments: args,
  parameters,
  untrusted: true,
  bound: ["ada@example.com", 5, "f-1"],
  links: ["https://known.example/"],
  ...more,
});
const good = { to: "ada@example.com", euro: 5, file: "f-1", text: "see https://known.example/" };

describe("guarded", () => {
  const policy = guarded();
  const by = (said: Said): string => {
    const { verdict, rule } = policy(callOf(said));
    return `${verdict} ${rule.replace("guarded/", "")}`;
  };

  it("allows looking, and everything before untrusted data", () => {
    for (const effect of ["none", "read"] as const)
      expect(verdictBy(policy, { effect, untrusted: true, arguments: { to: "eve" } })).toBe("allow");
    for (const effect of ["write", "irreversible", "undeclared"] as const)
      expect(verdictBy(policy, { effect, arguments: { to: "eve@example.com" } })).toBe("allow");
  });

  it("allows after untrusted data what acts on the user's own choice", () => {
    for (const effect of ["write", "irreversible", "undeclared"] as const)
      expect(by(mail(good, { effect }))).toBe("allow chosen");
    expect(by(mail({ to: "ada@example.com" }))).toBe("allow chosen");
  });

  it("asks about a target, an amount, an id, or an argument that nobody spoke of, that the user did not choose", () => {
    for (const wrong of [
      { to: "eve@example.com" },
      { euro: 6 },
      { file: "f-2" },
      { more: "x" },
      { to: ["ada@example.com", "eve"] },
    ])
      expect(by(mail({ ...good, ...wrong }))).toBe("ask not-chosen");
    expect(by(mail({ ...good, to: "eve" }, { effect: "undeclared" }))).toBe("ask not-chosen");
  });

  it("asks about a link of a stranger in content", () => {
    expect(by(mail({ ...good, text: "see https://evil.example/" }))).toBe("ask unknown-links");
  });

  it("asks where what was seen may not be told to the targets", () => {
    expect(by(mail(good, { secrecy: "private" }))).toBe("ask secrecy");
    expect(by(mail({ ...good, euro: null }, { secrecy: { readers: ["ada@example.com"] } }))).toBe(
      "allow chosen",
    );
    expect(by(mail(good, { secrecy: "private", untrusted: false }))).toBe("allow chosen");
  });

  it("lets be told after private data what the user said, and nothing beside it", () => {
    const text = "Book 'Lunch' with ada@example.com on 2024-05-19 at 12:00 for one hour";
    const tell = (args: object): string => {
      const call = callOf(mail({ to: "ada@example.com", ...args }, { secrecy: "private" }));
      const { intent } = call.knows;
      const { verdict, rule } = policy({ ...call, knows: { ...call.knows, intent: { ...intent, text } } });
      return `${verdict} ${rule.replace("guarded/", "")}`;
    };
    expect(tell({ text: "Lunch" })).toBe("allow chosen");
    expect(tell({ text: "2024-05-19 13:00" })).toBe("allow chosen");
    expect(tell({})).toBe("allow chosen");
    expect(tell({ text: "Lunch. My pin is 4711" })).toBe("ask secrecy");
    expect(tell({ text: "2024-05-19 14:00" })).toBe("ask secrecy");
    expect(tell({ file: "f-1" })).toBe("ask secrecy"); // looked up, and nothing that the user said
    expect(tell({ to: ["ada@example.com", "eve@example.com"] })).toBe("ask not-chosen");
  });

  it("asks before an irreversible or undeclared effect that acts on nothing one could choose", () => {
    expect(by(mail({ text: "hello" }))).toBe("ask nothing-chosen");
    expect(by(mail({}, { effect: "undeclared" }))).toBe("ask nothing-chosen");
    expect(by(mail({ text: "hello" }, { effect: "write" }))).toBe("allow chosen");
    expect(by(mail({}, { effect: "write", named: false }))).toBe("ask nothing-chosen");
    expect(by(mail({ text: "" }, { effect: "write", named: false }))).toBe("ask nothing-chosen");
    expect(by(mail({ text: "hello" }, { effect: "write", named: false }))).toBe("allow chosen");
    expect(by(mail(good, { effect: "write", named: false }))).toBe("allow chosen");
    expect(by(mail({}, { untrusted: false }))).toBe("allow chosen");
  });

  it("asks before looking where that tells what not everybody may know", () => {
    const look = (args: object, more: Said = {}): string =>
      by({
        ...mail(args, { effect: "read", secrecy: "private" }),
        parameters: { site: "target", query: "content" },
        ...more,
      });
    expect(look({ site: "https://evil.example/?q=secret" })).toBe("ask secrecy-of-looking");
    expect(look({ query: "see https://evil.example/?q=secret" })).toBe("ask secrecy-of-looking");
    expect(look({ query: "see https://known.example/" })).toBe("allow chosen");
    expect(look({ site: "ada@example.com" })).toBe("allow chosen");
    expect(look({ query: "plain words" })).toBe("allow chosen");
    expect(look({ unlisted: "plain words" })).toBe("ask secrecy-of-looking");
    expect(look({ unlisted: "plain words" }, { effect: "none" })).toBe("allow chosen");
    expect(look({ site: "https://evil.example/?q=secret" }, { secrecy: "public" })).toBe("allow chosen");
    expect(look({ site: "https://evil.example/?q=secret" }, { untrusted: false })).toBe("allow chosen");
  });

  it("leaves knowledge and memory alone", () => {
    for (const kind of ["knowledge", "memory"] as const)
      expect(verdictBy(policy, mail({ content: "https://evil.example/" }, { kind }))).toBe("allow");
  });

  it("asks where it cannot tell", () => {
    const hostile = {
      get to(): string {
        throw new Error("no");
      },
    };
    expect(verdictBy(policy, mail(hostile))).toBe("ask");
  });

  it("takes rules, annotations and constants beside its own", () => {
    const more = guarded({
      name: "mine",
      extraRules: [deny("send")],
      tools: { look: { effect: "read" } },
      constants: ["x"],
    });
    expect(more.name).toBe("mine");
    expect(more.constants).toEqual(["x"]);
    expect(verdictBy(more, {})).toBe("deny");
    expect(verdictBy(more, mail({ to: "eve" }, { tool: "look", effect: "undeclared" }))).toBe("allow");
    expect(more.toJSON()).toMatchObject({
      rules: "guarded",
      extraRules: [{ verdict: "deny", tools: ["send"] }],
    });
  });
});

describe("strict", () => {
  it("asks about every effect after untrusted data, whoever chose the values", () => {
    for (const effect of ["write", "irreversible", "undeclared"] as const) {
      expect(verdictBy(strict(), mail(good, { effect }))).toBe("ask");
      expect(verdictBy(strict(), mail(good, { effect, untrusted: false }))).toBe("allow");
    }
    expect(verdictBy(strict(), mail(good, { effect: "read" }))).toBe("allow");
    expect(verdictBy(strict(), mail(good, { kind: "memory" }))).toBe("allow");
    expect(strict({ name: "s" }).toJSON()).toEqual({ name: "s", rules: "strict" });
  });
});

describe("sensible", () => {
  it("asks about a declared effect after untrusted data only", () => {
    for (const effect of ["write", "irreversible"] as const) {
      const decision = sensible(callOf(mail(good, { effect })));
      expect(decision).toMatchObject({ verdict: "ask", rule: "sensible" });
      expect(decision.evidence).toEqual({ label: callOf({ untrusted: true }).knows.label, intent: "1f2e3d" });
      expect(verdictBy(sensible, mail(good, { effect, untrusted: false }))).toBe("allow");
      expect(verdictBy(sensible, mail(good, { effect, kind: "memory" }))).toBe("allow");
      expect(verdictBy(sensible, mail(good, { effect, kind: "knowledge" }))).toBe("allow");
    }
  });

  it("lets an undeclared effect work, and says so after untrusted data", () => {
    expect(sensible(callOf(mail(good, { effect: "undeclared" })))).toMatchObject({
      verdict: "allow",
      flags: ["effect-undeclared"],
    });
    expect(sensible(callOf({ effect: "undeclared" })).flags).toBeUndefined();
    expect(sensible(callOf({ effect: "undeclared", untrusted: true, kind: "memory" })).flags).toBeUndefined();
  });

  it.each([
    ["it changes nothing", { effect: "read", untrusted: true }],
    ["it changes nothing", { effect: "none" }],
    ["the model has read no data of strangers", { effect: "irreversible", untrusted: false }],
    [
      "it is knowledge or memory, which an agent may always use",
      { effect: "write", untrusted: true, kind: "memory" },
    ],
    ["it declares no effect", { effect: "undeclared", untrusted: true }],
  ] as const)("says why it allows a call, with the same decision each time: %s", (reason, call) => {
    const decision = sensible(callOf(call));
    expect(decision).toMatchObject({ verdict: "allow", rule: "sensible", reason });
    expect(Object.isFrozen(decision)).toBe(true);
    expect(sensible(callOf({ ...call, tool: "other" }))).toBe(decision);
  });

  it("asks where the label cannot be read", () => {
    const { knows, ...call } = callOf({ effect: "write" });
    const label = { ...knows.label, integrity: "holy" as "trusted" };
    expect(sensible({ ...call, knows: { ...knows, label } }).verdict).toBe("ask");
  });
});
