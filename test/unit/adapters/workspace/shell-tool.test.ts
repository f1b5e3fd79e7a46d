import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findBwrap } from "../../../../src/adapters/isolate/launch.ts";
import { env, exec, fs, secret, type Capability } from "../../../../src/index.ts";
import { shellTool, type ShellToolOptions } from "../../../../src/workspace.ts";
import { callerOf, newFolder } from "./tools.ts";

let root: string;
beforeEach(() => {
  root = newFolder();
  writeFileSync(join(root, "a.txt"), "inside\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const all: readonly Capability[] = [
  ...["sh", "cat", "printf", "env", "git", "yes", "head"].map((name) => exec(name)),
  env("SHELL_TOOL_CITY"),
  secret("SHELL_TOOL_KEY"),
];
const run = (options: ShellToolOptions, args: object, grants = all): Promise<string> =>
  callerOf([shellTool(options)], [...grants, fs.read(root)])("run_program", { ...args });

describe("a shell tool [C38]", () => {
  it("runs a program of its list, and tells what it printed and how it ended", async () => {
    const programs = ["sh", "cat"];
    expect(await run({ programs, cwd: root }, { program: "cat", args: ["a.txt"] })).toBe(
      "ok: inside\n[exit code 0]",
    );
    expect(await run({ programs }, { program: "cat", input: "é" })).toBe("ok: é\n[exit code 0]");
    expect(await run({ programs }, { program: "sh", args: ["-c", "echo out; echo err >&2; exit 3"] })).toBe(
      "ok: out\n[standard error]\nerr\n[exit code 3]",
    );
    expect(await run({ programs }, { program: "sh", args: ["-c", "kill -TERM $$"] })).toBe(
      "ok: [no output]\n[ended by SIGTERM]",
    );
    expect(await run({ programs }, { program: "sh", args: ["-c", "printf 'a\\0b'"] })).toBe(
      "ok: [binary output, which is not shown]\n[exit code 0]",
    );
  });

  it("runs no other, whatever it is called", async () => {
    const programs = ["cat"];
    for (const program of ["sh", "/bin/cat", "cat a.txt", "cat;sh", "", "CAT", "./cat", "__proto__"])
      expect(await run({ programs }, { program }), program).toMatch(/^invalid/);
    expect(await run({ programs }, { program: "cat", args: "a.txt; sh" })).toMatch(/^invalid/);
    expect(await run({ programs: ["ls"] }, { program: "ls" })).toMatch(
      /^denied.*exec\(ls\).*was not granted/,
    );
    expect(
      await run({ programs: ["no-such-program"] }, { program: "no-such-program" }, [exec("no-such-program")]),
    ).toContain("there is no such program");
  });

  it("gives arguments as they are: no shell reads them, and the first ones stand fixed", async () => {
    const odd = ["$HOME", "`id`", "; ls", "*", "a b", "", "'", '"', "\\", "-n", "--", "é\n"];
    expect(await run({ programs: ["printf"] }, { program: "printf", args: ["[%s]", ...odd] })).toBe(
      `ok: ${odd.map((arg) => `[${arg}]`).join("")}\n[exit code 0]`,
    );
    const programs = { print: ["printf", "<%s>"] } as const;
    const options = { programs, name: "run_program" };
    expect(await run(options, { program: "print", args: ["--version", "-v"] })).toBe(
      "ok: <--version><-v>\n[exit code 0]",
    );
    expect(await run(options, { program: "printf", args: [] })).toMatch(/^invalid/);
    expect(shellTool(options).description).toContain("added to: print = printf <%s>.");
    expect(await run({ programs: ["cat"] }, { program: "cat", args: ["a\0b"] })).toContain("without NUL");
  });

  it("gives no variable that was not named, and no value of a secret to the model", async () => {
    process.env["SHELL_TOOL_CITY"] = "Lima";
    process.env["SHELL_TOOL_KEY"] = "key-8d1f0c77";
    process.env["SHELL_TOOL_OTHER"] = "not-yours";
    const values = {
      MINE: "1",
      CITY: env("SHELL_TOOL_CITY"),
      KEY: secret("SHELL_TOOL_KEY"),
      NONE: env("SHELL_TOOL_NONE"),
    };
    const text = await run({ programs: ["env"], env: values }, { program: "env" }, [
      ...all,
      env("SHELL_TOOL_NONE"),
    ]);
    const names = text.split("\n").map((line) => line.replace(/^ok: /, "").replace(/=.*/, ""));
    expect(names.toSorted()).toEqual(["CITY", "HOME", "KEY", "LANG", "MINE", "PATH", "[exit code 0]"]);
    expect(text).toContain("CITY=Lima");
    expect(text).toContain("KEY=[secret SHELL_TOOL_KEY]");
    expect(() => shellTool({ programs: ["env"], env: { LD_PRELOAD: "x" } })).toThrow("is refused");
    for (const name of ["CITY", "KEY", "OTHER"]) delete process.env[`SHELL_TOOL_${name}`];
  });

  it("ends with its time, and tells what there was until then", async () => {
    const file = join(root, "late");
    const script = `echo begun; sleep 1.5; touch ${file}`;
    expect(await run({ programs: ["sh"], timeMs: 500 }, { program: "sh", args: ["-c", script] })).toBe(
      "ok: begun\n[stopped after 500 ms: it had not ended]",
    );
    await new Promise((resolve) => setTimeout(resolve, 1_800));
    expect(existsSync(file)).toBe(false);
  });

  it("cuts what is long, and stops a flood", async () => {
    const script = "i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done";
    const text = await run({ programs: ["sh"], outputBytes: 400 }, { program: "sh", args: ["-c", script] });
    expect(text).toMatch(/^ok: line 0\n[^]*\n\[… 8490 bytes are left out here …\]\n[^]*line 999\n/);
    expect(text).toMatch(/\n\[the middle of the output is left out: [^\n]*\n\[exit code 0\]$/);
    const flood = await run({ programs: ["yes"], outputBytes: 400 }, { program: "yes" });
    expect(flood).toMatch(/\n\[stopped: it printed far too much\]$/);
    expect(flood.length).toBeLessThan(700);
  });

  it("works in its folder alone, which has to be granted", async () => {
    mkdirSync(join(root, "sub"));
    symlinkSync("/etc", join(root, "link"));
    const pwd = { program: "sh", args: ["-c", "pwd"] };
    expect(await run({ programs: ["sh"], cwd: join(root, "sub") }, pwd)).toBe(
      `ok: ${root}/sub\n[exit code 0]`,
    );
    for (const cwd of ["/etc", join(root, "link"), join(root, "..")].filter((path) => !path.includes("..")))
      expect(await run({ programs: ["sh"], cwd }, pwd), cwd).toMatch(/^denied/);
    expect(await run({ programs: ["sh"] }, pwd)).toMatch(/^ok: \/.*\/writ-.*\/work\n/);
  });

  it("declares what it needs, and is irreversible unless the author says otherwise", () => {
    const made = shellTool({
      programs: { a: ["git", "log"], b: ["git"] },
      cwd: root,
      env: { K: secret("K") },
    });
    expect(made).toMatchObject({ name: "run_program", effect: "irreversible", trusted: false });
    expect(made.needs).toEqual([exec("git"), fs.read(root), secret("K")]);
    expect(shellTool({ programs: ["ls"], effect: "read", trusted: true })).toMatchObject({
      effect: "read",
      trusted: true,
    });
    for (const programs of [[], {}, { a: [] }, { a: "ls" }, [1]] as unknown as readonly string[][])
      expect(() => shellTool({ programs })).toThrow("`programs");
    expect(() => shellTool({ programs: ["ls -l"] })).toThrow("no shell reads it");
    expect(() => shellTool({ programs: ["ls"], timeMs: 0 })).toThrow("`timeMs`");
  });
});

describe.skipIf(findBwrap() === undefined)("a shell tool whose programs run in a box [C38]", () => {
  /** The recipe of docs/workspace.md. */
  const boxed = (...words: readonly string[]) =>
    [
      "bwrap",
      ..."--unshare-all --die-with-parent --new-session --ro-bind /usr /usr --symlink usr/bin /bin".split(
        " ",
      ),
      ..."--symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp".split(" "),
      "--bind",
      root,
      ..."/work --chdir /work".split(" "),
      ...words,
    ] as const;
  const sh = (script: string): Promise<string> =>
    run(
      { programs: { sh: boxed("sh", "-c") as unknown as readonly [string] }, timeMs: 5_000 },
      { program: "sh", args: [script] },
      [exec("bwrap")],
    );

  it("have their folder and the system's programs, and no other file, process or network", async () => {
    expect(await sh("cat a.txt; echo new > b.txt; ls")).toBe("ok: inside\na.txt\nb.txt\n[exit code 0]");
    expect(await sh(`cat ${root}/a.txt || cat /etc/passwd || ls /home`)).toMatch(/exit code [12]\]$/);
    expect(await sh("ls /proc | grep -c '^[0-9]'")).toMatch(/^ok: \d\n/);
    expect(await sh("cat /proc/net/route | wc -l")).toMatch(/^ok: 1\n/);
    expect(await sh("setsid sleep 30 & echo left")).toBe("ok: left\n[exit code 0]");
  });
});
