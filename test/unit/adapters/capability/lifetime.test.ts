import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodePowers } from "../../../../src/adapters/capability/node-powers.ts";
import { type Capability, env, exec, fs, llm, net, secret } from "../../../../src/tool/capability.ts";
import { end, openHandles } from "./open-handles.ts";
import { type TestServer, testServer } from "./test-server.ts";

let server: TestServer;

beforeAll(async () => {
  server = await testServer();
});

afterAll(async () => {
  await server.close();
});

describe("the handles of a call", () => {
  it.each<[Capability, string]>([
    [net("a.com"), "fetch"],
    [fs.read("/a"), "fs"],
    [fs.write("/a"), "fs"],
    [env("A"), "env"],
    [secret("A"), "secret"],
    [exec("a"), "exec"],
  ])("are those that were declared: %o [T9, Y7.1]", (need, handle) => {
    const opened = nodePowers.open({
      scope: { tool: "t", callId: "c", powers: [[need], [need]] },
      kinds: new Set([need.kind]),
      use: () => undefined,
      signal: new AbortController().signal,
    });
    expect(Object.keys(opened.handles)).toEqual([handle]);
    expect(Object.isFrozen(opened.handles)).toBe(true);
    expect(Object.isFrozen(Object.values(opened.handles)[0]) || handle !== "fs").toBe(true);
  });

  it("are none when nothing was declared; the model's is not of the machine", () => {
    const scope = { tool: "t", callId: "c", powers: [] };
    const request = { scope, use: () => undefined, signal: new AbortController().signal };
    expect(nodePowers.open({ ...request, kinds: new Set() }).handles).toEqual({});
    expect(nodePowers.open({ ...request, kinds: new Set(["llm"]) }).handles).toEqual({});
    expect(llm.kind).toBe("llm");
  });

  it("are closed from the start when the call was stopped before", async () => {
    const stopped = AbortSignal.abort(new Error("stopped before"));
    const { fetch, env: read } = openHandles([net(server.origin), env("A")], { signal: stopped });
    expect(await end(() => fetch(server.origin))).toMatchObject({ message: "stopped before" });
    expect(await end(() => read("A"))).toMatchObject({ message: "stopped before" });
    expect(server.requests).toEqual([]);
  });

  it("a policy of filesystem, network, environment and programs for each tool, enforced [T9]", async () => {
    process.env["HANDLE_REGION"] = "south";
    const grants = [net(server.origin), fs.read("/usr"), env("HANDLE_REGION"), exec("true")];
    const weather = openHandles([net(server.origin), env("HANDLE_REGION")], { grants });
    const files = openHandles([fs.read("/usr/share"), exec("true")], { grants });
    expect(await (await weather.fetch(server.origin)).text()).toBe("hello");
    expect(weather.env("HANDLE_REGION")).toBe("south");
    expect([weather.fs, weather.exec, files.fetch, files.env]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(await files.exec("true")).toMatchObject({ exitCode: 0 });
    expect((await files.fs.list("/usr/share")).length).toBeGreaterThan(0);
    expect(await end(() => files.fs.list("/usr/lib"))).toContain("The tool did not declare it");
    expect(await end(() => openHandles([fs.read("/etc")], { grants }).fs.list("/etc"))).toContain(
      "It was not granted",
    );
    delete process.env["HANDLE_REGION"];
  });
});

describe("scopes", () => {
  const scope = (tool: string) => ({ tool, callId: `call_${tool}`, powers: [] });
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

  it("go with the work across await, timers and callbacks, and with nothing else", async () => {
    expect(nodePowers.current()).toBeUndefined();
    const seen: (string | undefined)[] = [];
    const look = (): void => void seen.push(nodePowers.current()?.tool);
    await nodePowers.inside(scope("a"), async () => {
      look();
      await turn();
      look();
      await new Promise<void>((resolve) => {
        setImmediate(() => {
          look();
          resolve();
        });
      });
      nodePowers.inside(scope("b"), look);
      look();
    });
    look();
    expect(seen).toEqual(["a", "a", "a", "b", "a", undefined]);
  });

  it("of calls beside each other are never mixed up, also while handles work for them", async () => {
    const calls = Array.from({ length: 20 }, (_, index) => `tool${index}`);
    const before = server.requests.length;
    await Promise.all(
      calls.map((tool) => {
        const opened = openHandles([net(server.origin), fs.read("/usr/share")], { tool });
        return nodePowers.inside(opened.scope, async () => {
          for (let count = 0; count < 5; count += 1) {
            const response = await opened.fetch(`${server.origin}/${tool}`);
            expect(nodePowers.current()).toBe(opened.scope);
            await response.text();
            expect(nodePowers.current()).toBe(opened.scope);
            await opened.fs.stat("/usr/share");
            expect(nodePowers.current()).toBe(opened.scope);
            await turn();
          }
          opened.close();
        });
      }),
    );
    expect(nodePowers.current()).toBeUndefined();
    expect(server.requests.length - before).toBe(100);
  });
});
