import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeProject, type Project, writ } from "./command-line.ts";
import { hasTmux, openTerminal } from "./terminal.ts";

let project: Project;
const missing = ["bash", "zsh", "fish"].filter((shell) => spawnSync(shell, ["--version"]).status !== 0);
if (missing.length > 0) console.log(`skipped: completion in ${missing.join(", ")} (not installed)`);

beforeAll(async () => {
  project = makeProject();
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await writ(["completion", shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    project.file(`writ.${shell}`, stdout);
  }
  project.file("agent.ts", "");
});
afterAll(() => project.remove());

function shell(name: string, words: readonly string[]): string {
  const { stdout, stderr } = spawnSync(name, words, { cwd: project.folder, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim();
}

describe("writ completion", () => {
  it("knows three shells", async () => {
    const { code, stderr } = await writ(["completion", "tcsh"]);
    expect(stderr).toContain(
      'error[option-invalid] <shell> cannot be "tcsh".\n  It is one of: bash, zsh, fish.',
    );
    expect(code).toBe(2);
  });

  it.skipIf(missing.includes("bash")).each([
    ["writ ru", "run runs"],
    ["writ runs s", "show settle signal"],
    ["writ runs list --sta", "--status"],
    ["writ chat --se", "--session"],
    ["writ -v --", "--version --help"],
    ["writ run agent", ""], // no word of ours: bash completes files
  ])("completes %j in bash", (line, expected) => {
    const words = line
      .split(" ")
      .map((word) => `'${word}'`)
      .join(" ");
    const program = `source writ.bash; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _writ; echo "\${COMPREPLY[@]}"`;
    expect(shell("bash", ["--norc", "-c", program])).toBe(expected);
  });

  it.skipIf(missing.includes("fish")).each([
    ["writ approvals a", ["approve", "approve the call, once"]],
    ["writ models p", ["pull", "fetch a model into the cache folder"]],
    ["writ runs list --bef", ["--before", "only the runs that were begun before this one"]],
    ["writ run age", ["agent.ts"]],
  ])("completes %j in fish", (line, expected) => {
    const [first = ""] = shell("fish", ["-N", "-c", `source writ.fish; complete -C '${line}'`]).split("\n");
    expect(first.split("\t")).toEqual(expected);
  });

  it.skipIf(missing.includes("zsh") || !hasTmux)("completes in zsh, as somebody types", async () => {
    using terminal = openTerminal(["zsh", "-f"], { cwd: project.folder, columns: 100 });
    terminal.line("PS1='ready> '; autoload -U compinit; compinit -u -D; source writ.zsh; echo go");
    await terminal.shows(/^go$/m);
    terminal.keys("writ approvals ap", "Tab");
    await terminal.shows("writ approvals approve");
    terminal.keys("C-u");
    terminal.keys("writ runs list --lim", "Tab");
    await terminal.shows("writ runs list --limit");
    terminal.keys("C-u");
    terminal.keys("writ run age", "Tab");
    await terminal.shows("writ run agent.ts");
    terminal.keys("C-u");
    terminal.keys("writ runs s", "Tab");
    const seen = await terminal.shows("send a signal that a tool");
    expect(seen).toMatch(/show +-- show one run: its input/);
    terminal.keys("C-u");
    terminal.line("exit");
    expect(await terminal.exit()).toBe(0);
  });
});
