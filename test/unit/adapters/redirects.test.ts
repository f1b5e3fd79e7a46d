import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ollama, ollamaModels, ollamaRunning } from "../../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { agent } from "../../../src/index.ts";
import type { Model } from "../../../src/model/model.ts";
import { openaiChunk } from "../../contract/openai-wire.ts";
import { sse } from "../../contract/played-server.ts";
import { ask } from "./ask-openai.ts";

afterEach(() => void vi.unstubAllEnvs());

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly key: unknown;
  readonly text: string;
}

interface Place {
  readonly url: string;
  readonly seen: Seen[];
}

/** What a server answers with to a path. */
type Play = (path: string) => { readonly status: number; readonly location?: string; readonly body?: string };

async function place(play: Play): Promise<Place> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const { method, url = "", headers } = request;
      seen.push({ method, url, key: headers["api-key"], text });
      const { status, location, body = "" } = play(url);
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const bodies = {
  "/v1/chat/completions": sse([openaiChunk({ content: "fine" }), openaiChunk({}, "stop")], true),
  "/api/chat": `${JSON.stringify({ message: { role: "assistant", content: "fine" }, done: true })}\n`,
  "/api/tags": '{"models":[]}',
  "/api/version": '{"version":"1"}',
};
const fine: Play = (path) => ({
  status: 200,
  body: Object.entries(bodies).find(([end]) => path.endsWith(end))?.[1],
});

const headers = { "api-key": "for this server alone" };
const models: readonly (readonly [string, (url: string, send?: typeof fetch) => Model])[] = [
  [
    "openaiCompatible",
    (url, send) => openaiCompatible("m", { baseUrl: url, headers, ...(send && { fetch: send }) }),
  ],
  ["ollama", (url, send) => ollama("m", { host: url, headers, ...(send && { fetch: send }) })],
];
const ownFetch: typeof fetch = (input, init) => fetch(input, init);

describe.each(models)("redirects of the server of a model: %s", (_name, model) => {
  it.each([301, 302, 303, 307, 308])(
    "%d to another origin is refused, and nothing is sent there",
    async (status) => {
      for (const send of [undefined, ownFetch]) {
        const elsewhere = await place(fine);
        const server = await place((path) => ({ status, location: `${elsewhere.url}${path}?token=t` }));
        const run = agent({ name: "a", model: model(server.url, send) }).run("Our secret plan.");
        const error = { code: "provider-redirected", retryable: false };
        await expect(run).rejects.toMatchObject(error);
        await expect(run).rejects.toThrow(server.url);
        await expect(run).rejects.toThrow(elsewhere.url);
        await expect(run).rejects.not.toThrow("token");
        expect(elsewhere.seen).toEqual([]);
        expect(server.seen).toHaveLength(1);
      }
    },
  );

  it("another scheme of the same host is another origin, and named for the address of the model", async () => {
    const server = await place((path) => ({
      status: 301,
      location: `https://127.0.0.1:${port(server)}${path}`,
    }));
    await expect(ask(model(server.url))).rejects.toMatchObject({
      code: "provider-redirected",
      hint: expect.stringContaining(`https://127.0.0.1:${port(server)}`) as string,
    });
  });

  it.each([301, 307, 308])("%d within the origin is followed with the same request", async (status) => {
    for (const send of [undefined, ownFetch]) {
      const server = await place((path) =>
        path.startsWith("/new") ? fine(path) : { status, location: `/new${path}` },
      );
      const { outcome } = await agent({ name: "a", model: model(server.url, send) }).run("x");
      expect(outcome).toMatchObject({ type: "answered", content: "fine" });
      const [first, second] = server.seen;
      expect(second).toEqual({ ...first, url: `/new${first?.url}` });
    }
  });

  it("a chain that leaves the origin is refused where it leaves, one without end and one to nowhere fail", async () => {
    const elsewhere = await place(fine);
    const chain = await place((path) => ({
      status: 307,
      location: path.startsWith("/new") ? `${elsewhere.url}${path}` : `/new${path}`,
    }));
    await expect(ask(model(chain.url))).rejects.toMatchObject({ code: "provider-redirected" });
    expect(elsewhere.seen).toEqual([]);
    const circle = await place((path) => ({ status: 307, location: path }));
    await expect(ask(model(circle.url))).rejects.toMatchObject({ code: "provider-failed" });
    expect(circle.seen.length).toBeLessThan(10);
    for (const location of [undefined, "http://"]) {
      const nowhere = await place(() => ({ status: 307, ...(location && { location }) }));
      await expect(ask(model(nowhere.url))).rejects.toMatchObject({ code: "provider-failed" });
    }
  });
});

describe("a server that repeats the key it was sent", () => {
  const key = "sk-proj-very-secret-0815";
  const shown = (error: unknown): string => inspect(error, { depth: 20, showHidden: true });

  it.each([
    ["openaiCompatible", (url: string) => openaiCompatible("m", { baseUrl: url, apiKey: key })],
    ["ollama", (url: string) => ollama("m", { host: url, headers: { authorization: `Bearer ${key}` } })],
    ["a hosted one", () => "openai/gpt-5-mini" as const],
  ] as const)("is told without it, by the error and its causes: %s", async (_name, model) => {
    vi.stubEnv("OPENAI_API_KEY", key);
    for (const status of [400, 401, 404, 500]) {
      const body = JSON.stringify({ error: { message: `Incorrect API key: ${key}.`, code: key } });
      const { url } = await place(() => ({ status, body }));
      vi.stubEnv("OPENAI_BASE_URL", url);
      const error: unknown = await agent({ name: "a", model: model(url), retry: false })
        .run("x")
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        message: expect.stringContaining("Incorrect API key: [key].") as string,
      });
      expect(shown(error)).not.toContain(key);
    }
  });
});

function port({ url }: Place): string {
  return new URL(url).port;
}

describe("redirects of what else is asked", () => {
  it("the lists of Ollama's models and its version come from its own server", async () => {
    const elsewhere = await place(fine);
    const server = await place((path) => ({ status: 307, location: `${elsewhere.url}${path}` }));
    await expect(ollamaModels(server.url)).rejects.toMatchObject({ code: "provider-redirected" });
    expect(await ollamaRunning(server.url)).toBe(false);
    expect(await ollamaRunning(elsewhere.url)).toBe(true);
    expect(elsewhere.seen).toHaveLength(1);
  });

  it("what an OpenAI-compatible server has is asked of it alone", async () => {
    const elsewhere = await place(() => ({ status: 200, body: '{"data":[{"id":"n"}]}' }));
    const server = await place((path) =>
      path.includes("chat")
        ? { status: 404, body: '{"error":{"message":"no such model"}}' }
        : { status: 307, location: `${elsewhere.url}${path}` },
    );
    const asked = ask(openaiCompatible("m", { baseUrl: server.url, headers }));
    await expect(asked).rejects.toMatchObject({ code: "model-not-found" });
    expect(elsewhere.seen).toEqual([]);
  });
});
