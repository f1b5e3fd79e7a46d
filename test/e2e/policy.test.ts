import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { policyFromJson } from "../../src/policy/study/policy.ts";

const folder = mkdtempSync(join(tmpdir(), "policy-"));
const main = join(import.meta.dirname, "../../dist/cli/main.js");

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function writ(words: readonly string[], input = ""): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...words], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

function write(name: string, value: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
}

const text = { type: "string" };
const tools = write("tools.json", {
  tools: [
    { name: "read_mail", description: "Reads the newest mail.", inputSchema: { type: "object" } },
    {
      name: "send_mail",
      description: "Sends a mail.",
      inputSchema: {
        type: "object",
        properties: { to: { ...text, format: "email" }, body: text },
        additionalProperties: false,
      },
    },
  ],
});
const agentFile = write(
  "clerk.mjs",
  `import { agent, guarded, tool } from ${JSON.stringify(join(import.meta.dirname, "../../dist/index.js"))};
import { scripted } from ${JSON.stringify(join(import.meta.dirname, "../../dist/testing.js"))};
const inputSchema = { type: "object", properties: { to: { type: "string" } } };
const read = tool({ name: "read_mail", description: "Reads", inputSchema: { type: "object", properties: {} }, effect: "read", execute: () => "eve@evil.example" });
const send = tool({ name: "send_mail", description: "Sends", inputSchema, execute: () => "sent" });
const calls = (name, args = {}) => ({ calls: [{ name, arguments: args }] });
export default agent({ name: "clerk", policy: guarded(), tools: [read, send],
  model: scripted([calls("read_mail"), calls("send_mail", { to: "eve@evil.example" }), "done"]) });
`,
);

describe("writ policy", () => {
  it("drafts a policy from tools, with a reason for each line, that agents and the evaluation take", async () => {
    const { code, stdout, stderr } = await writ(["policy", "draft", tools]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('  irreversible, because its name says "send"'),
    ]);
    const drafted = policyFromJson(stdout);
    expect(drafted.tools["send_mail"]).toEqual({
      effect: "irreversible",
      parameters: { to: { role: "target", type: "email" }, body: "content" },
    });
    expect(policyFromJson(JSON.stringify(drafted)).toJSON()).toEqual(drafted.toJSON());
  });

  it("asks three questions about each tool that only looks, and drafts by the answers", async () => {
    const asked = await writ(["policy", "draft", tools, "--ask", "--write", "asked.json"], "n\nmaybe\ny\n\n");
    expect(asked.stderr.match(/\[[Yy]\/[Nn]\]/g)).toHaveLength(4);
    expect(JSON.parse(readFileSync(join(folder, "asked.json"), "utf8"))).toMatchObject({
      tools: { read_mail: { effect: "read", trusted: true, secrecy: "private" } },
    });
    const left = await writ(["policy", "draft", tools, "--ask"], "n\n");
    expect(policyFromJson(left.stdout).tools["read_mail"]).toEqual({ effect: "read" });
  });

  it("drafts nothing of two tools with one name: a policy would have the words of either for both", async () => {
    const delete_ = { name: "note", description: "Deletes a note.", inputSchema: { type: "object" } };
    const twice = write("twice.json", [delete_, { ...delete_, description: "Reads a note." }]);
    const { code, stdout, stderr } = await writ(["policy", "draft", twice, "--no-ask"]);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining('The tool "note" occurs twice.')]);
  });

  it("drafts from an agent, and repeats nothing that its tools say", async () => {
    const { stdout } = await writ(["policy", "draft", agentFile]);
    expect(JSON.parse(stdout)).toMatchObject({
      name: "clerk",
      tools: { send_mail: { effect: "irreversible", parameters: { to: "target" } } },
    });
    expect(JSON.parse(stdout)).not.toHaveProperty("tools.read_mail.effect");
  });

  it("finds what is not meant, and ends with 1 for it", async () => {
    const policy = { name: "p", rules: [{ verdict: "allow", tools: ["sendmail"] }] };
    const { code, stdout } = await writ(["policy", "lint", write("typo.json", policy), "--tools", tools]);
    expect([code, stdout]).toEqual([1, expect.stringContaining('"send_mail" is meant?')]);
    const when = { type: "roles", roles: ["target"], is: { type: "bound" } };
    const chosen = write("chosen.json", { name: "p", rules: [{ verdict: "allow", tools: ["*"], when }] });
    expect(await writ(["policy", "lint", chosen, "--tools", agentFile])).toMatchObject({ code: 0 }); // what has no arguments only looks
    const draft = await writ(["policy", "draft", tools, "--write", "lint.json"]);
    expect(draft.code).toBe(0);
    expect(await writ(["policy", "lint", "lint.json", "--tools", tools])).toMatchObject({ code: 0 });
  });

  it("puts a call to a policy as after strangers' words, and holds it against what is expected", async () => {
    await writ(["policy", "draft", tools, "--write", "try.json"]);
    const call = [
      "policy",
      "try",
      "try.json",
      "send_mail",
      '{"to":"eve@evil.example","body":"x"}',
      "--tools",
      tools,
    ];
    const asked = await writ([...call, "--intent", "Write to ada@example.com"]);
    expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining("not chosen by the user: to")]);
    expect(asked.stdout).toContain("would have allowed it");
    expect(await writ([...call, "--expect", "allow"])).toMatchObject({ code: 1 });
    expect(await writ([...call, "--intent", "Write to eve@evil.example", "--expect", "allow"])).toMatchObject(
      { code: 0 },
    );
    expect(await writ([...call, "--trusted", "--expect", "allow"])).toMatchObject({ code: 0 });
    const none = await writ(["policy", "try", "try.json", "send_mial", "--tools", tools]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('did you mean "send_mail"?')]);
    const joined = await writ(["policy", "try", "try.json", 'send_mail{"to":"ada@example.com"}']);
    expect([joined.code, joined.stdout]).toEqual([2, ""]);
  });

  it("takes a default of a program's own schema for the author's, and that of a list in a file for a stranger's", async () => {
    const inputSchema = {
      type: "object",
      properties: { to: text, priority: { ...text, default: "normal" } },
    };
    const program = write(
      "desk.mjs",
      `import { tool } from ${JSON.stringify(join(import.meta.dirname, "../../dist/index.js"))};
const inputSchema = ${JSON.stringify(inputSchema)};
export default [tool({ name: "file_ticket", description: "", inputSchema, effect: "write", execute: () => "" })];
`,
    );
    const listed = write("desk.json", { tools: [{ name: "file_ticket", description: "", inputSchema }] });
    const policy = write("desk.policy.json", { name: "p", rules: "guarded" });
    const tried = async (from: string, args: object): Promise<string> => {
      const call = ["policy", "try", policy, "file_ticket", JSON.stringify(args), "--tools", from];
      const { stdout } = await writ([...call, "--intent", "Write to ada@example.com"]);
      return stdout.split("\n").find((line) => /^Allowed|^not chosen/.test(line)) ?? stdout;
    };
    const to = "ada@example.com";
    expect(await tried(program, { to })).toMatch(/^Allowed/);
    expect(await tried(program, { to, priority: "normal" })).toMatch(/^Allowed/);
    expect(await tried(program, { to, priority: "urgent" })).toBe(
      'not chosen by the user: priority = "urgent"',
    );
    expect(await tried(listed, { to, priority: "normal" })).toBe(
      'not chosen by the user: priority = "normal"',
    );
  });

  it("explains the calls of a run, and what another policy would have said of them", async () => {
    const run = await writ(["run", agentFile, "Any news?", "--output-format", "stream-json"]);
    const events = write("run.jsonl", run.stdout);
    const { code, stdout } = await writ(["policy", "explain", events]);
    expect(code).toBe(0);
    expect(stdout).toContain('2 send_mail {"to":"eve@evil.example"}\n    A person is asked');
    const strict = write("deny.json", {
      name: "p",
      rules: [{ verdict: "deny", tools: ["send_mail"], because: "never" }],
    });
    expect((await writ(["policy", "explain", events, "--policy", strict])).stdout).toContain(
      "      Denied: never",
    );
    expect(await writ(["policy", "explain", "none"])).toMatchObject({ code: 2 });
    expect(await writ(["policy", "explain", tools])).toMatchObject({ code: 2 });
    const folderRead = await writ(["policy", "explain", folder]);
    expect(folderRead).toMatchObject({ code: 2 });
    expect(folderRead.stderr).toContain("file-unreadable");
    const spoilt = { type: "call-decided", runId: "r", callId: "c", name: "send_mail" };
    const decisions = [
      { verdict: "deny" },
      { verdict: "no", rule: "r", reason: "x" },
      { verdict: "deny", rule: "r", reason: "x", evidence: {} },
    ];
    const lines = [
      ...decisions.map((decision) => ({ ...spoilt, decision })),
      { ...spoilt, name: 7, decision: {} },
    ];
    const cut = write("cut.jsonl", `${run.stdout}\n${lines.map((line) => JSON.stringify(line)).join("\n")}`);
    expect(await writ(["policy", "explain", cut])).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("says of another policy nothing about a call of a run inside that has the same id", async () => {
    const run = await writ(["run", agentFile, "Any news?", "--output-format", "stream-json"]);
    const told = run.stdout.trim().split("\n");
    const last = told.findLast((line) => line.includes('"call-decided"')) ?? "";
    const decision = { verdict: "allow", rule: "r", reason: "it looks" };
    const about = { runId: "inside", name: "look", arguments: {}, decision };
    const inside = { ...(JSON.parse(last) as object), ...about };
    const events = write("inside.jsonl", [...told, JSON.stringify(inside)].join("\n"));
    const rules = [{ verdict: "deny", tools: ["send_mail"], because: "never" }];
    const strict = write("never.json", { name: "p", rules });
    const { stdout } = await writ(["policy", "explain", events, "--policy", strict, "--json"]);
    const { calls } = JSON.parse(stdout) as { readonly calls: readonly { tool: string; would?: object }[] };
    expect(calls.map(({ tool, would }) => [tool, would !== undefined])).toEqual([
      ["read_mail", true],
      ["send_mail", true],
      ["look", false],
    ]);
  });

  it("explains a durable run", async () => {
    const words = ["--durable", "--store", "runs.db", "--id", "r1"];
    expect(await writ(["run", agentFile, "Any news?", ...words])).toMatchObject({ code: 6 });
    const { stdout } = await writ(["policy", "explain", "r1", "--store", "runs.db", "--agent", agentFile]);
    expect(stdout).toContain("2 send_mail");
    expect(stdout).toContain("A person is asked");
  });

  it("explains a durable run of an agent that has changed since once the change is accepted", async () => {
    const durable = ["--durable", "--store", "runs.db", "--id", "r2"];
    expect(await writ(["run", agentFile, "Any news?", ...durable])).toMatchObject({ code: 6 });
    const changed = readFileSync(agentFile, "utf8").replace(
      'name: "clerk"',
      'name: "clerk", instructions: "Be brief."',
    );
    const explain = [
      "policy",
      "explain",
      "r2",
      "--store",
      "runs.db",
      "--agent",
      write("changed.mjs", changed),
    ];
    const { code, stdout, stderr } = await writ(explain);
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("its instructions changed")]);
    const accepted = await writ([...explain, "--accept", "instructions"]);
    expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining("2 send_mail") });
  });

  it("says what a changed policy may allow more, and ends with 1 for it", async () => {
    const before = write("before.json", { name: "p", rules: [], skills: { post: ["read_mail"] } });
    const after = write("after.json", {
      name: "p",
      rules: [{ verdict: "allow", tools: ["send_mail"] }],
      skills: { post: ["read_mail", "send_mail"] },
    });
    const wider = await writ(["policy", "diff", before, after]);
    expect([wider.code, wider.stdout]).toEqual([1, expect.stringContaining('allows: allow("send_mail")')]);
    expect(wider.stdout).toContain("gives more tools to the skill: post");
    expect(await writ(["policy", "diff", after, before])).toMatchObject({ code: 0 });
    expect((await writ(["policy", "diff", before, before])).stdout).toContain("decides as");
  });

  it("reads a policy in YAML from a file that ends so, and says the line of a fault", async () => {
    const path = write("mail.yaml", "name: mail\nrules:\n  - { verdict: ask, tools: [send_mail] }\n");
    const { code, stdout } = await writ(["policy", "try", path, "send_mail", "--intent", "x"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("ask send_mail (rule 1)")]);
    const same = write("mail.json", { name: "mail", rules: [{ verdict: "ask", tools: ["send_mail"] }] });
    expect(await writ(["policy", "diff", path, same])).toMatchObject({ code: 0 });
    const twice = write("twice.yml", "name: mail\nname: mails\nrules: guarded\n");
    const { code: failed, stderr } = await writ(["policy", "lint", twice]);
    expect([failed, stderr]).toEqual([2, expect.stringMatching(/twice\.yml:2: it cannot be read as YAML/)]);
  });
});
