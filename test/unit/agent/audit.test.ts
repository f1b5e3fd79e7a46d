import { describe, expect, it } from "vitest";
import { mcpTools } from "../../../src/adapters/mcp/tools.ts";
import { agent } from "../../../src/adapters/node.ts";
import type { Audit } from "../../../src/agent/describe/audit-data.ts";
import { skill } from "../../../src/agent/skill.ts";
import { strict } from "../../../src/policy/study/guarded.ts";
import { memoryBank } from "../../../src/session/memory-bank.ts";
import { env, exec, fs, net, secret } from "../../../src/tool/capability.ts";
import { knowledge } from "../../../src/tool/knowledge.ts";
import { tool, type Tool } from "../../../src/tool/tool.ts";

type Rest = Partial<Pick<Tool, "effect" | "trusted" | "secrecy" | "needs">>;

function named(name: string, rest: Rest = {}): Tool {
  const made = tool({ name, description: "", inputSchema: { type: "object" }, execute: () => "x" });
  return { ...made, ...rest };
}

type Definition = Omit<Parameters<typeof agent>[0], "name">;

const audit = (definition: Definition): Audit =>
  agent({ name: "a", model: () => "done", ...definition }).audit();
const rulesOf = ({ findings }: Audit): string[] =>
  findings.map(({ severity, rule }) => `${severity} ${rule}`);

const read = named("read_mail", { effect: "read" }); // A
const diary = named("diary", { effect: "read", trusted: true, secrecy: "private" }); // B
const send = named("send", { effect: "irreversible", trusted: true }); // C
const post = named("post", { effect: "read", trusted: true, needs: [net("x.example")] }); // a way out
const add = named("add", { effect: "none" });

describe("agent.audit()", () => {
  it("finds nothing in what only computes", () => {
    expect(audit({ tools: [add] })).toEqual({
      agent: "a",
      skills: { a: { untrustedInput: [], sensitiveAccess: [], stateChange: [], wayOut: [] } },
      findings: [],
    });
  });

  it.each<[string, Tool[], string[]]>([
    ["A alone", [read], ["low unenforced"]],
    ["A and B", [read, diary], ["low unenforced"]],
    ["B and C", [diary, send], []],
    ["A and C", [read, send], ["medium untrusted-change", "low unenforced"]],
    ["A, B and C", [read, diary, send], ["high lethal-trifecta", "low unenforced"]],
    ["A, B and a way out", [read, diary, post], ["high lethal-trifecta", "low unenforced"]],
    ["A and a way out, with nothing to carry out", [read, post], ["low unenforced"]],
  ])("applies the Rule of Two: %s", (_what, tools, rules) => {
    expect(rulesOf(audit({ tools, grants: tools.includes(post) ? [net("x.example")] : [] }))).toEqual(rules);
  });

  it("says why, and looks at each skill by itself", () => {
    const apart = audit({
      skills: [
        skill({ name: "reader", description: "", tools: [read, diary] }),
        skill({ name: "sender", description: "", tools: [send] }),
        skill({ name: "plain", description: "", execute: () => 1 }),
      ],
    });
    expect(Object.keys(apart.skills)).toEqual(["reader", "sender"]);
    expect(rulesOf(apart)).toEqual(["low unenforced"]);
    const [first] = audit({ tools: [read, diary, send] }).findings;
    expect(first).toMatchObject({
      skill: "a",
      message:
        "Strangers' words can reach what is private and act on it: read_mail gives untrusted results; diary gives what not everybody may know; send has the effect irreversible.",
    });
  });

  it.each<[string, Rest, Definition["grants"], "sensitiveAccess" | "stateChange" | "wayOut"]>([
    ["files", { needs: [fs.read("/data")] }, [fs.read("/")], "sensitiveAccess"],
    ["variables", { needs: [env("A")] }, [env("A")], "sensitiveAccess"],
    ["secrets", { needs: [secret("A")] }, [secret("A")], "sensitiveAccess"],
    ["writing", { needs: [fs.write("/data")] }, [fs.write("/data")], "stateChange"],
    ["programs", { needs: [exec("git")] }, [exec("git")], "stateChange"],
    ["hosts", { needs: [net("a.example.com")] }, [net("*.example.com")], "wayOut"],
  ])("counts needs only where they are granted: %s", (...[, rest, grants, part]) => {
    const tools = [named("t", { effect: "read", trusted: true, ...rest })];
    expect(audit({ tools, grants }).skills["a"]?.[part]).toHaveLength(1);
    const without = audit({ tools });
    expect(without.skills["a"]?.[part]).toEqual([]);
    expect(rulesOf(without)).toEqual(["low need-not-granted"]);
  });

  it("counts memory for private, and knowledge for the author's own", () => {
    const faq = knowledge({ name: "faq", description: "", load: () => "" });
    const { skills, findings } = audit({
      memory: memoryBank(),
      skills: [skill({ name: "s", description: "", tools: [], knowledge: [faq] })],
    });
    expect(findings).toEqual([]);
    expect(skills["s"]).toMatchObject({ untrustedInput: [], stateChange: [] });
    expect(skills["s"]?.sensitiveAccess.join()).toContain("memory_read");
  });

  it("tells effects that nobody declared, as less where the policy guards them", () => {
    const tools = [named("t", { trusted: true })];
    expect(rulesOf(audit({ tools }))).toEqual(["medium effect-undeclared"]);
    expect(rulesOf(audit({ tools, policy: strict() }))).toEqual(["low effect-undeclared"]);
    const known = strict({ tools: { t: { effect: "read" } } });
    expect(rulesOf(audit({ tools, policy: known }))).toEqual([]);
  });

  it("tells grants that nobody needs, and grants that leave nothing out", () => {
    expect(rulesOf(audit({ tools: [add], grants: [net("a.example")] }))).toEqual(["low grant-unused"]);
    for (const grant of [
      net("*"),
      net("*:8443"),
      fs.read("/"),
      fs.write("/etc"),
      exec("bash"),
      exec("/usr/bin/node"),
    ])
      expect(
        rulesOf(
          audit({ tools: [named("t", { effect: "read", trusted: true, needs: [grant] })], grants: [grant] }),
        ),
      ).toEqual(["high wide-grant"]);
    const fine = [net("*.example.com"), fs.read("/data"), exec("git")];
    expect(
      rulesOf(audit({ tools: [named("t", { effect: "read", trusted: true, needs: fine })], grants: fine })),
    ).toEqual([]);
  });

  it("counts a server's tool for remote, untrusted, and a way out; and tells one that looks like another", async () => {
    const client = {
      listTools: async () => ({ tools: [{ name: "search", inputSchema: { type: "object" } }] }),
      callTool: async () => ({}),
    };
    const tools = await mcpTools(client, { server: "notes", tools: { search: { effect: "read" } } });
    const { skills, findings } = audit({ tools: [tools, diary] });
    expect(skills["a"]).toMatchObject({
      untrustedInput: [
        "notes/search gives untrusted results",
        "nobody approved what the server notes says of notes/search",
      ],
      wayOut: ["notes/search sends its arguments to the server notes"],
      stateChange: [],
    });
    expect(findings.map(({ rule }) => rule)).toEqual(["lethal-trifecta", "unenforced"]);
    const own = await mcpTools(client, {
      server: "notes",
      tools: { search: { effect: "read", trusted: true } },
      approve: () => true,
    });
    expect(audit({ tools: [own, diary] }).skills["a"]?.untrustedInput).toEqual([]);
    const twin = named("notes_search", { effect: "none" });
    expect(rulesOf(audit({ tools: [twin, tools] }))).toContain("high look-alike");
    const other = named("notes.search", { effect: "none" });
    expect(rulesOf(audit({ tools: [twin, other] }))).toEqual([]);
    expect(audit({ tools: [twin, other, tools] }).findings[0]).toMatchObject({
      tool: "notes/search",
      message: "notes/search can be taken for notes_search, and one of them is a server's.",
    });
  });

  it("counts what agents inside do, but for what cannot come out of them", () => {
    const reader = agent({ name: "reader", description: "", model: () => "done", tools: [read, add] });
    const inner = (options: Parameters<typeof reader.asTool>[0]): Audit =>
      audit({ tools: [reader.asTool({ effect: "read", ...options }), diary, send] });
    expect(inner({}).skills["a"]?.untrustedInput).toEqual([
      "reader runs the agent reader: read_mail gives untrusted results",
    ]);
    expect(rulesOf(inner({}))).toContain("high lethal-trifecta");
    expect(rulesOf(inner({ deny: ["read_mail"] }))).toEqual([]);
    const judge = agent({
      name: "judge",
      description: "",
      model: () => "true",
      tools: [read],
      output: { type: "boolean" },
    });
    const fresh = audit({ tools: [judge.asTool({ effect: "read", fresh: true }), diary, send] });
    expect(fresh.skills["a"]?.untrustedInput).toEqual([]);
  });
});
