import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { contextOf, hasBoxes, need, toolOf } from "./isolate-context.ts";

const works = await hasBoxes();

/** What a call threw, as `code: message`. */
async function failure(work: Promise<unknown>): Promise<string> {
  try {
    return `gave ${JSON.stringify(await work)}`;
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return code === undefined ? message : `${code}: ${message}`;
  }
}

it.skipIf(process.platform !== "linux")(
  "no file that somebody left open in this process is there",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "writ-left-open-"));
    const path = join(folder, "secret");
    writeFileSync(path, "not yours");
    const left = openSync(path, "r");
    try {
      const between = Array.from({ length: 17 }, () => "ignore" as const);
      const script = fileURLToPath(new URL("inheriting-process.ts", import.meta.url));
      const child = spawn(process.execPath, ["--no-warnings", script], {
        stdio: ["ignore", "pipe", "inherit", ...between, left],
      });
      const printed = child.stdout === null ? "" : await text(child.stdout);
      const told: unknown = JSON.parse(printed.trim().split("\n").at(-1) ?? "");
      expect(told).toEqual({ own: "not yours", program: "", ...(works && { isolated: "" }) });
    } finally {
      closeSync(left);
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

it("a process that can open no more files fails calls, and goes on", async () => {
  const script = fileURLToPath(new URL("crowded-process.ts", import.meta.url));
  const start = `ulimit -n 512; exec "$0" --no-warnings "$1"`;
  const child = spawn("/bin/sh", ["-c", start, process.execPath, script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const told: unknown = JSON.parse((await text(child.stdout)).trim().split("\n").at(-1) ?? "");
  expect(told).toEqual({
    program: expect.stringMatching(/^handle-failed: exec\(echo\): this process has too many files open/),
    ...(works && { isolated: expect.stringMatching(/^isolate-failed: .* it cannot be started/) }),
  });
});

describe.skipIf(!works)("a hostile module", () => {
  it.each([
    ["garbage", "wrote a message of"],
    ["noJson", "wrote what is no message"],
    ["noObject", "wrote what is no message: no object"],
    ["unknownType", "a message of no known type"],
    ["claimsHundredMegabytes", "wrote a message of 100000008 bytes: 32000000 at most"],
    ["hundredMegabytes", "wrote a message of 1000000"],
    ["manyMessages", "sent more than a call may"],
    ["deep", "nested deeper than 64 levels"],
    ["pollutes", '"__proto__"'],
    ["pollutesByConstructor", '"__proto__" or "constructor.prototype"'],
    ["asksNonsense", "asked for no known thing"],
    ["floodsErrors", "printed without end"],
  ])("that breaks the rules of the pipe is ended: %s", async (name, reason) => {
    const call = await toolOf("hostile", name, { memoryBytes: 800_000_000 });
    const told = await failure(call());
    expect(told).toContain(`isolate-failed: The isolated tool '${name}' cannot run:`);
    expect(told).toContain(reason);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    ["leaves", "ended with exit code 3"],
    ["aborts", "its process ended with exit code"],
    ["throwsLater", "its process ended with exit code"],
    ["heap", "used more memory than it may"],
    ["buffers", "memory"],
  ])("that ends, crashes or takes all memory fails its own call alone: %s", async (name, reason) => {
    const call = await toolOf("hostile", name, { memoryBytes: 64_000_000 });
    expect(await failure(call())).toContain(reason);
    expect(await failure(call())).toContain(reason); // in a new process
  });

  it.each(["never", "loops", "killsItself"])(
    "that does not end is ended after its time: %s",
    async (name) => {
      const call = await toolOf("hostile", name, { timeoutMs: 300 });
      expect(await failure(call())).toMatch(/did not end within 300 ms|ended/);
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error("stopped by the run")), 200);
      expect(await failure(call({}, contextOf({}, { signal: stop.signal })))).toMatch(
        /stopped by the run|ended/,
      );
    },
  );

  it.each([
    ["throwsNumber", "7"],
    ["throwsNothing", "undefined"],
    ["throwsProxy", "something was thrown that cannot be shown"],
    ["throwsGetter", "something was thrown that cannot be shown"],
    ["givesCycle", "circular"],
  ])("that throws what is no error fails with words: %s", async (name, words) => {
    const call = await toolOf("hostile", name);
    expect(await failure(call())).toContain(words);
  });

  it("cannot make its failure longer than people read, nor pass it off as the runtime's", async () => {
    const long = await toolOf("hostile", "throwsLong");
    expect((await failure(long())).length).toBeLessThan(2_100);
    const forged = await toolOf("hostile", "throwsForgedCode");
    expect(await failure(forged())).toBe("Capability not granted"); // no code: the runtime believes none
  });

  it("fails by the errors that it leaves behind, and no later call does", async () => {
    const call = await toolOf("hostile", "leavesErrors", { processes: 1 });
    const first = await call({ left: 30 });
    expect(await call({ wait: 200 })).toBe(first);
    expect(await call({})).toBe(first);
    expect(await failure(call({ left: 30, wait: 2_000 }))).toContain("ended");
    expect(await call({})).not.toBe(first);
  });

  it("gives JSON or fails, as tools of this process do", async () => {
    expect(await failure((await toolOf("hostile", "givesFunction"))())).toContain("it is a function");
    expect(await failure((await toolOf("hostile", "givesNaN"))())).toContain('"average" is NaN');
    const given = { big: "12345678901234567890", date: "1970-01-01T00:00:00.000Z" };
    expect(await (await toolOf("hostile", "givesBigint"))()).toEqual(given);
  });

  it("cannot give the results of other calls", async () => {
    const call = await toolOf("hostile", "forges", { processes: 1 });
    expect(await Promise.all([call(), call(), call()])).toEqual(["own", "own", "own"]);
  });

  it("changes the built-in objects of its own process alone", async () => {
    const call = await toolOf("hostile", "pollutesItself");
    expect(await call()).toBe("done");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect([1].push(2)).toBe(2);
  });

  it("starts no process and no thread, however often it tries", async () => {
    expect(await (await toolOf("hostile", "forks"))()).toEqual({ started: 0, codes: ["ERR_ACCESS_DENIED"] });
    expect(await (await toolOf("hostile", "threads"))()).toBe("ERR_ACCESS_DENIED");
  });

  it("gets no handle that its tool did not declare, though the call has it", async () => {
    let ran = 0;
    const exec = async (): Promise<never> => {
      ran += 1;
      throw new Error("ran");
    };
    const call = await toolOf("hostile", "asksUndeclared", { needs: [need("env", "X")] });
    expect(await call({}, contextOf({ exec }))).toBe("asked");
    expect(ran).toBe(0);
  });

  it("cannot have more than 64 requests under way", async () => {
    const slow = (): Promise<never> => new Promise(() => undefined);
    const call = await toolOf("hostile", "asksTooMuch", { needs: [need("fs.read", "/")] });
    const fs = { readBytes: slow } as never;
    expect(await failure(call({}, contextOf({ fs })))).toContain("asked for more than 64 things at once");
  });

  const canList = existsSync(`/proc/${process.pid}/task/${process.pid}/children`);
  it.skipIf(!canList)("leaves no process behind", async () => {
    const folder = mkdtempSync(join(tmpdir(), "writ-loops-"));
    writeFileSync(join(folder, "tool.mjs"), "export function loops() { for (;;); }");
    const childrenOf = (pid: number): number[] =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
    const call = await toolOf("hostile", "loops", { module: join(folder, "tool.mjs"), timeoutMs: 500 });
    const box = childrenOf(process.pid).find((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder),
    );
    const processes = [box, ...childrenOf(box ?? 0)];
    expect(processes).toHaveLength(2);
    expect(await failure(call())).toContain("did not end within 500 ms");
    await expect
      .poll(() => processes.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 5_000 })
      .toEqual([]);
    rmSync(folder, { recursive: true });
  });
});
