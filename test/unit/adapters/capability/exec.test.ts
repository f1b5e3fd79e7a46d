import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodePowers } from "../../../../src/adapters/capability/node-powers.ts";
import { exec, fs } from "../../../../src/tool/capability.ts";
import type { ExecOptions } from "../../../../src/tool/handles.ts";
import { end, openHandles } from "./open-handles.ts";

let top: string;

beforeAll(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "writ-exec-")));
  await mkdir(join(top, "work"));
  await writeFile(join(top, "work/file"), "here");
});

afterAll(async () => {
  await rm(top, { recursive: true });
});

/** Whether a process runs; one that has ended and that nobody asks for any more does not. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return /^[^Z\s]/.test(stdout);
};
const sh = () => openHandles([exec("sh"), fs.read(top)]).exec;

describe("a program [Y11]", () => {
  it("runs with its arguments as they are, and no shell reads them", async () => {
    const { exec: run, looks } = openHandles([exec("printf"), exec("sh")]);
    const odd = ["$HOME", "`id`", "; ls", "*", "a b", "", "'", '"', "\\", "-n", "é"];
    expect(await run("printf", ["[%s]", ...odd])).toEqual({
      exitCode: 0,
      signal: null,
      stdout: odd.map((arg) => `[${arg}]`).join(""),
      stderr: "",
    });
    expect(looks).toEqual(["exec(printf)"]);
    expect(await run("sh", ["-c", "echo out; echo err >&2; exit 3"])).toEqual({
      exitCode: 3,
      signal: null,
      stdout: "out\n",
      stderr: "err\n",
    });
    expect(await run("sh", ["-c", "kill -TERM $$"])).toMatchObject({ exitCode: null, signal: "SIGTERM" });
  });

  it("has an empty environment but for the path, a home and a language", async () => {
    process.env["HANDLE_EXEC_SECRET"] = "not-yours";
    const { exec: run } = openHandles([exec("env"), exec("sh")]);
    const { stdout } = await run("env", [], { env: { MINE: "1" } });
    const lines = stdout.trim().split("\n").toSorted();
    expect(lines.map((line) => line.replace(/=.*/, ""))).toEqual(["HOME", "LANG", "MINE", "PATH"]);
    expect(lines).toContain("PATH=/usr/local/bin:/usr/bin:/bin");
    expect((await run("sh", ["-c", 'ls -A "$HOME"; pwd; ls -A'])).stdout).toMatch(/^\/.*work\n$/);
    delete process.env["HANDLE_EXEC_SECRET"];
  });

  it("leaves no folder behind", async () => {
    const { stdout } = await sh()("sh", ["-c", 'touch left "$HOME/left"; pwd']);
    await expect(readdir(stdout.trim())).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is given input", async () => {
    const { exec: run } = openHandles([exec("cat"), exec("true")]);
    expect((await run("cat", [], { input: "é" })).stdout).toBe("é");
    expect((await run("cat", [], { input: new Uint8Array([97]) })).stdout).toBe("a");
    expect((await run("cat")).stdout).toBe("");
    expect((await run("true", [], { input: "x".repeat(1_000_000) })).exitCode).toBe(0);
  });

  it("works in a folder that the tool may read", async () => {
    const run = sh();
    expect((await run("sh", ["-c", "cat file; pwd"], { cwd: join(top, "work") })).stdout).toBe(
      `here${top}/work\n`,
    );
    await symlink("/etc", join(top, "link"));
    for (const [cwd, reason] of [
      ["/", "capability-denied"],
      ["/etc", "capability-denied"],
      [join(top, ".."), "capability-denied"],
      [join(top, "link"), "capability-denied"],
      ["work", "must be absolute"],
      [join(top, "nothing"), "nothing there"],
      [join(top, "work/file"), "no folder"],
    ] as const)
      expect(await end(() => run("sh", ["-c", "pwd"], { cwd })), cwd).toContain(reason);
    const { exec: alone } = openHandles([exec("sh")]);
    expect(await end(() => alone("sh", ["-c", "pwd"], { cwd: top }))).toContain("capability-denied");
  });
});

describe("what is refused", () => {
  it("programs that were not granted, and names that are none", async () => {
    const { exec: run } = openHandles([exec("sh")], { grants: [exec("sh"), exec("ls")] });
    expect(await end(() => run("ls"))).toContain("The tool did not declare it");
    for (const program of ["/bin/sh", "sh2", "/usr/bin/sh"])
      expect(await end(() => run(program))).toContain("capability-denied");
    for (const program of [
      "",
      "./sh",
      "../sh",
      "-sh",
      "sh;ls",
      "sh -c ls",
      "$(sh)",
      "sh\0",
      "/bin//sh",
      "/",
      "bin/sh",
    ])
      expect(await end(() => run(program)), program).toContain("handle-failed");
    expect(await end(() => openHandles([exec("no-such-program")]).exec("no-such-program"))).toContain(
      "no such program",
    );
    const file = join(top, "plain");
    await writeFile(file, "#!/bin/sh\necho hello\n");
    expect(await end(() => openHandles([exec(file)]).exec(file))).toContain("no such program");
    await chmod(file, 0o700);
    expect(await openHandles([exec(file)]).exec(file)).toMatchObject({ stdout: "hello\n" });
  });

  it("finds no program in the folder it works in, or by the path of this process", async () => {
    await writeFile(join(top, "work/only-here"), "#!/bin/sh\necho hello\n", { mode: 0o700 });
    const before = process.env["PATH"];
    process.env["PATH"] = join(top, "work");
    const { exec: run } = openHandles([exec("only-here"), fs.read(top)]);
    expect(await end(() => run("only-here", [], { cwd: join(top, "work") }))).toContain("no such program");
    process.env["PATH"] = before;
  });

  it.each([
    ..."LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES NODE_OPTIONS GIT_SSH_COMMAND GIT_CONFIG_COUNT".split(
      " ",
    ),
    ..."PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT BASH_ENV ENV BASH_FUNC_ls SHELLOPTS IFS PS4 PATH Path".split(
      " ",
    ),
    ..."HOME JAVA_TOOL_OPTIONS EDITOR PAGER http_proxy HTTPS_PROXY SSL_CERT_FILE X=Y __proto__ 1A".split(" "),
    ..."TAR_OPTIONS GNUMAKEFLAGS MAKEFLAGS RSYNC_RSH WGETRC MANPAGER AWKLIBPATH GCC_EXEC_PREFIX LDFLAGS".split(
      " ",
    ),
    "",
    "A B",
  ])("the variable %j", async (name) => {
    const env = JSON.parse(JSON.stringify([[name, "x"]])) as [string, string][];
    expect(await end(() => sh()("sh", ["-c", "env"], { env: Object.fromEntries(env) }))).toContain(
      "is refused",
    );
  });

  it("arguments and options that are none", async () => {
    const run = sh();
    for (const args of [["a\0b"], [1], "x", [null]] as unknown as string[][])
      expect(await end(() => run("sh", args))).toContain("handle-failed");
    for (const value of [0, -1, Number.NaN]) {
      expect(await end(() => run("sh", [], { timeoutMs: value }))).toContain("timeoutMs");
      expect(await end(() => run("sh", [], { maxBytes: value }))).toContain("maxBytes");
    }
    expect(await end(() => run("sh", [], { env: { A: "x\0y" } }))).toContain("NUL");
    for (const [options, says] of [
      [{ env: "A" }, "`env` must be an object"],
      [{ env: ["A"] }, "`env` must be an object"],
      [{ cwd: 5 }, "`cwd` must be a string"],
      [{ timeout: 5 }, 'unknown field "timeout"'],
      [{ signal: {} }, "`signal` must be an AbortSignal"],
      [null, "must be an object"],
    ] as unknown as [ExecOptions, string][])
      expect(await end(() => run("sh", ["-c", "exit 0"], options))).toContain(says);
    for (const input of [5, {}, ["x"], true] as unknown as string[])
      expect(await end(() => run("sh", [], { input }))).toContain("the input is a text or bytes");
    expect(await end(() => run("sh", [], { input: "[secret KEY]" }))).toContain("a secret was made a text");
  });
});

describe("a program that does not end", () => {
  /** Prints its group's members, one of which ignores polite signals, and stays. */
  const stubborn = "trap '' TERM INT HUP; sleep 60 & echo $$ $!; wait; sleep 60";
  it("is stopped with all that it started: by its time, its output, its call and its signal", async () => {
    const file = join(top, "pids");
    const script = stubborn.replace("echo $$ $!", () => `echo $$ $! > ${file}; echo started`);
    const { readFile } = await import("node:fs/promises");
    const pidsNow = async (): Promise<number[]> => {
      await expect
        .poll(async () => (await end(() => readFile(file, "utf8"))) as string)
        .toMatch(/^\d+ \d+\n$/);
      return (await readFile(file, "utf8")).trim().split(" ").map(Number);
    };
    const gone = async (pids: readonly number[]): Promise<void> => {
      expect(pids).toHaveLength(2);
      await expect.poll(() => pids.filter(isAlive)).toEqual([]);
      await rm(file, { force: true });
    };

    expect(await end(() => sh()("sh", ["-c", script], { timeoutMs: 2_000 }))).toContain(
      "did not end within 2000 ms",
    );
    await gone(await pidsNow());

    const aborted = new AbortController();
    const waiting = end(() => sh()("sh", ["-c", script], { signal: aborted.signal }));
    const first = await pidsNow();
    aborted.abort(new Error("enough"));
    expect(await waiting).toMatchObject({ message: "enough" });
    await gone(first);

    const closing = openHandles([exec("sh")]);
    const closed = end(() => closing.exec("sh", ["-c", script]));
    const second = await pidsNow();
    closing.close();
    expect(await closed).toContain("capability-closed");
    await gone(second);

    const loud = end(() => sh()("sh", ["-c", `echo $$ $$ > ${file}; yes`], { maxBytes: 10_000 }));
    expect(await loud).toContain("printed more than 10000 bytes");
    await gone(await pidsNow());
  });

  it("is not started when its call is stopped while its folder is looked at", async () => {
    const stop = new AbortController();
    const { handles } = nodePowers.open({
      scope: { tool: "probe", callId: "call_1", powers: [] },
      kinds: new Set(["exec", "fs.read"] as const),
      signal: stop.signal,
      use: ({ kind }) => {
        if (kind === "fs.read") stop.abort(new Error("enough"));
      },
    });
    const begun = join(top, "begun");
    const stopped = end(() => handles.exec?.("sh", ["-c", `echo > ${begun}; sleep 60`], { cwd: top }));
    expect(await stopped).toMatchObject({ message: "enough" });
    for (let after = 0; after < 5; after += 1) await sh()("sh", ["-c", "true"]);
    expect(existsSync(begun)).toBe(false);
  });

  it("leaves nothing running when it ends itself", async () => {
    const { stdout } = await sh()("sh", ["-c", "sleep 60 & echo $! $$"]);
    const pids = stdout.trim().split(" ").map(Number);
    expect(pids).toHaveLength(2);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  it("is not waited for by what left its group", async () => {
    const { exec: run } = openHandles([exec("setsid"), exec("sh")]);
    const { stdout } = await run("sh", ["-c", "setsid sleep 60 & echo done"]); // longer than a test may take
    expect(stdout).toBe("done\n");
  });
});

describe("limits that cut [C38]", () => {
  const cut = { onLimit: "cut" } as const;

  it("leave the middle of a long output out, and say so", async () => {
    const script = 'echo begin; head -c 30000 /dev/zero | tr "\\0" x; echo end';
    const { stdout, stderr, leftOutBytes, ...ended } = await sh()("sh", ["-c", script], {
      ...cut,
      maxBytes: 1000,
    });
    expect(ended).toEqual({ exitCode: 0, signal: null });
    expect(stdout).toMatch(/^begin\nx{244}\n\[… 29010 bytes are left out here …\]\nx{746}end\n$/);
    expect({ stderr, leftOutBytes }).toEqual({ stderr: "", leftOutBytes: 29_010 });
    const whole = await sh()("sh", ["-c", 'printf "%01000d" 7'], { ...cut, maxBytes: 1000 });
    expect(whole).toEqual({ exitCode: 0, signal: null, stdout: "7".padStart(1000, "0"), stderr: "" });
  });

  it("may be none at all", async () => {
    const script = "echo out; echo err >&2";
    for (const onLimit of ["cut", "fail"] as const)
      expect(await sh()("sh", ["-c", script], { onLimit, maxBytes: Infinity })).toEqual({
        exitCode: 0,
        signal: null,
        stdout: "out\n",
        stderr: "err\n",
      });
  });

  it("cut no letter in two, whatever its bytes", async () => {
    for (const letter of ["é", "日", "🙂", "a"])
      for (const maxBytes of [97, 98, 99, 100, 101]) {
        const script = `i=0; while [ $i -lt 100 ]; do printf ${letter}; i=$((i+1)); done`;
        const { stdout } = await sh()("sh", ["-c", script], { ...cut, maxBytes });
        expect(stdout).not.toContain("\ufffd");
        const left = Number(/… (\d+) bytes/.exec(stdout)?.[1] ?? 0);
        const kept = Buffer.byteLength(stdout.replace(/\n\[.*\]\n/, ""));
        expect(left + kept).toBe(100 * Buffer.byteLength(letter));
        expect(kept).toBeLessThanOrEqual(maxBytes);
      }
  });

  it("give what was printed until the time was over, and leave nothing running", async () => {
    const result = await sh()("sh", ["-c", "echo $$; sleep 60 & wait"], { ...cut, timeoutMs: 2_000 });
    expect(result).toMatchObject({ exitCode: null, signal: "SIGKILL", stoppedBy: "time" });
    await expect.poll(() => isAlive(Number(result.stdout))).toBe(false);
  });

  it("stop a flood, and keep no more of it than was asked for", async () => {
    const { exec: run } = openHandles([exec("yes")]);
    const { stdout, stoppedBy } = await run("yes", [], { ...cut, maxBytes: 10_000 });
    expect(stoppedBy).toBe("output");
    expect(stdout.length).toBeLessThan(10_100);
  });

  it("end a program that starts itself over and over", async () => {
    // Two children each, six deep: as many as a machine for tests can bear.
    const bomb = 'n() { [ "$1" -gt 0 ] && { n $(($1-1)) & n $(($1-1)) & }; sleep 60; }; echo $$; n 6';
    const { stdout } = await sh()("sh", ["-c", bomb], { ...cut, timeoutMs: 2_000 });
    const group = (): string =>
      spawnSync("ps", ["-o", "stat=", "-g", stdout.trim()], { encoding: "utf8" })
        .stdout.replaceAll(/^Z.*$/gm, "")
        .trim();
    await expect.poll(group).toBe("");
  });

  it("are one of two words", async () => {
    const odd = { onLimit: "never" } as unknown as { onLimit: "cut" };
    expect(await end(() => sh()("sh", [], odd))).toContain("onLimit");
  });
});
