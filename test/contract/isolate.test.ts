import { realpathSync, mkdtempSync, mkdirSync, writeFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { GivenHandles } from "../../src/adapters/isolate/broker.ts";
import { inside } from "../../src/adapters/capability/lifetime.ts";
import { enforcement, isolatedTool } from "../../src/adapters/isolate/isolate.ts";
import { callTool } from "../../src/doors.ts";
import { agent, exec, fs } from "../../src/index.ts";
import { powerGuard, scripted } from "../../src/testing.ts";
import { WritError } from "../../src/error/writ-error.ts";
import { contextOf, hasBoxes, need, toolOf } from "./isolate-context.ts";

const works = await hasBoxes();
const folder = mkdtempSync(join(tmpdir(), "writ-isolate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function denied(): never {
  throw new WritError("capability-denied", { resource: "fs.read(/secret)", reason: "No grant covers it." });
}

describe.skipIf(!works)("an isolated tool", () => {
  it("runs its module in a process that is kept for later calls, and sees its folder", async () => {
    const call = await toolOf("honest", "execute", { processes: 1 });
    expect(await call({ words: ["a", "b"] })).toEqual({ text: "a b", calls: 1 });
    expect(await call({ words: ["c"] })).toEqual({ text: "c", calls: 2 });
  });

  it("keeps nothing from one call to the next when each is fresh", async () => {
    const call = await toolOf("honest", "execute", { fresh: true });
    expect(await call({ words: ["a"] })).toEqual({ text: "a", calls: 1 });
    expect(await call({ words: ["a"] })).toEqual({ text: "a", calls: 1 });
  });

  it("keeps nothing from calls with some powers to calls with others", async () => {
    const call = await toolOf("honest", "execute", { processes: 2 });
    const asGranted = (...grants: readonly string[]): Promise<unknown> => {
      const powers = [grants.map((path) => need("fs.read", path))];
      return inside({ tool: "execute", callId: "call-1", powers }, () => call({ words: ["a"] }));
    };
    expect(await asGranted("/private")).toEqual({ text: "a", calls: 1 });
    expect(await asGranted("/private")).toEqual({ text: "a", calls: 2 });
    expect(await asGranted("/public")).toEqual({ text: "a", calls: 1 });
    expect(await asGranted("/private")).toEqual({ text: "a", calls: 3 });
    expect(await asGranted()).toEqual({ text: "a", calls: 1 }); // in the place of the one that rested longest
    expect(await asGranted("/public")).toEqual({ text: "a", calls: 1 });
  });

  it("is told what JSON has no words for, as a tool of this process is", async () => {
    const call = await toolOf("honest", "givesNoJson");
    for (const what of ["bytes", "buffer"])
      await expect(call({ what })).rejects.toThrow("2 bytes in a buffer; JSON has none");
    await expect(call({ what: "holes" })).rejects.toThrow("nothing was put in at place 1");
    await expect(call({ what: "hidden" })).rejects.toThrow("JSON shows nothing of what it has: Map");
    await expect(call({ what: "function" })).rejects.toThrow("it is a function, which JSON has not");
  });

  it("says how its code is held, with what was tried", async () => {
    const made = await isolatedTool({
      name: "held",
      description: "",
      inputSchema: { type: "object" },
      module: new URL("./isolate-modules/honest.ts", import.meta.url),
    });
    const found = made.enforcement?.();
    expect(found).toMatchObject({ level: "isolated", mechanism: "linux-bwrap" });
    expect(found?.unenforced).toBeUndefined();
    expect(found?.probes.length).toBeGreaterThan(9);
    expect(found?.probes.filter(({ held }) => !held)).toEqual([]);
    expect((await enforcement())[0]).toMatchObject({ level: "isolated", mechanism: "linux-bwrap" });
  });

  it("has in its context what it declared and nothing else", async () => {
    const none = await toolOf("honest", "about");
    const keys = ["callId", "idempotencyKey", "progress", "signal"];
    const ids = { callId: "call-1", idempotencyKey: "run-1/call-1" };
    expect(await none()).toEqual({ ...ids, keys, files: [] });
    const reads = await toolOf("honest", "about", {
      needs: [need("fs.read", "/data"), need("net", "a.example")],
    });
    const files = ["readText", "readBytes", "list", "stat"];
    expect(await reads()).toEqual({ ...ids, keys: [...keys, "fetch", "fs"].toSorted(), files });
  });

  it("runs so many calls at once as it has processes, in the order that they came", async () => {
    const call = await toolOf("honest", "sleeps", { processes: 2 });
    await Promise.all([call({ ms: 1 }), call({ ms: 1 })]);
    const before = performance.now();
    const all = await Promise.all([200, 201, 202, 203].map((ms) => call({ ms })));
    expect(all).toEqual(["slept 200", "slept 201", "slept 202", "slept 203"]);
    expect(performance.now() - before).toBeGreaterThan(390);
  });

  it("leaves the queue when its call is stopped", async () => {
    const call = await toolOf("honest", "sleeps", { processes: 1 });
    const first = call({ ms: 300 });
    const stop = new AbortController();
    const second = call({ ms: 0 }, contextOf({}, { signal: stop.signal }));
    const third = call({ ms: 1 });
    stop.abort(new Error("not needed"));
    await expect(second).rejects.toThrow("not needed");
    expect(await first).toBe("slept 300");
    expect(await third).toBe("slept 1");
    expect(await call({ ms: 0 })).toBe("slept 0");
  });

  it("tells its function of the end, and watchers of progress", async () => {
    const call = await toolOf("honest", "waits");
    const seen: unknown[] = [];
    const stop = new AbortController();
    const progress = (value: unknown): void => {
      seen.push(value);
      stop.abort(new Error("enough"));
    };
    await expect(call({}, contextOf({}, { signal: stop.signal, progress }))).rejects.toThrow("enough");
    await expect.poll(() => seen).toEqual([{ done: 0.5 }, { aborted: "the call was stopped" }]);
  });

  it("does not start for a call that is stopped already", async () => {
    const call = await toolOf("honest", "execute");
    await expect(call({}, contextOf({}, { signal: AbortSignal.abort(new Error("over")) }))).rejects.toThrow(
      "over",
    );
  });

  it("is not defined when its module cannot be loaded, and says so in the module's words", async () => {
    const name = join(folder, "broken");
    mkdirSync(name);
    writeFileSync(join(name, "missing.mjs"), 'import "./not-there.mjs"; export const execute = () => 1;');
    writeFileSync(join(name, "outside.mjs"), 'import "../../package.json"; export const execute = () => 1;');
    const make = (module: string): ReturnType<typeof isolatedTool> =>
      isolatedTool({
        name: "broken",
        description: "",
        inputSchema: { type: "object" },
        module: join(name, module),
      });
    await expect(make("missing.mjs")).rejects.toMatchObject({
      code: "isolate-failed",
      data: { tool: "broken" },
    });
    await expect(make("missing.mjs")).rejects.toThrow("Cannot find module '/tool/broken/not-there.mjs'");
    await expect(make("outside.mjs")).rejects.toThrow("cannot be loaded");
    await expect(toolOf("honest", "isNoFunction")).rejects.toThrow('it exports no function "isNoFunction"');
  });

  it("finds the files that are listed as they stand to each other, and no link out of them", async () => {
    for (const name of ["tools/weather", "data", "private"])
      mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "data/words.json"), '["listed"]');
    writeFileSync(join(folder, "private/key"), "key");
    symlinkSync(join(folder, "private/key"), join(folder, "data/link"));
    const code = `import { readFileSync } from "node:fs";
      import words from "../../data/words.json" with { type: "json" };
      const read = (path) => { try { return readFileSync(new URL(path, import.meta.url), "utf8") } catch (error) { return error.code } };
      export const execute = () => [words, read("../../data/link"), read("../../private/key")];`;
    const module = join(folder, "tools/weather/tool.mjs");
    writeFileSync(module, code);
    const made = await isolatedTool({
      name: "listed",
      description: "",
      inputSchema: { type: "object" },
      module,
      files: [join(folder, "data")],
    });
    expect(await made.execute({}, contextOf())).toEqual([["listed"], "ENOENT", "ENOENT"]);
  });
});

describe.skipIf(!works)("an agent with an isolated tool", () => {
  it("gives it what both declared and granted, and tells of each look [T9]", async () => {
    const place = realpathSync(mkdtempSync(join(folder, "agent-")));
    for (const name of ["tool", "data"]) mkdirSync(join(place, name));
    writeFileSync(join(place, "data/menu"), "tea 3");
    writeFileSync(join(place, "private"), "not for the agent");
    const code = "export const execute = ({ path }, { fs }) => fs.readText(path);";
    writeFileSync(join(place, "tool/read.mjs"), code);
    const read = await isolatedTool({
      name: "read",
      description: "Reads a file",
      inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      module: join(place, "tool/read.mjs"),
      needs: [fs.read(place)],
      effect: "read",
    });
    const paths = ["data/menu", "private", "data/../private"];
    const calls = paths.map((path) => ({ name: "read", arguments: { path: `${place}/${path}` } }));
    const model = scripted([{ calls }, "done"]);
    const waiter = agent({ name: "waiter", model, tools: [read], grants: [fs.read(join(place, "data"))] });
    const looks: unknown[] = [];
    const results: unknown[] = [];
    for await (const event of waiter.stream("Read")) {
      if (event.type === "capability-checked") looks.push([event.resource, event.granted]);
      if (event.type === "tool-end") results.push(event.result.status);
    }
    expect(results.map(String).toSorted()).toEqual(["denied", "denied", "ok"]);
    expect(looks).toContainEqual([`fs.read(${place}/data/menu)`, true]);
    expect(looks).toContainEqual([`fs.read(${place}/private)`, false]);
    expect(powerGuard().found).toEqual([]);
  });
});

describe.skipIf(!works)("the handles of an isolated tool", () => {
  const seen: unknown[] = [];
  const secret = { name: "KEY", toString: () => "[secret KEY]", toJSON: () => "[secret KEY]" };
  const fakeFiles = {
    readBytes: async (path: string) => (path === "/secret" ? denied() : Buffer.from(`text of ${path}`)),
    list: async () => [{ name: "a", type: "file" }],
    stat: async (path: string) =>
      path === "/missing" ? undefined : { type: "file", bytes: 3, modifiedMs: 1 },
    writeText: async (...args: unknown[]) => void seen.push(args),
    writeBytes: async (path: string, bytes: Uint8Array) => void seen.push([path, [...bytes]]),
    appendText: async (...args: unknown[]) => void seen.push(args),
    makeFolder: async (...args: unknown[]) => void seen.push(args),
    remove: async (...args: unknown[]) => void seen.push(args),
  } as unknown as GivenHandles["fs"];
  const files = [need("fs.read", "/"), need("fs.write", "/")];

  it("read and write files where the runtime's own handles do", async () => {
    const reads = await toolOf("honest", "readsFile", { needs: files });
    expect(await reads({ path: "/data/ä" }, contextOf({ fs: fakeFiles }))).toEqual({
      text: "text of /data/ä",
      bytes: [...Buffer.from("text of /data/ä")],
      list: [{ name: "a", type: "file" }],
      stat: { type: "file", bytes: 3, modifiedMs: 1 },
      missing: true,
    });
    const writes = await toolOf("honest", "writesFile", { needs: files });
    expect(await writes({}, contextOf({ fs: fakeFiles }))).toBe("written");
    const bytes = [
      ["/b", [0, 255, 10]],
      ["/d", [195, 169]],
    ];
    expect(seen.splice(0)).toEqual([["/a", "text"], ["/a", " more"], ...bytes, ["/c"], ["/a"]]);
  });

  it("fetch, with secrets that the code cannot see", async () => {
    const fetch: GivenHandles["fetch"] = async (url, options) => {
      seen.push([url, { ...options, signal: undefined }]);
      const response = new Response("got", { status: 201, headers: { "content-type": "text/plain" } });
      return Object.defineProperty(response, "url", { value: "https://a.example/at" });
    };
    const needs = [need("net", "a.example"), need("secret", "KEY")];
    const call = await toolOf("honest", "fetches", { needs });
    const got = await call({ url: "https://a.example/x" }, contextOf({ fetch, secret: () => secret }));
    const shown = ["[secret KEY]", '"[secret KEY]"', expect.stringMatching(/^KEY,/)];
    expect(got).toMatchObject({ status: 201, ok: true, at: "https://a.example/at", redirected: false });
    expect(got).toMatchObject({ type: "text/plain", text: "got", shown });
    const headers = { authorization: ["Bearer ", secret], accept: "text/plain", "x-key": secret };
    const sent = { method: "POST", headers, body: "sent", maxBytes: 10_000_000 };
    expect(seen.splice(0)).toEqual([["https://a.example/x", sent]]);
  });

  it("fetch with a body of bytes, of one as of many", async () => {
    const call = await toolOf("honest", "sendsBytes", { needs: [need("net", "a.example")] });
    const echo: GivenHandles["fetch"] = async (_url, options) =>
      new Response(Uint8Array.from(options?.body as Uint8Array));
    for (const bytes of [[97], [0, 255, 10]])
      expect(await call({ bytes }, contextOf({ fetch: echo }))).toEqual(bytes);
  });

  it("leave out nothing that code gives them: what cannot be sent is refused", async () => {
    const call = await toolOf("honest", "sendsOdd", {
      needs: [need("net", "a.example"), need("fs.write", "/data"), need("exec", "git")],
    });
    const used: string[] = [];
    const handles = {
      fetch: async () => (used.push("fetch"), new Response("")),
      exec: async () => (used.push("exec"), { exitCode: 0, signal: null, stdout: "", stderr: "" }),
      fs: { writeBytes: async () => void used.push("fs.writeBytes") } as never,
    };
    const names = expect.stringContaining("are a plain object of names and values");
    const content = expect.stringContaining("is a text or bytes");
    expect(await call({}, contextOf(handles))).toEqual([
      names,
      names,
      content,
      content,
      names,
      content,
      content,
    ]);
    expect(used).toEqual([]);
  });

  it("take answers without a body, and stop what the code does not wait for", async () => {
    const needs = [need("net", "a.example")];
    const call = await toolOf("honest", "fetchesNothing", { needs });
    const empty = async (): Promise<Response> => new Response(null, { status: 204 });
    expect(await call({ url: "https://a.example" }, contextOf({ fetch: empty }))).toEqual({
      status: 204,
      text: "",
    });
    let stopped: unknown;
    const hanging: GivenHandles["fetch"] = (_url, options) =>
      new Promise((_resolve, reject) => {
        options?.signal?.addEventListener("abort", () => {
          stopped = options.signal?.reason;
          reject(options.signal?.reason as Error);
        });
      });
    const forgets = await toolOf("honest", "forgetsFetch", { needs });
    expect(await forgets({ url: "https://a.example" }, contextOf({ fetch: hanging }))).toBe("no patience");
    await expect.poll(() => String(stopped)).toContain("does not wait");
  });

  it("run programs, read variables and ask models", async () => {
    const runs: GivenHandles["exec"] = async (program, args, options) => {
      seen.push([program, args, { ...options, signal: undefined }]);
      return { exitCode: 0, signal: null, stdout: "out", stderr: "" };
    };
    const env = (name: string): string | undefined => (name === "HOME" ? "/home" : undefined);
    const needs = [need("exec", "git"), need("secret", "KEY"), need("env", "HOME"), need("llm")];
    const call = await toolOf("honest", "runsProgram", { needs });
    const result = { exitCode: 0, signal: null, stdout: "out", stderr: "" };
    expect(await call({}, contextOf({ exec: runs, env, secret: () => secret }))).toEqual({
      result,
      home: "/home",
      unset: true,
    });
    expect(seen.splice(0)).toEqual([
      ["git", ["log", "-1"], { cwd: "/data", env: { TOKEN: secret }, input: "in" }],
    ]);
    const asks = await toolOf("honest", "asksModel", { needs });
    const llm = async (prompt: string): Promise<string> => `answer to ${prompt}`;
    expect(await asks({ prompt: "why" }, contextOf({ llm }))).toBe("answer to why");
  });

  it("read parts of files, and cut what programs print [C38]", async () => {
    const place = realpathSync(mkdtempSync(join(folder, "limits-")));
    writeFileSync(join(place, "note"), "inside");
    const needs = [fs.read(place), exec("yes")];
    const made = await isolatedTool({
      name: "limits",
      description: "Reaches limits",
      inputSchema: { type: "object" },
      module: new URL("isolate-modules/honest.ts", import.meta.url),
      export: "reachesLimits",
      needs,
    });
    const result = await callTool(made, { path: join(place, "note") }, { grants: needs });
    expect(result).toMatchObject({ status: "ok", value: { part: "sid", stoppedBy: "output" } });
  });

  it("fail as they do in this process, and their errors reach the runtime as they were", async () => {
    const env = (): never => denied();
    const call = await toolOf("honest", "denied", { needs: [...files, need("env", "HOME")] });
    await expect(call({}, contextOf({ fs: fakeFiles, env }))).rejects.toBeInstanceOf(WritError);
    await expect(call({}, contextOf({ fs: fakeFiles, env }))).rejects.toMatchObject({
      code: "capability-denied",
      data: { resource: "fs.read(/secret)" },
    });
    expect(await call({ caught: true }, contextOf({ fs: fakeFiles, env }))).toEqual([
      "capability-denied",
      "capability-denied",
    ]);
  });

  it("end with their call", async () => {
    const call = await toolOf("honest", "keepsContext", { needs: files, processes: 1 });
    expect(await call({}, contextOf({ fs: fakeFiles }))).toBe("kept");
    expect(await call({}, contextOf({ fs: fakeFiles }))).toBe("capability-closed");
    const later = await toolOf("honest", "keepsVariables", { needs: [need("env", "HOME")], processes: 1 });
    expect(await later({}, contextOf({ env: () => "/home/kim" }))).toBe("kept");
    expect(await later({}, contextOf({ env: () => "/home/kim" }))).toBe("capability-closed");
  });

  it("give no more than 32 MB", async () => {
    const large = { readBytes: async () => new Uint8Array(32_000_001) } as unknown as GivenHandles["fs"];
    const call = await toolOf("honest", "readsFile", { needs: files });
    await expect(call({ path: "/large" }, contextOf({ fs: large }))).rejects.toThrow(
      "more than 32000000 bytes",
    );
  });
});
