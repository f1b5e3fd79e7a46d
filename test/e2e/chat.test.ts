import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ended, makeProject, type Project, writ } from "./command-line.ts";
import { hasTmux, openTerminal, type Terminal } from "./terminal.ts";

let project: Project;
beforeAll(() => {
  project = makeProject();
  project.file(
    "desk.ts",
    `import { agent, tool } from "writ"; import { scripted } from "writ/testing";
const inputSchema = { type: "object", properties: { to: { type: "string" } } };
const pay = tool({ name: "pay", description: "Pays", inputSchema, effect: "irreversible", execute: ({ to }) => "PAID " + to });
const read = tool({ name: "read", description: "Reads", inputSchema, effect: "read", execute: ({ to }) => to === "never" ? new Promise(() => setInterval(() => {}, 1000)) : "read" });
const said = ({ messages }) => messages.filter(({ role, by }) => role === "user" && by === undefined).map(({ parts }) => parts[0].text);
const model = (request) => {
  const last = request.messages.at(-1);
  const asked = said(request).at(-1);
  if (asked === "fail") throw new Error("broken");
  const [, name, to] = /^(pay|read) (.*)$/.exec(asked) ?? [];
  if (last.role === "tool" && (last.name === "pay" || name === "read")) return last.status === "ok" ? "Done for " + to + "." : "Not done.";
  if (name === "pay" && last.role !== "tool") return { calls: [{ name: "read", arguments: { to: "it" } }] };
  return name === undefined ? "You asked " + said(request).join(", ") + "." : { calls: [{ name, arguments: { to } }] };
};
export default agent({ name: "desk", model, tools: [pay, read] });
`,
  );
});
afterAll(() => project.remove());

function piped(lines: readonly string[], ...options: readonly string[]): Promise<Ended> {
  return writ(["chat", "desk.ts", ...options], {
    cwd: project.folder,
    input: lines.map((line) => `${line}\n`).join(""),
  });
}

describe("writ chat, from a pipe", () => {
  it("takes each line as a question, and remembers those before [MCP-runner]", async () => {
    const { code, stdout, stderr } = await piped(["one", "", "two"]);
    expect(stdout).toBe("You asked one.\nYou asked one, two.\n");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("goes on with a conversation that a file has, or with another one of it", async () => {
    expect((await piped(["one"], "--session", "kept.db")).stdout).toBe("You asked one.\n");
    expect((await piped(["two"], "--session", "kept.db")).stdout).toBe("You asked one, two.\n");
    expect((await piped(["two"], "--session", "kept.db", "--id", "new")).stdout).toBe("You asked two.\n");
    const forked = await piped(["/fork 1", "three"], "--session", "kept.db");
    expect(forked.stderr).toBe("  now in chat-2, after 1 question; chat stays as it is\n");
    expect(forked.stdout).toBe("You asked one, three.\n");
    expect((await piped(["four"], "--session", "kept.db")).stdout).toBe("You asked one, two, four.\n");
  });

  it("denies what nobody can be asked about, until /approve names the tool", async () => {
    const ended = await piped(["pay ada", "/approve pay", "pay bob", "/approve ask", "pay eve"]);
    expect(ended.stdout).toBe("Not done.\nDone for bob.\nNot done.\n");
    expect(ended.stderr).toContain(
      "calls of pay run without a question, whatever their arguments, until /approve ask",
    );
    expect(ended.stderr).toContain("you are asked about each call that needs an approval");
    expect(ended.code).toBe(0);
  });

  it("goes on after an error, and ends with the exit code of the first", async () => {
    const { code, stdout, stderr } = await piped(["fail", "/nope", "/helq", "/approve look", "still there"]);
    expect(stdout).toMatch(/still there\.\n$/);
    expect(stderr).toContain("broken");
    expect(stderr).toContain('error[option-invalid] The command cannot be "/nope".');
    expect(stderr).toContain('did you mean "help"?');
    expect(stderr).toContain("It has: pay, read.");
    expect(code).not.toBe(0);
  });

  it("tells model, tools and cost, and changes the model", async () => {
    const { stderr, stdout } = await piped([
      "/model",
      "/tools",
      "/cost",
      "one",
      "/cost",
      "/model ollama/x",
      "/model nobody/x",
    ]);
    expect(stderr).toContain("  function\n");
    expect(stderr).toContain("    pay (effect irreversible; none): Pays\n");
    expect(stderr).toContain("  0 asked here: 0 tokens in, 0 out, $0\n");
    expect(stderr).toMatch(/ {2}1 asked here: about \d+ tokens in, \d+ out, \$0\n/);
    expect(stderr).toContain("  ollama/x\n");
    expect(stderr).toContain("error[model-name-invalid]");
    expect(stdout).toBe("You asked one.\n");
  });

  it("exports the conversation, and overwrites nothing", async () => {
    const { stdout, stderr } = await piped([
      "pay ada",
      "/export",
      "/export talk.md",
      "/export talk.json",
      "/export talk.md",
    ]);
    const file = readFileSync(join(project.folder, "talk.md"), "utf8");
    expect(stdout).toContain(file);
    expect(file).toMatch(
      /^# chat\n\n## You\n\npay ada\n\n- calls `read` with `{"to":"it"}`\n- `read` ok: `read`\n/,
    );
    expect(file).toContain('- calls `pay` with `{"to":"ada"}`\n- `pay` denied:');
    expect(JSON.parse(readFileSync(join(project.folder, "talk.json"), "utf8"))).toMatchObject({
      id: "chat",
      version: 1,
    });
    expect(stderr).toContain('error[option-invalid] /export cannot be "talk.md".');
    expect(stderr).toContain("file already exists");
  });

  it("leaves with /quit, and refuses a name without a file", async () => {
    for (const leave of ["/quit", "/exit"])
      expect(await piped([leave, "one"])).toMatchObject({ stdout: "", code: 0 });
    const { code, stderr } = await piped([], "--id", "mine");
    expect(stderr).toContain('error[option-invalid] --id cannot be "mine".');
    expect(code).toBe(2);
  });
});

describe.skipIf(!hasTmux)("writ chat, at a terminal", () => {
  const open = (...options: readonly string[]): Terminal =>
    openTerminal(
      [process.execPath, join(import.meta.dirname, "../../dist/cli/main.js"), "chat", "desk.ts", ...options],
      {
        cwd: project.folder,
        columns: 60,
      },
    );

  it("stops an answer at the first Ctrl-C and goes on; twice leaves", async () => {
    using terminal = open();
    await terminal.shows(/^>$/m);
    terminal.line("read never");
    await terminal.shows(/^→ 1 read .* \d+ s$/m);
    terminal.keys("C-c");
    await terminal.shows("Stopped. The conversation so far is kept.");
    terminal.line("still there?");
    await terminal.shows("You asked read never, still there?.");
    terminal.line("read never");
    await terminal.shows(/^→ 1 read .* \d+ s$/m);
    terminal.keys("C-c");
    await terminal.shows("Stopped. The conversation so far is kept.", 2);
    await terminal.shows(/^>$/m);
    terminal.keys("typed", "C-c");
    await terminal.shows(/^>$/m, 2);
    terminal.keys("C-c");
    await terminal.shows("Ctrl-C again leaves.");
    terminal.keys("C-c");
    expect(await terminal.exit()).toBe(130);
  });

  it("brings back what was asked before, also by another process; takes lines that belong together", async () => {
    const words = ["--session", "typed.db"];
    expect(existsSync(join(project.folder, "typed.db"))).toBe(false);
    {
      using terminal = open(...words);
      await terminal.shows(/^>$/m);
      terminal.line("first \\");
      await terminal.shows(/^…$/m);
      terminal.line("and second");
      await terminal.shows("You asked first \nand second.".replace(" \n", "\n"));
      await terminal.shows(/^>$/m);
      terminal.keys("C-d");
      expect(await terminal.exit()).toBe(0);
      expect(terminal.screen()).toMatch(/^>\n\[ended/m); // what comes next has a line of its own
    }
    using terminal = open(...words);
    await terminal.shows("going on with chat: 1 question so far");
    await terminal.shows(/^>$/m);
    terminal.keys("Up", "Enter");
    await terminal.shows("You asked first\nand second, first\nand second.");
    await terminal.shows(/^>$/m);
    terminal.line("third");
    await terminal.shows("third.");
    await terminal.shows(/^>$/m);
    terminal.keys("Up", "Enter");
    await terminal.shows(", third, third.");
  });

  it("asks about a call in the midst of its lines, and breaks no word at 40 columns", async () => {
    using terminal = open();
    await terminal.shows(/^>$/m);
    terminal.resize(40, 30);
    terminal.line("pay ada");
    await terminal.shows("(n why) >");
    terminal.line("y");
    await terminal.shows(/^✓ 2 pay \{"to":"ada"\} = PAID ada {2}\d/m);
    terminal.line("pay bob");
    await terminal.shows("(n why) >", 2);
    terminal.keys("C-c");
    await terminal.shows("Stopped. The conversation so far is kept.");
    await terminal.shows(/^>$/m);
    expect(terminal.screen()).toContain(
      "  pay (irreversible) needs your\n    approval: it changes something,\n    after data of strangers\n",
    );
    await terminal.shows("Done for ada.");
    terminal.line("/approve pay");
    await terminal.shows(/^ {4}\/approve ask$/m);
    terminal.keys("C-d");
    expect(await terminal.exit()).toBe(0);
  });
});
