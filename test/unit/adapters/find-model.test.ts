import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  chooseModel,
  findModel,
  isInstalled,
  lookAround,
  type Surroundings,
} from "../../../src/adapters/find-model.ts";
import { catalogueModel } from "../../../src/adapters/model-files/cache.ts";
import { defaultModel } from "../../../src/adapters/model-files/catalogue.ts";

const nothing: Surroundings = {
  ollama: { why: "no Ollama answers" },
  canEmbed: false,
  embedded: { ...catalogueModel(defaultModel), present: false },
};
const size = { sizeBytes: 1e9 };

let server: Server | undefined;

/** An Ollama as far as it is looked at, at OLLAMA_HOST. What is undefined is never answered. */
async function serveOllama(answers: Readonly<Record<string, unknown>>): Promise<void> {
  const made = createServer((request, response) => {
    const answer = answers[request.url ?? ""];
    if (answer !== undefined)
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  server = made;
  await new Promise<void>((resolve) => void made.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("OLLAMA_HOST", `http://127.0.0.1:${(made.address() as AddressInfo).port}`);
}

afterEach(() => {
  vi.unstubAllEnvs();
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

describe("chooseModel", () => {
  it("takes what WRIT_MODEL names before all else [Y16]", () => {
    const found = chooseModel({ ...nothing, wanted: "ollama/x", ollama: [{ name: "y", ...size }] });
    expect(found).toEqual({ type: "ready", name: "ollama/x", why: "WRIT_MODEL names it" });
  });

  it.each([
    [
      "one that can call tools",
      [
        { name: "a", ...size, capabilities: ["completion"] },
        { name: "b", ...size, capabilities: ["completion", "tools"] },
      ],
      "b",
    ],
    [
      "the first of several",
      [
        { name: "a", ...size, capabilities: ["tools"] },
        { name: "b", ...size, capabilities: ["tools"] },
      ],
      "a",
    ],
    [
      "one here before one of the cloud",
      [
        { name: "a", sizeBytes: 0, capabilities: ["tools"] },
        { name: "b", ...size, capabilities: ["tools"] },
      ],
      "b",
    ],
    [
      "one that does not say what it can",
      [
        { name: "e", ...size, capabilities: ["embedding"] },
        { name: "a", ...size },
      ],
      "a",
    ],
  ])("takes from Ollama %s", (_what, ollama, name) => {
    expect(chooseModel({ ...nothing, ollama, canEmbed: true })).toMatchObject({
      type: "ready",
      name: `ollama/${name}`,
    });
  });

  it("takes the embedded model when Ollama has none that writes", () => {
    const embedded = { ...nothing.embedded, present: true };
    const found = chooseModel({
      ollama: [{ name: "e", ...size, capabilities: ["embedding"] }],
      canEmbed: true,
      embedded,
    });
    expect(found).toMatchObject({ type: "ready", name: `llama-cpp/${defaultModel}` });
    expect(found.why).toContain("Ollama has no model that writes text");
  });

  it("would fetch the embedded model when its file is missing", () => {
    expect(chooseModel({ ...nothing, canEmbed: true })).toMatchObject({
      type: "fetch",
      file: { name: defaultModel },
      why: expect.stringContaining("no Ollama answers"),
    });
  });

  it("says why there is none, and how to get one", () => {
    const { type, why } = chooseModel(nothing);
    expect(type).toBe("none");
    expect(why).toMatch(/^no Ollama answers, and node-llama-cpp is not installed \(npm i node-llama-cpp\)$/);
  });
});

describe("lookAround", () => {
  it("reads WRIT_MODEL, finds no Ollama on a closed port, and does not wait for one", async () => {
    vi.stubEnv("OLLAMA_HOST", "http://127.0.0.1:9");
    vi.stubEnv("WRIT_MODEL", " ollama/x ");
    expect(await lookAround()).toMatchObject({ wanted: "ollama/x", ollama: { why: "no Ollama answers" } });
    vi.stubEnv("WRIT_MODEL", " ");
    expect((await lookAround()).wanted).toBeUndefined();
  });
});

describe("an Ollama that runs", () => {
  const version = { "/api/version": { version: "0.12.0" } };

  it("gives its first model that can call tools", async () => {
    const models = [
      { name: "qwen2.5:7b", model: "qwen2.5:7b", size: 4e9, details: { parameter_size: "7.6B" } },
    ];
    await serveOllama({
      ...version,
      "/api/tags": { models },
      "/api/show": { capabilities: ["completion", "tools"] },
    });
    vi.stubEnv("WRIT_MODEL", "");
    expect(await findModel()).toMatchObject({
      model: { id: "ollama/qwen2.5:7b" },
      why: "it runs in Ollama and can call tools",
    });
  });

  it("is given up when it does not list its models", async () => {
    await serveOllama(version);
    expect((await lookAround()).ollama).toEqual({
      why: "Ollama runs, but does not list its models within 2 s",
    });
  });
});

describe("findModel", () => {
  it("makes the model that WRIT_MODEL names, and refuses a name that is none", async () => {
    vi.stubEnv("OLLAMA_HOST", "http://127.0.0.1:9");
    vi.stubEnv("WRIT_MODEL", "ollama/qwen2.5:7b");
    expect(await findModel()).toMatchObject({ model: { id: "ollama/qwen2.5:7b" } });
    vi.stubEnv("WRIT_MODEL", "nobody/x");
    await expect(findModel()).rejects.toMatchObject({ code: "model-name-invalid" });
  });
});

it("knows which packages are installed", () => {
  expect(isInstalled("commander")).toBe(true);
  expect(isInstalled("no-such-package")).toBe(false);
});
