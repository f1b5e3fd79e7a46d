import { describe, expect, it } from "vitest";
import { mcpTools } from "../../../src/adapters/mcp/tools.ts";
import { ollama } from "../../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { agent } from "../../../src/adapters/node.ts";
import { compareManifests } from "../../../src/agent/describe/manifest-compare.ts";
import { manifestText } from "../../../src/agent/describe/manifest.ts";
import type { AgentManifest, PolicyManifest } from "../../../src/agent/describe/manifest-data.ts";
import type { Agent } from "../../../src/agent/agent.ts";
import { parallel } from "../../../src/agent/compose/parallel.ts";
import { skill } from "../../../src/agent/skill.ts";
import { subagents } from "../../../src/agent/subagents.ts";
import type { Policy } from "../../../src/policy/decision.ts";
import { guarded } from "../../../src/policy/study/guarded.ts";
import { narrowed } from "../../../src/policy/study/narrow.ts";
import { policy } from "../../../src/policy/study/policy.ts";
import { allow, deny } from "../../../src/policy/rules/builders.ts";
import { memoryBank } from "../../../src/session/memory-bank.ts";
import { env, fs, net } from "../../../src/tool/capability.ts";
import { knowledge } from "../../../src/tool/knowledge.ts";
import { tool, type Tool } from "../../../src/tool/tool.ts";

const object = { type: "object", properties: { to: { type: "string" }, text: { type: "string" } } } as const;
const done = (): string => "done";

function named(name: string, rest: Partial<Tool> = {}): Tool {
  return { ...tool({ name, description: "", inputSchema: object, execute: () => "x" }), ...rest };
}

const send = tool({
  name: "send",
  description: "Send a mail",
  inputSchema: object,
  effect: "irreversible",
  needs: [net("mail.example"), env("FROM")],
  parameters: { to: "target", text: { role: "content", type: "text" } },
  constraints: { maxCalls: 2 },
  execute: () => "sent",
});

describe("agent.manifest()", () => {
  it("says all that an agent may do, as sorted data [O5]", async () => {
    const clerk = agent({
      name: "clerk",
      model: done,
      grants: [net("mail.example"), fs.read("/data"), net("mail.example")],
      policy: policy({
        name: "mail",
        rules: [allow("send"), deny("look")],
        tools: {
          look: { effect: "read", trusted: true, secrecy: { readers: ["b@x.example", "a@x.example"] } },
        },
        constants: ["me@x.example"],
      }),
      budget: { turns: 5, tokens: 1_000 },
      hooks: [{ name: "nights", beforeToolCall: () => undefined, afterRun: () => undefined }],
      skills: [
        skill({
          name: "mail",
          description: "",
          tools: [send, named("look")],
          knowledge: [knowledge({ name: "faq", description: "", load: () => "" })],
        }),
        skill({ name: "shout", description: "", execute: () => "HEY" }),
      ],
    });
    const manifest = await clerk.manifest();
    expect(manifest).toMatchObject({
      version: 1,
      agent: "clerk",
      grants: ["fs.read(/data)", "net(mail.example)"],
      policy: {
        name: "mail",
        constants: ["me@x.example"],
        rules: [{ verdict: "allow" }, { verdict: "deny" }],
      },
      budget: { turns: 5, tokens: 1_000, toolCalls: 32, durationMs: 300_000, depth: 3 },
      memory: false,
      hooks: { nights: ["afterRun", "beforeToolCall"] },
      servers: {},
    });
    expect(Object.keys(manifest.skills)).toEqual(["mail", "shout"]);
    expect(manifest.skills["shout"]).toEqual({ type: "plain", tools: {} });
    const tools = manifest.skills["mail"]?.tools;
    expect(tools?.["send"]).toEqual({
      effect: "irreversible",
      needs: ["env(FROM)", "net(mail.example)"],
      parameters: { to: "target", text: "content text" },
      trusted: false,
      resolves: false,
      secrecy: "public",
      enforcement: { level: "mediated", mechanism: "handles" },
      constraints: { maxCalls: 2 },
    });
    expect(tools?.["look"]).toMatchObject({
      effect: "read",
      needs: null,
      trusted: true,
      secrecy: ["a@x.example", "b@x.example"],
      enforcement: { level: "none", mechanism: "in process" },
    });
    expect(tools?.["faq"]).toMatchObject({ kind: "knowledge", trusted: true });
  });

  it("says of a tool that its results are trusted where a run trusts them, and tells when that begins", async () => {
    const of = async (said: Pick<Tool, "trusted">): Promise<AgentManifest> => {
      const faq = { ...knowledge({ name: "faq", description: "", load: () => "" }), ...said };
      const tools = [named("sum", { effect: "none", ...said })];
      const skills = [skill({ name: "s", description: "", tools, knowledge: [faq] })];
      return agent({ name: "a", model: done, skills }).manifest();
    };
    const [held, open] = [await of({ trusted: false }), await of({})];
    expect(compareManifests(held, open).map(({ type, path, text }) => `${type}: ${path}: ${text}`)).toEqual([
      "widened: skills › s › tools › faq › trusted: false → true",
      "widened: skills › s › tools › sum › trusted: false → true",
    ]);
  });

  it("is the same text for the same agent, whatever the order of its parts", async () => {
    const make = (tools: Tool[], grants: Parameters<typeof agent>[0]["grants"]): Promise<unknown> =>
      agent({ name: "a", model: done, tools, grants }).manifest().then(manifestText);
    const first = await make([send, named("look")], [net("a.example"), net("b.example")]);
    expect(await make([named("look"), send], [net("b.example"), net("a.example")])).toBe(first);
    expect(first).toMatch(/^\{\n {2}"agent": "a",\n/);
    expect(JSON.parse(first as string)).toMatchObject({ agent: "a" });
  });

  it("says which model is asked where, and masks its key [O5]", async () => {
    const model = openaiCompatible("m", { baseUrl: "https://llm.example/v1", apiKey: "sk-very-secret" });
    const paid = await agent({ name: "a", model }).manifest();
    expect(paid.model).toEqual({
      id: "openai-compatible/m",
      url: "https://llm.example",
      apiKey: "masked",
      apiKeyPresent: true,
    });
    expect(manifestText(paid)).not.toContain("secret");
    const headers = { Authorization: "Bearer very-secret" };
    const local = await agent({
      name: "a",
      model: ollama("m", { host: "me:pass@box:1234", headers }),
    }).manifest();
    expect(local.model).toMatchObject({ url: "http://box:1234", apiKeyPresent: true });
    const open = await agent({ name: "a", model: ollama("m", { host: "box" }) }).manifest();
    expect(open.model).toEqual({ id: "ollama/m", url: "http://box:11434", apiKeyPresent: false });
    expect((await agent({ name: "a", model: done }).manifest()).model).toEqual({
      id: expect.any(String) as string,
    });
  });

  it("names the policy that holds: the rules of a preset, none written, or a function that nobody can look into", async () => {
    const of = async (given?: Parameters<typeof agent>[0]["policy"]): Promise<unknown> =>
      (await agent({ name: "a", model: done, tools: [send], policy: given }).manifest()).policy;
    const preset = (await of(guarded())) as {
      readonly name: string;
      readonly rules: readonly { name: string }[];
    };
    expect([preset.name, preset.rules[0]?.name]).toEqual(["guarded", "guarded/chosen"]);
    expect(await of()).toEqual({ name: "sensible" });
    const mine = (): { verdict: "allow"; rule: string; reason: string } => ({
      verdict: "allow",
      rule: "x",
      reason: "x",
    });
    expect(await of(mine)).toEqual({ name: "mine (a function)" });
  });

  it("has both policies of one that is narrowed", async () => {
    const [day, night] = ["day", "night"].map((name) => policy({ name, rules: [allow(`${name}_send`)] }));
    const of = async (own: Policy): Promise<PolicyManifest> =>
      (
        await agent({
          name: "a",
          model: done,
          tools: [named("day_send"), named("night_send")],
          policy: own,
        }).manifest()
      ).policy;
    if (day === undefined || night === undefined) throw new Error("there are two");
    const both = { rules: [{ tools: ["day_send"] }], narrowedBy: { rules: [{ tools: ["night_send"] }] } };
    expect(await of(narrowed(day, night))).toMatchObject(both);
    const mine: Policy = () => ({ verdict: "deny", rule: "mine", reason: "" });
    const held = { rules: [{ tools: ["day_send"] }], narrowedBy: { name: "mine (a function)" } };
    expect(await of(narrowed(day, mine))).toMatchObject(held);
    expect(await of(narrowed(mine, day))).toMatchObject(held);
  });

  it("has the manifests of the agents that its tools run, as far as they are reached", async () => {
    const inner = agent({
      name: "inner",
      description: "",
      model: done,
      tools: [send, named("look")],
      grants: [net("*.example.com")],
    });
    const writer = agent({ name: "writer", description: "", model: done, tools: [named("write")] });
    const outer = agent({
      name: "outer",
      model: done,
      tools: [inner.asTool({ deny: ["send"] }), subagents([inner, writer])],
    });
    const tools = (await outer.manifest()).skills["outer"]?.tools;
    expect(tools?.["inner"]).toMatchObject({
      enforcement: { level: "mediated", mechanism: "agent" },
      agents: { inner: { grants: ["net(*.example.com)"], skills: { inner: { tools: { look: {} } } } } },
    });
    expect(Object.keys(tools?.["inner"]?.agents?.["inner"]?.skills["inner"]?.tools ?? {})).toEqual(["look"]);
    expect(Object.keys(tools?.["spawn_subagent"]?.agents ?? {})).toEqual(["inner", "writer"]);
  });

  it("has each of several agents of one name, and one that is there twice once", async () => {
    const worker = (tool: string): Agent => agent({ name: "worker", model: done, tools: [named(tool)] });
    const [look, act] = [worker("look"), worker("act")];
    const inside = async (...agents: readonly Agent[]): Promise<object> => {
      const all = parallel(Object.fromEntries(agents.map((each, place) => [`member_${place}`, each])));
      const outer = agent({ name: "outer", model: done, tools: [all.asTool({ name: "all" })] });
      const { agents: found = {} } = (await outer.manifest()).skills["outer"]?.tools["all"] ?? {};
      const tools = Object.entries(found).map(([name, each]) => [
        name,
        Object.keys(each?.skills["worker"]?.tools ?? {}),
      ]);
      return Object.fromEntries(tools);
    };
    expect(await inside(act, look, act)).toEqual({ worker: ["act"], "worker (2)": ["look"] });
    expect(await inside(look, act)).toEqual({ worker: ["act"], "worker (2)": ["look"] });
  });

  it("has memory, and the tools of servers with what was approved of them [O5]", async () => {
    const client = {
      listTools: async () => ({ tools: [{ name: "search", inputSchema: object }] }),
      callTool: async () => ({}),
    };
    const tools = await mcpTools(client, { server: "notes", tools: { search: { effect: "read" } } });
    const manifest = await agent({ name: "a", model: done, tools: [tools], memory: memoryBank() }).manifest();
    expect(manifest.memory).toBe(true);
    expect(Object.keys(manifest.skills["a"]?.tools ?? {})).toContain("memory_write");
    const pin = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    expect(manifest.servers).toEqual({ notes: { "notes/search": pin } });
    expect(manifest.skills["a"]?.tools["notes/search"]).toMatchObject({
      effect: "read",
      trusted: false,
      enforcement: { level: "remote", mechanism: "mcp" },
      mcp: { server: "notes", pin },
    });
    const approved = await mcpTools(client, { server: "notes", approve: () => true });
    const of = async (given: typeof tools): Promise<unknown> =>
      (await agent({ name: "a", model: done, tools: [given] }).manifest()).skills["a"]?.tools["notes/search"]
        ?.mcp;
    expect([await of(tools), await of(approved)]).toEqual([
      { server: "notes", pin },
      { server: "notes", pin, approved: true },
    ]);
  });

  it("asks what isolates a tool, and tells one that cannot be isolated as held by nothing", async () => {
    const held = named("held", {
      enforcement: () => ({ level: "isolated", mechanism: "linux-bwrap", platform: "x", probes: [] }),
    });
    const loose = named("loose", {
      enforcement: () => {
        throw new Error("nothing here isolates");
      },
    });
    const { skills } = await agent({ name: "a", model: done, tools: [held, loose] }).manifest();
    expect(skills["a"]?.tools["held"]?.enforcement).toEqual({ level: "isolated", mechanism: "linux-bwrap" });
    expect(skills["a"]?.tools["loose"]?.enforcement).toEqual({ level: "none", mechanism: "unavailable" });
  });
});
