import { createDeepSeek } from "@ai-sdk/deepseek";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { describe, expect, it } from "vitest";
import { aiSdk } from "../../src/adapters/model/ai-sdk.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { agent, inMemorySessions, session, tool } from "../../src/index.ts";
import type { Model } from "../../src/model/model.ts";
import {
  type FakeOpenaiOptions,
  fakeOpenai,
  type FakeProvider,
  type FakeStep,
  fakeTool,
} from "../../src/testing.ts";
import { image } from "../../src/tools.ts";
import { ask } from "../unit/adapters/ask-openai.ts";

type Host = NonNullable<FakeOpenaiOptions["host"]>;

/** What is asked of each host: a model that reasons there, and the field in which its reasoning must be in the second request. */
interface Played {
  readonly name: string;
  readonly back: RegExp;
  /** What is refused once, and asked again in another way. */
  readonly refusals?: number;
}

const hosts: Readonly<Record<Host, Played>> = {
  cerebras: { name: "gpt-oss-120b", back: /"reasoning":"I need both\."/ },
  deepseek: { name: "deepseek-v4-pro", back: /"reasoning_content":"I need both\."/ },
  gemini: { name: "gemini-3-pro-preview", back: /"thought_signature":"[^"]+"/ },
  groq: { name: "openai/gpt-oss-120b", back: /"reasoning":"I need both\."/ },
  kimi: { name: "kimi-k2.5", back: /"reasoning_content":"I need both\.".*"functions\.search:0"/ },
  mistral: {
    name: "magistral-medium-latest",
    back: /\{"type":"thinking","thinking":\[\{"type":"text","text":"I need both\."\}\]/,
    refusals: 1, // of `stream_options`
  },
  openrouter: {
    name: "anthropic/claude-sonnet-4.5",
    back: /"reasoning_details":\[\{"type":"reasoning\.text"[^\]]*"text":"I need both\."[^\]]*"signature":"[^"]+"/,
  },
};
const png = "iVBORw0KGgo=";
const names = Object.keys(hosts) as readonly Host[];

const own = (host: Host, url: string): Model => openaiCompatible(hosts[host].name, { baseUrl: `${url}/v1` });

/** The packages of providers, where there is one for a host. */
const packages: Readonly<Partial<Record<Host, (url: string, name: string) => Model>>> = {
  deepseek: (baseURL, name) => aiSdk(createDeepSeek({ baseURL, apiKey: "none" })(name)),
  groq: (baseURL, name) => aiSdk(createGroq({ baseURL, apiKey: "none" })(name)),
  kimi: (baseURL, name) => aiSdk(createOpenAICompatible({ name: "kimi", baseURL, includeUsage: true })(name)),
  mistral: (baseURL, name) => aiSdk(createMistral({ baseURL, apiKey: "none" })(name)),
  openrouter: (baseURL, name) => aiSdk(createOpenRouter({ baseURL, apiKey: "none" }).chat(name)),
};
const packaged = names.flatMap((host) =>
  packages[host] === undefined ? [] : [[host, packages[host]] as const],
);

const twoCalls: FakeStep = {
  reasoning: "I need both.",
  text: "I look.",
  calls: [
    { name: "search", arguments: { query: "tea" } },
    { name: "search", arguments: { query: "cups" } },
  ],
};

/** An agent with a tool, and what it searched for. */
function searcher(model: Model): {
  readonly host: ReturnType<typeof agent>;
  readonly searched: () => unknown;
} {
  const search = fakeTool("search", "hot");
  return {
    host: agent({ name: "host", model, instructions: "Be short.", tools: [search] }),
    searched: () => search.calls,
  };
}

/** A tool whose results are pictures. */
const drawing = () =>
  tool({
    name: "search",
    description: "Look",
    inputSchema: { type: "object", properties: { query: { type: "string" } } },
    effect: "read",
    execute: () => image(png) as unknown,
  });

const refusalsOf = ({ requests }: FakeProvider): readonly string[] =>
  requests.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal]));

describe.each(names)("openaiCompatible with %s", (host) => {
  const { back, refusals = 0 } = hosts[host];

  it("gives back what the host wants, in a run and in a second one, and nothing that it refuses [H19]", async () => {
    await using server = await fakeOpenai([twoCalls, "Tea is hot.", twoCalls, "Still."], { host });
    const { host: asked, searched } = searcher(own(host, server.url));
    const talk = session(inMemorySessions(), "talk", { history: "all" });
    expect((await asked.run("Tea?", { session: talk })).text).toBe("Tea is hot.");
    expect((await asked.run("And now?", { session: talk })).text).toBe("Still.");
    expect(searched()).toEqual([{ query: "tea" }, { query: "cups" }, { query: "tea" }, { query: "cups" }]);
    expect(refusalsOf(server)).toHaveLength(refusals);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toMatch(back);
    const { usage } = await asked.run("Hi");
    expect(usage.inputTokens).toBeGreaterThan(0);
  });

  it.each([429, 500, 503])("survives a %d in its second turn without a setting", async (status) => {
    await using server = await fakeOpenai([twoCalls, { status, retryAfter: 0.001 }, "Tea is hot."], { host });
    const { host: asked, searched } = searcher(own(host, server.url));
    expect(await asked("Tea?")).toBe("Tea is hot.");
    expect(searched()).toHaveLength(2);
  });

  it("goes on with a conversation that another host began", async () => {
    const other = names[(names.indexOf(host) + 1) % names.length] ?? "groq";
    await using first = await fakeOpenai([twoCalls, "Tea is hot."], { host: other });
    await using second = await fakeOpenai([twoCalls, "Still."], { host });
    const talk = session(inMemorySessions(), "talk", { history: "all" });
    await searcher(own(other, first.url)).host.run("Tea?", { session: talk });
    expect((await searcher(own(host, second.url)).host.run("And now?", { session: talk })).text).toBe(
      "Still.",
    );
  });

  it("shows a user's picture, or passes on why the host takes none", async () => {
    await using server = await fakeOpenai(["A cat."], { host });
    const messages = [{ role: "user", parts: [{ type: "text", text: "Look." }, image(png)] }] as const;
    const asked = ask(own(host, server.url), { messages });
    if (host === "deepseek") await expect(asked).rejects.toThrow("unknown variant `image_url`");
    else expect(await asked).toContainEqual({ type: "text-delta", text: "cat." });
  });

  it("shows the pictures that tools give, or goes on without them where the host takes none", async () => {
    const search = drawing();
    await using server = await fakeOpenai([twoCalls, "A cat."], { host });
    const asked = agent({ name: "host", model: own(host, server.url), tools: [search] });
    expect(await asked("Look.")).toBe("A cat.");
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    const shown = [...sent.matchAll(/"url":"data:image\/png;base64,iVBORw0KGgo="/g)];
    expect(shown).toHaveLength(host === "deepseek" ? 0 : 2);
  });
});

describe.each(packaged)("an AI SDK object with %s", (host, make) => {
  it.each([429, 500, 503])(
    "gives back what the host wants, and survives a %d in its second turn",
    async (status) => {
      const steps: readonly FakeStep[] = [twoCalls, { status, retryAfter: 0.001 }, "Tea is hot."];
      await using server = await fakeOpenai(steps, { host });
      const { host: asked, searched } = searcher(make(`${server.url}/v1`, hosts[host].name));
      expect(await asked("Tea?")).toBe("Tea is hot.");
      expect(searched()).toHaveLength(2);
      expect(refusalsOf(server)).toEqual([]);
      expect(JSON.stringify(server.requests.at(-1)?.body)).toMatch(hosts[host].back);
    },
  );

  it("shows the pictures that tools give, or goes on without them where the host takes none", async () => {
    const search = drawing();
    await using server = await fakeOpenai([twoCalls, "A cat."], { host });
    const model = make(`${server.url}/v1`, hosts[host].name);
    const asked = agent({ name: "host", model, tools: [search] });
    const parts = host === "deepseek" ? "Look." : [{ type: "text", text: "Look." }, image(png)];
    expect((await asked.run(parts as never)).text).toBe("A cat.");
    expect(refusalsOf(server)).toEqual([]);
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect([...sent.matchAll(/iVBORw0KGgo=/g)]).toHaveLength(host === "deepseek" ? 0 : 3);
  });
});
