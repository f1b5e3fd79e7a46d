import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ollama } from "../../../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../../../src/adapters/model/openai-compatible.ts";
import { agent } from "../../../../src/index.ts";
import { fakeOllama, fakeOpenai, fakeTool } from "../../../../src/testing.ts";
import { post } from "./post.ts";

const body = { model: "m", messages: [{ role: "user", content: "Hi" }], stream: false };
const path = "/v1/chat/completions";

describe("a fake provider", () => {
  it("breaks a reply off as a connection does, also without one: a run asks again", async () => {
    await using server = await fakeOpenai([{ text: "one two three", cutAfter: 2 }, "whole"]);
    const model = openaiCompatible("m", { baseUrl: `${server.url}/v1`, fetch: server.fetch });
    expect(await agent({ name: "a", model, retry: { firstDelayMs: 1 } })("Hi")).toBe("whole");
  });

  it("gives one step a request, keeps the requests, and repeats the last step [H19]", async () => {
    await using server = await fakeOpenai([
      ({ body, path }) => `${path} ${JSON.stringify(body["model"])}`,
      "two",
    ]);
    const texts: unknown[] = [];
    for (const _ of [1, 2, 3])
      texts.push((await post(server, { path, headers: { "x-trace": "7" } }, body)).body);
    expect(texts).toMatchObject(
      ['/v1/chat/completions "m"', "two", "two"].map((content) => ({ choices: [{ message: { content } }] })),
    );
    expect(server.requests).toHaveLength(3);
    expect(server.requests[0]).toMatchObject({ method: "POST", path, body, headers: { "x-trace": "7" } });
    server.assertComplete();
  });

  it("refuses what comes after the last step where it is told so, and takes no step for what it refuses [H19]", async () => {
    await using server = await fakeOpenai(["one"], { whenDone: "refuse" });
    expect(await post(server, path, { ...body, messages: [] })).toMatchObject({ status: 400 });
    expect(server.remaining()).toBe(1);
    expect(() => server.assertComplete()).toThrow(
      "/v1/chat/completions was refused: Invalid 'messages': empty array.",
    );
    expect(await post(server, path, body)).toMatchObject({ status: 200 });
    expect(await post(server, path, body)).toMatchObject({
      status: 400,
      body: { error: { message: "the script has 1 steps and was asked once more" } },
    });
  });

  it("refuses a host that it does not play", async () => {
    const made = (start: (steps: readonly string[], options: object) => Promise<unknown>, options: object) =>
      start(["one"], options).catch(({ code, message }) => [code, message]);
    expect(await made(fakeOpenai, { host: "grok" })).toEqual([
      "definition-invalid",
      'The script of a fake provider: `options.host` must be one of cerebras, deepseek, gemini, groq, kimi, mistral, openrouter, got "grok".',
    ]);
    expect(await made(fakeOllama, { host: "groq" })).toEqual([
      "definition-invalid",
      'The script of a fake provider: `options` has the unknown field "host"; known are whenDone.',
    ]);
  });

  it("says how many steps are left [H19]", async () => {
    await using server = await fakeOpenai(["one", "two"]);
    expect(() => server.assertComplete()).toThrow("2 of 2 steps of the script were not asked for");
  });

  it("is complete also where the client looked for the list of models", async () => {
    await using server = await fakeOllama([
      { status: 400, message: '"m" does not support tools' },
      '{"final": {"content": "8"}}',
    ]);
    const model = ollama("m", { host: server.url });
    expect(await agent({ name: "a", model, tools: [fakeTool("add", 8)] })("3 + 5?")).toBe("8");
    expect(server.requests.map(({ path }) => path)).toContain("/api/tags");
    server.assertComplete();
  });

  it("answers an error and a function that throws with status 500 [H19]", async () => {
    await using server = await fakeOllama([
      new Error("out of memory"),
      () => {
        throw new TypeError("no such field");
      },
    ]);
    expect(await post(server, "/api/chat", body)).toEqual({ status: 500, body: { error: "out of memory" } });
    expect(await post(server, "/api/chat", body)).toEqual({ status: 500, body: { error: "no such field" } });
  });

  it("knows no other paths, and wants JSON [H19]", async () => {
    await using server = await fakeOpenai(["one"]);
    expect(await post(server, "/chat/completions", body)).toMatchObject({
      status: 404,
      body: { error: { message: "Invalid URL (POST /chat/completions)" } },
    });
    const torn = await fetch(`${server.url}${path}`, { method: "POST", body: "{" });
    expect([torn.status, server.requests[1]?.body]).toEqual([400, {}]);
    expect((await fetch(`${server.url}/v1/models`)).status).toBe(404);
  });

  it("waits before its first byte, until the client goes away [H19]", async () => {
    await using server = await fakeOpenai([
      { text: "late", delayMs: 60 },
      { status: 500, delayMs: 60_000 },
    ]);
    const begun = performance.now();
    await post(server, path, body);
    expect(performance.now() - begun).toBeGreaterThan(55);
    const init = { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(20) };
    await expect(server.fetch(`${server.url}${path}`, init)).rejects.toThrow();
    await expect(
      fetch(`${server.url}${path}`, { ...init, signal: AbortSignal.timeout(20) }),
    ).rejects.toThrow();
  });

  it("breaks a stream after so many chunks, and a whole reply in its middle [H19]", async () => {
    await using server = await fakeOpenai([{ text: "one two three", cutAfter: 3 }]);
    for (const send of [fetch, server.fetch]) {
      const streamed = await send(`${server.url}${path}`, {
        method: "POST",
        body: JSON.stringify({ ...body, stream: true }),
      });
      const chunks: string[] = [];
      const reading = (async () => {
        for await (const chunk of streamed.body ?? []) chunks.push(Buffer.from(chunk).toString());
      })();
      await expect(reading).rejects.toThrow();
      expect(chunks.join("").match(/^data: /gm)).toHaveLength(3);
      const whole = await send(`${server.url}${path}`, { method: "POST", body: JSON.stringify(body) });
      await expect(whole.json()).rejects.toThrow();
    }
  });

  it("is gone when it is closed, with the requests that wait [H19]", async () => {
    const server = await fakeOpenai([{ text: "never", delayMs: 60_000 }]);
    const waiting = fetch(`${server.url}${path}`, { method: "POST", body: JSON.stringify(body) });
    const lost = expect(waiting).rejects.toThrow();
    while (server.requests.length === 0) await sleep(1);
    await server.close();
    await lost;
    await expect(fetch(server.url)).rejects.toThrow();
    await server.close(); // once more does no harm
  });
});
