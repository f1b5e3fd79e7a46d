import { exec as execCallback, execFileSync, fork, spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { lookup as lookupCallback } from "node:dns";
import { lookup, resolve4 } from "node:dns/promises";
import nodeFs, {
  createReadStream,
  existsSync,
  readFile as readCallback,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, open, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { get, request } from "node:http";
import { get as getSecure } from "node:https";
import { createRequire } from "node:module";
import { connect, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectSecure } from "node:tls";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { runInThisContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { nodePowers } from "../../../../src/adapters/capability/node-powers.ts";
import { agent } from "../../../../src/index.ts";
import { env, exec, fs, net } from "../../../../src/tool/capability.ts";
import { powerGuard } from "../../../../src/testing.ts";
import { end, openHandles } from "./open-handles.ts";
import { type TestServer, testServer } from "./test-server.ts";

let server: TestServer;
let folder: string;
const scope = { tool: "spy", callId: "call_1", powers: [] };
const asTool = <Value>(work: () => Value): Value => nodePowers.inside(scope, work);

beforeAll(async () => {
  server = await testServer();
  folder = await realpath(await mkdtemp(join(tmpdir(), "writ-guard-")));
  await writeFile(join(folder, "file"), "text");
  await writeFile(join(folder, "module.cjs"), "module.exports = require('node:path').sep;");
  await writeFile(join(folder, "module.mjs"), "export const one = 1;");
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

afterEach(() => powerGuard().on());

describe("the guard", () => {
  it("is on where writ/testing was imported", () => {
    expect(powerGuard().isOn).toBe(true);
    expect(powerGuard()).toBe(powerGuard());
  });

  it("says nothing of the runner of the tests on Windows, and names code of tools there", () => {
    const read = (filename: string): unknown =>
      asTool(() =>
        runInThisContext("(files) => files.readFileSync('/dev/null', 'utf8')", { filename })(nodeFs),
      );
    expect(read(String.raw`C:\app\node_modules\jest-runtime\build\index.js`)).toBe("");
    expect(() => read(String.raw`C:\app\tools\spy.js`)).toThrow("the file system (readFileSync)");
  });

  it("says nothing of what an observer does while an agent inside a call tells it something", async () => {
    const inner = agent({ name: "inner", model: () => "Done." });
    let asked = 0;
    const outer = agent({
      name: "outer",
      model: () =>
        (asked += 1) === 1 ? { calls: [{ name: "inner", arguments: { input: "go" } }] } : "Done.",
      tools: [inner.asTool()],
      onEvent: ({ type, agent: name }) => {
        if (type === "run-start" && name === "inner") sent.push(fetch(server.origin));
      },
    });
    const sent: Promise<Response>[] = [];
    await outer.run("go");
    expect(await Promise.all(sent)).toMatchObject([{ ok: true }]);
    expect(powerGuard().found).toEqual([]);
    server.requests.length = 0;
  });

  const here = import.meta.filename;
  it.each<[string, string, () => unknown]>([
    ["the network (fetch)", "fetch", () => fetch(server.origin)],
    ["the network (request)", "fetch", () => request(server.origin)],
    ["the network (get)", "fetch", () => get(server.origin)],
    ["the network (get)", "fetch", () => getSecure("https://127.0.0.1:1")],
    ["the network (connect)", "fetch", () => connect(server.port)],
    ["the network (connect)", "fetch", () => connectSecure(server.port)],
    ["the network (connect)", "fetch", () => new Socket().connect(server.port)],
    ["the network (lookup)", "fetch", () => lookup("localhost")],
    ["the network (lookup)", "fetch", () => lookupCallback("localhost", () => undefined)],
    ["the network (resolve4)", "fetch", () => resolve4("localhost")],
    ["the network (send)", "fetch", () => createSocket("udp4").send("x", 9, "127.0.0.1")],
    ["the network (connect)", "fetch", () => webSocket()],
    ["the file system (readFile)", "fs", () => readFile(here)],
    ["the file system (readFile)", "fs", () => readCallback(here, () => undefined)],
    ["the file system (readFileSync)", "fs", () => readFileSync(here)],
    ["the file system (readFileSync)", "fs", () => nodeFs.readFileSync(here)],
    ["the file system (readdir)", "fs", () => readdir(".")],
    ["the file system (open)", "fs", () => open(here)],
    ["the file system (createReadStream)", "fs", () => createReadStream(here)],
    ["the file system (ReadStream)", "fs", () => new nodeFs.ReadStream(here as never)],
    ["the file system (existsSync)", "fs", () => existsSync(here)],
    ["the file system (native)", "fs", () => realpathSync.native(here)],
    ["the file system (writeFileSync)", "fs", () => writeFileSync(join(folder, "new"), "x")],
    ["programs (spawn)", "exec", () => spawn("true")],
    ["programs (spawnSync)", "exec", () => spawnSync("true")],
    ["programs (execFileSync)", "exec", () => execFileSync("true")],
    ["programs (exec)", "exec", () => execCallback("true")],
    ["programs (execFile)", "exec", () => promisify(execCallback)("true")],
    ["programs (fork)", "exec", () => fork(here)],
    ["threads (Worker)", "exec", () => new Worker("", { eval: true })],
    ["the environment (HOME)", "env", () => process.env["HOME"]],
    ["the environment (HOME)", "env", () => "HOME" in process.env],
    ["the environment (all variables)", "env", () => ({ ...process.env })],
    ["the environment (all variables)", "env", () => JSON.stringify(process.env)],
  ])("finds %s, and says to take %s [Y7.3]", async (power, handle, work) => {
    powerGuard().on();
    const error = await end(() => asTool(async () => work()));
    expect(powerGuard().found).toEqual([{ tool: "spy", callId: "call_1", power }]);
    if (!String(work).includes("webSocket"))
      expect(error).toBe(
        `power-undeclared: Tool 'spy' used ${power}, which it did not declare: the guard of \`writ/testing\` stops that.`,
      );
    if (typeof error === "string") expect(error).not.toContain("undefined");
    const caught = (await asTool(async () => work()).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )) as { hint?: string };
    if (caught?.hint !== undefined) expect(caught.hint).toContain(`\`${handle}\``);
    expect(server.requests).toEqual([]);
    expect(existsSync(join(folder, "new"))).toBe(false);
  });

  /** It connects later, and fails by an event. */
  const webSocket = (): Promise<unknown> =>
    new Promise((resolve) => {
      new WebSocket(server.origin.replace("http", "ws")).addEventListener("error", resolve);
    });

  it("finds it after await, in timers, in functions that the tool calls, and where the tool swallows the error", async () => {
    const deep = async (): Promise<unknown> => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return readFile(here).catch(() => "a fallback");
    };
    expect(await asTool(() => deep())).toBe("a fallback");
    expect(powerGuard().found).toMatchObject([{ power: "the file system (readFile)" }]);
  });

  it("does not touch code outside of tools, or the handles of tools", async () => {
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("text");
    expect(await (await fetch(server.origin)).text()).toBe("hello");
    expect(process.env["PATH"]).not.toBe("");
    expect(spawnSync("true").status).toBe(0);
    expect((await promisify(execCallback)("echo x")).stdout).toBe("x\n");
    const path = process.env["PATH"];
    const opened = openHandles([
      net(server.origin),
      fs.read(folder),
      fs.write(folder),
      env("PATH"),
      exec("true"),
    ]);
    await nodePowers.inside(opened.scope, async () => {
      expect(await (await opened.fetch(server.origin)).text()).toBe("hello");
      expect(await opened.fs.readText(join(folder, "file"))).toBe("text");
      await opened.fs.writeText(join(folder, "file"), "text");
      expect(opened.env("PATH")).toBe(path);
      expect((await opened.exec("true")).exitCode).toBe(0);
    });
    expect(powerGuard().found).toEqual([]);
  });

  it("does not take the loading of modules, the runner of tests, or harmless variables for a tool's doing", async () => {
    await asTool(async () => {
      const load = createRequire(import.meta.url);
      expect(load(join(folder, "module.cjs"))).toBe("/");
      expect(await import(/* @vite-ignore */ pathToFileURL(join(folder, "module.mjs")).href)).toHaveProperty(
        "one",
        1,
      );
      await import("../../../../src/adapters/capability/node-powers.ts");
      expect({ a: 1 }).toMatchObject({ a: 1 });
      console.log("printing is no power");
      expect([process.env["NODE_ENV"], process.env["NO_COLOR"], process.env["CI"]]).toHaveLength(3);
    });
    expect(powerGuard().found).toEqual([]);
  });

  it("keeps what the functions have beside them", () => {
    expect(typeof nodeFs.realpath.native).toBe("function");
    expect(readFileSync.name).toBe("readFileSync");
    expect(Object.keys(process.env)).toContain("PATH");
    process.env["HANDLE_GUARD"] = "1";
    expect(process.env["HANDLE_GUARD"]).toBe("1");
    process.env["HANDLE_GUARD"] = "2"; // a variable that is there takes another way through Node than a new one
    expect(process.env["HANDLE_GUARD"]).toBe("2");
    delete process.env["HANDLE_GUARD"];
    expect("HANDLE_GUARD" in process.env).toBe(false);
  });

  it("can be switched off, and gives everything back", async () => {
    const guarded = nodeFs.readFileSync;
    powerGuard().off();
    powerGuard().off();
    expect(powerGuard().isOn).toBe(false);
    expect(nodeFs.readFileSync).not.toBe(guarded);
    expect(asTool(() => readFileSync(join(folder, "file"), "utf8"))).toBe("text");
    expect(await asTool(() => readFile(join(folder, "file"), "utf8"))).toBe("text");
    expect(asTool(() => process.env["PATH"])).not.toBe("");
    powerGuard().on();
    expect(await end(() => asTool(() => readFile(here)))).toContain("power-undeclared");
    expect(powerGuard().found).toHaveLength(1);
  });

  it("is a detector, no isolation: what was taken before is not seen", async () => {
    powerGuard().off();
    const taken = nodeFs.readFileSync;
    powerGuard().on();
    expect(asTool(() => taken(join(folder, "file"), "utf8"))).toBe("text");
    expect(powerGuard().found).toEqual([]);
  });

  it("stays off where the variable says so", () => {
    const script = `import "./src/testing.ts"; import { powerGuard } from "./src/testing.ts"; console.log(powerGuard().isOn)`;
    const run = (variables: Record<string, string>): string =>
      spawnSync(process.execPath, ["--input-type=module", "--no-warnings", "-e", script], {
        env: { ...process.env, ...variables },
        encoding: "utf8",
      }).stdout.trim();
    expect([run({ WRIT_POWER_GUARD: "off" }), run({})]).toEqual(["false", "true"]);
  });
});
