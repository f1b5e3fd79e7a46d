import { beforeEach, describe, expect, it } from "vitest";
import type { Server } from "../../src/server.ts";
import { ask, runsFile, serving, shop, talker, told } from "./scene.ts";

/** What an answer to a stranger never has: names of files, of lines, of what the server is made of. */
const details = /node_modules|\.ts:\d|\bat \w+ \(|runs\.db|sqlite/i;

interface Place {
  readonly method: string;
  readonly path: string;
  readonly isOpen: boolean;
  readonly takesBody: boolean;
}

/** All that the description of a server names, with `{id}` and its like as they are. */
async function placesOf(server: Server): Promise<readonly Place[]> {
  const { paths } = (await told(ask(server, "GET /openapi.json"))) as unknown as {
    readonly paths: Record<
      string,
      Record<string, { readonly security?: readonly object[]; readonly requestBody?: object }>
    >;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      isOpen: security?.length === 0,
      takesBody: requestBody !== undefined,
    })),
  );
}

/** The path with a name in the place of each parameter. */
const filled = (path: string, name: string): string => path.replaceAll(/\{\w+\}/g, name);

describe("every endpoint", () => {
  let server: Server;
  let places: readonly Place[];
  beforeEach(async () => {
    const limits = { bodyBytes: 20_000, requestsAMinute: 1_000_000, streams: 1_000 };
    server = serving(runsFile(), { agents: [talker()], mcp: {}, limits });
    places = await placesOf(server);
    expect(places.length).toBeGreaterThan(20);
    await ask(server, "POST /runs", { body: { agent: "talker", id: "mine", input: "Hi" } });
  });

  /** The statuses of what is asked of all places, none of which says too much. */
  async function statuses(
    wanted: (place: Place) => boolean,
    asking: (place: Place) => Parameters<typeof ask>,
  ): Promise<readonly (readonly [string, number])[]> {
    const found: (readonly [string, number])[] = [];
    for (const place of places.filter(wanted)) {
      const response = await ask(...asking(place));
      expect(await response.text(), `${place.method} ${place.path}`).not.toMatch(details);
      found.push([`${place.method} ${place.path}`, response.status]);
    }
    expect(found.length).toBeGreaterThan(0);
    return found;
  }

  it.each([
    ["no token", {}],
    ["a guessed token", { authorization: "Bearer guess" }],
    ["another scheme", { authorization: "Basic d2ViOndlYi10b2tlbg==" }],
  ])("wants a token that is good: %s", async (_name, headers) => {
    const all = await statuses(
      ({ isOpen }) => !isOpen,
      ({ method, path }) => [server, `${method} ${filled(path, "mine")}`, { headers }],
    );
    expect(all.filter(([, status]) => status !== 401)).toEqual([]);
  });

  it("does not have the runs of another caller", async () => {
    const all = await statuses(
      ({ path }) => path.startsWith("/runs/{id}"),
      ({ method, path, takesBody }) => [
        server,
        `${method} ${filled(path, "mine")}`,
        { headers: shop, ...(takesBody ? { body: {} } : {}) },
      ],
    );
    expect(all.filter(([, status]) => status !== 404 && status !== 400)).toEqual([]);
    expect((await ask(server, "GET /runs/mine", { headers: shop })).status).toBe(404);
  });

  it.each([
    ["no JSON", "{"],
    ["a number", "7"],
    ["deep lists", "[".repeat(9_000) + "]".repeat(9_000)],
    ["a prototype", '{"__proto__":{"admin":true},"constructor":1}'],
  ])("refuses a body that is wrong: %s", async (_name, body) => {
    const all = await statuses(
      ({ takesBody }) => takesBody,
      ({ method, path }) => [server, `${method} ${filled(path, "mine")}`, { body }],
    );
    expect(all.filter(([, status]) => status < 400 || status >= 500)).toEqual([]);
  });

  it.each([
    ["an id that no address names", { id: "a\ud800" }, "request-invalid"],
    ["a skill that is not there", { skill: "none" }, "skill-unknown"],
  ])("begins no run with %s", async (_name, wrong, code) => {
    const body = { agent: "talker", input: "Hi", ...wrong };
    expect(await told(ask(server, "POST /runs", { body }))).toMatchObject({ status: 400, code });
    const fork = { beforeTurn: 1, id: "a\ud800" };
    expect((await ask(server, "POST /runs/mine/fork", { body: fork })).status).toBe(400);
    expect((await told(ask(server, "GET /runs"))).runs).toHaveLength(1);
  });

  it("refuses a body that is too large", async () => {
    const body = JSON.stringify({ input: "x".repeat(30_000) });
    const all = await statuses(
      ({ takesBody }) => takesBody,
      ({ method, path }) => [server, `${method} ${filled(path, "mine")}`, { body }],
    );
    expect(all.filter(([, status]) => status !== 413)).toEqual([]);
  });

  it.each([
    ["a path around", "..%2f..%2fetc%2fpasswd"],
    ["dots", "%2e%2e"],
    ["a zero", "a%00b"],
    ["a picture", "%F0%9F%92%A9"],
    ["a prototype", "__proto__"],
    ["a long name", "x".repeat(4_000)],
    ["a broken escape", "%E0%A4%A"],
  ])("has no run, agent or chat by a trick: %s", async (_name, name) => {
    const all = await statuses(
      ({ path, takesBody }) => path.includes("{") && !takesBody,
      ({ method, path }) => [server, `${method} ${filled(path, name)}`],
    );
    expect(all.filter(([, status]) => status >= 500)).toEqual([]);
  });

  it("is not there by another method", async () => {
    const all = await statuses(
      () => true,
      ({ path }) => [server, `PATCH ${filled(path, "mine")}`, { body: {} }],
    );
    expect(all.filter(([, status]) => status !== 404 && status !== 405)).toEqual([]);
  });
});
