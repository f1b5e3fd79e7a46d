import { describe, expect, it, onTestFinished, vi } from "vitest";
import { chooseModel } from "../../../src/adapters/find-model.ts";
import { catalogueModel } from "../../../src/adapters/model-files/cache.ts";
import { defaultModel } from "../../../src/adapters/model-files/catalogue.ts";
import { installedVersion } from "../../../src/adapters/peer.ts";
import { type Check, checksOf, type Findings } from "../../../src/cli/doctor.ts";

const file = { ...catalogueModel(defaultModel), path: "/cache/models/file.gguf", present: true };
const healthy: Findings = {
  node: "24.1.0",
  platform: "linux x64",
  cores: 2,
  memoryBytes: 8e9,
  writ: "1.0.0",
  hasOllamaPackage: true,
  packages: { pg: "8.23.1", "@dbos-inc/dbos-sdk": "5.3.0" },
  around: {
    ollama: [{ name: "qwen", sizeBytes: 1e9, capabilities: ["tools"] }],
    canEmbed: true,
    embedded: file,
  },
  files: [file],
  cache: { folder: "/cache", writable: true },
  cards: [],
  isolators: [],
  hosted: [
    { name: "openai", key: "OPENAI_API_KEY", way: "package" },
    { name: "anthropic", key: "ANTHROPIC_API_KEY", way: "address" },
  ],
};

function check(changes: Partial<Findings>): readonly Check[] {
  const findings = { ...healthy, ...changes };
  return checksOf(findings, chooseModel(findings.around));
}

function named(checks: readonly Check[], name: string): Check | undefined {
  return checks.find((one) => one.name === name);
}

describe("installedVersion", () => {
  it("is that of a package, whether it shows its package.json or not", () => {
    expect(["pg", "@dbos-inc/dbos-sdk"].map(installedVersion)).toEqual([
      expect.stringMatching(/^8\./),
      expect.stringMatching(/^5\./),
    ]);
    expect(installedVersion("a-package-that-is-not-there")).toBeUndefined();
  });
});

describe("checksOf", () => {
  it("finds nothing to say against a machine that has everything", () => {
    expect(check({}).filter(({ state }) => state !== "ok")).toEqual([]);
    expect(named(check({}), "ollama-server")?.text).toBe("Ollama has qwen (tools)");
    expect(named(check({}), "model")?.text).toContain("ollama/qwen");
  });

  it("takes only an old Node for broken", () => {
    expect(named(check({ node: "22.17.0" }), "node")).toMatchObject({
      state: "broken",
      advice: expect.stringContaining("22.18.0"),
    });
  });

  it("notes everything that is missing, each with what to do, and breaks nothing", () => {
    const missing = { ...file, present: false };
    const around = { ollama: { why: "no Ollama answers" }, canEmbed: false, embedded: missing };
    const checks = check({
      hasOllamaPackage: false,
      packages: {},
      around,
      files: [missing],
      cache: { folder: "/cache", writable: false },
      hosted: [],
    });
    const notes = checks.filter(({ state }) => state === "note").map(({ name }) => name);
    expect(notes).toEqual([
      "ollama",
      "pg",
      "@dbos-inc/dbos-sdk",
      "node-llama-cpp",
      "ollama-server",
      `model-file-${defaultModel}`,
      "cache",
      "OPENAI_API_KEY",
      "ANTHROPIC_API_KEY",
      "model",
    ]);
    expect(checks.some(({ state }) => state === "broken")).toBe(false);
    expect(named(checks, `model-file-${defaultModel}`)?.advice).toBe(`writ models pull ${defaultModel}`);
    expect(named(checks, "@dbos-inc/dbos-sdk")?.advice).toBe("npm i @dbos-inc/dbos-sdk pg");
    expect(named(check({}), "pg")?.text).toBe("package pg 8.23.1 is installed");
    expect(named(checks, "node-llama-cpp")?.advice).toBe("npm i node-llama-cpp");
  });

  it("says what each key would be used for, and how to use it where there is no other model", () => {
    expect(named(check({}), "OPENAI_API_KEY")?.advice).toBe("openai/<model> goes through @ai-sdk/openai");
    expect(named(check({}), "ANTHROPIC_API_KEY")?.advice).toBe(
      "anthropic/<model> goes to https://api.anthropic.com/v1 (or through @ai-sdk/anthropic where it is installed)",
    );
    const around = { ollama: { why: "no Ollama answers" }, canEmbed: false, embedded: file };
    expect(named(check({ around }), "model")?.advice).toBe(
      "OPENAI_API_KEY is set: name a model with --model openai/<model>, or in WRIT_MODEL",
    );
  });

  it("shows no key that stands in an address", () => {
    vi.stubEnv("OPENAI_BASE_URL", "https://ada:never-shown@proxy.example/v1?key=never-shown");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(named(check({}), "OPENAI_API_KEY")?.advice).toBe(
      "openai/<model> goes through @ai-sdk/openai to https://proxy.example/v1",
    );
  });

  it("says of a name in WRIT_MODEL which names no model that it does not", () => {
    const wanted = (name: string): Check | undefined =>
      named(check({ around: { ...healthy.around, wanted: name } }), "model");
    expect(wanted("opnai/gpt-5")).toMatchObject({
      state: "note",
      text: 'no model: WRIT_MODEL names it, and "opnai/gpt-5" does not name a model; did you mean "openai"?',
      advice: expect.stringContaining("Write provider/model"),
    });
    expect(wanted("openai/gpt-5")?.state).toBe("ok");
  });

  it("tells an Ollama without models from none", () => {
    const around = { ...healthy.around, ollama: [] };
    expect(named(check({ around }), "ollama-server")).toMatchObject({
      state: "note",
      text: "Ollama runs and has no models",
    });
  });

  it("says that the embedded model would be fetched first", () => {
    const around = {
      ollama: { why: "no Ollama answers" },
      canEmbed: true,
      embedded: { ...file, present: false },
    };
    expect(named(check({ around }), "model")?.text).toContain("would be fetched first");
  });

  it("says which driver a card chose, and which file is none", () => {
    const card = {
      version: 1,
      model: "ollama/qwen",
      driver: "react",
      why: "right 20 of 23",
      writ: "1.0.0",
      date: "2031-01-02",
      scores: [],
    } as const;
    const checks = check({
      cards: [
        { type: "card", path: "/cache/cards/a.json", card },
        { type: "ignored", path: "/cache/cards/b.json", reason: "it is no JSON" },
      ],
    });
    expect(named(checks, "card-ollama/qwen")).toEqual({
      name: "card-ollama/qwen",
      state: "ok",
      text: "auto uses react with ollama/qwen: writ probe 1.0.0 measured it on 2031-01-02 (right 20 of 23)",
    });
    expect(named(checks, "card")).toMatchObject({
      state: "note",
      text: "/cache/cards/b.json is not a card of a model: it is no JSON",
      advice: expect.stringContaining("writ probe"),
    });
  });
});

it("says what isolates code here, and what to install where nothing does", () => {
  const isolators = [
    {
      level: "isolated",
      mechanism: "quickjs",
      platform: "linux-x64",
      probes: [{ name: "eval", held: true }],
    },
    {
      level: "none",
      mechanism: "linux-bwrap",
      platform: "linux-x64",
      probes: [],
      reason: "bubblewrap (bwrap) is not installed",
    },
  ] as const;
  const found = check({ isolators });
  expect(found.filter(({ name }) => name.startsWith("isolation-"))).toEqual([
    { name: "isolation-quickjs", state: "ok", text: "quickjs holds: 1 ways out were tried, none is open" },
    {
      name: "isolation-linux-bwrap",
      state: "note",
      text: "linux-bwrap isolates nothing here: bubblewrap (bwrap) is not installed",
      advice: "apt install bubblewrap",
    },
  ]);
  const isThere = [{ ...isolators[1], reason: "its box does not hold: read a file" }];
  expect(named(check({ isolators: isThere }), "isolation-linux-bwrap")).not.toHaveProperty(
    "advice",
    expect.anything(),
  );
  const [box] = isolators.slice(1).map((one) => ({ ...one, platform: "darwin-arm64" }));
  const onMac = named(check({ isolators: box === undefined ? [] : [box] }), "isolation-linux-bwrap");
  expect(onMac?.advice).toBe("isolatedTool needs Linux");
});
