import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ollama, type OllamaOptions } from "../../../src/adapters/model/ollama.ts";
import { isWritError, type WritError } from "../../../src/error/writ-error.ts";
import { userMessage } from "../../../src/message/message.ts";
import type { ReportedUsage } from "../../../src/message/usage.ts";
import type { Delta, ModelRequest } from "../../../src/model/model.ts";
import { type Handler, sendTorn, startOllama } from "../../contract/ollama-server.ts";
import { callsOf, endOf, expectWellFormed, finishOf, textOf } from "../../contract/read-deltas.ts";

const request: ModelRequest = { messages: [userMessage("Hi.")], tools: [], toolChoice: "auto", settings: {} };

/** Asks a server that answers a chat as told, and gives what came of it. */
async function ask(
  chat: Handler,
  options: OllamaOptions = {},
): Promise<{ readonly deltas: Delta[]; readonly error?: WritError }> {
  const server = await startOllama({ chat });
  const deltas: Delta[] = [];
  try {
    const model = ollama("m", { host: server.url, ...options });
    for await (const delta of model.stream(request, { signal: new AbortController().signal }))
      deltas.push(delta);
    return { deltas };
  } catch (error) {
    if (!isWritError(error)) throw error;
    return { deltas, error };
  } finally {
    await server.close();
  }
}

const answering =
  (body: string, { status = 200, type = "application/x-ndjson" } = {}): Handler =>
  async (_request, response) => {
    response.writeHead(status, { "content-type": type });
    await sendTorn(response, body);
    response.end();
  };

const line = (message: unknown, rest: object = {}): string =>
  `${JSON.stringify({ model: "m", message, done: false, ...rest })}\n`;
const done = line({ role: "assistant", content: "" }, { done: true, done_reason: "stop" });

function latin1Bytes(): TransformStream<string, Uint8Array> {
  return new TransformStream({
    transform: (text, controller) => controller.enqueue(Buffer.from(text, "latin1")),
  });
}

afterEach(() => vi.restoreAllMocks());

describe("replies that are not as they should be", () => {
  it("reads blank lines, carriage returns, a last line without end, and fields of other types", async () => {
    const lines = [
      "\n\r\n",
      line({ role: "assistant", content: "a" }).replace("\n", "\r\n"),
      line({ role: "assistant", content: null, thinking: null, tool_calls: null }),
      line({ content: 7, thinking: {}, tool_calls: {} }),
      line(null),
      "\n",
      line({ content: "b" }, { done: null }),
      done.trimEnd(),
    ].join("");
    const { deltas, error } = await ask(answering(lines));
    expect(error).toBeUndefined();
    expect(textOf(deltas, "text-delta")).toBe("ab");
  });

  it("puts lines and characters together again that come byte by byte", async () => {
    const text = "naïve 日本語 👩‍👩‍👧";
    const bytes = Buffer.from(line({ role: "assistant", content: text }) + done);
    const bytewise: typeof fetch = () =>
      Promise.resolve(new Response(ReadableStream.from(bytes.toString("latin1")).pipeThrough(latin1Bytes())));
    const { deltas } = await ask(answering(""), { fetch: bytewise });
    expect(deltas[0]).toEqual({ type: "text-delta", text });
  });

  it("gives calls without a function, a name or arguments as what they are, for the runtime to refuse", async () => {
    const calls = [
      { function: { name: "a" } },
      { function: { arguments: { x: 1 } } },
      {},
      7,
      { id: 7, function: { name: "b", arguments: null } },
    ];
    const { deltas } = await ask(answering(line({ content: "", tool_calls: calls }) + done));
    expectWellFormed(deltas);
    expect(callsOf(deltas).map(({ name, parsed }) => [name, parsed.arguments])).toEqual([
      ["a", {}],
      ["", { x: 1 }],
      ["", {}],
      ["", {}],
      ["b", {}],
    ]);
    expect(callsOf(deltas).map(({ id }) => id)).toEqual(["call_0", "call_1", "call_2", "call_3", "call_4"]);
  });

  it("makes an id of its own for one that was used before in the reply", async () => {
    const call = (id: string): object => ({ id, function: { name: "a", arguments: {} } });
    const { deltas } = await ask(
      answering(line({ tool_calls: [call("call_1"), call("call_1"), call(" "), call("x")] }) + done),
    );
    expect(callsOf(deltas).map(({ id }) => id)).toEqual(["call_1", "call_2", "call_3", "x"]);
  });

  it("counts a call once that a server repeats with its id, as those do that tell all again in each line", async () => {
    const call = (id: string, x: number): object => ({ id, function: { name: "a", arguments: { x } } });
    const { deltas } = await ask(
      answering(
        line({ tool_calls: [call("c1", 1)] }) +
          line({ tool_calls: [call("c1", 1), call("c2", 1)] }) +
          line({ tool_calls: [call("c1", 2), call("", 1)] }) +
          line({ tool_calls: [call("", 1)] }, { done: true }),
      ),
    );
    expect(callsOf(deltas).map(({ parsed }) => parsed.arguments)).toEqual(
      [1, 1, 2, 1, 1].map((x) => ({ x })),
    );
  });

  it("never rounds an integer in arguments, in a stream or in one piece", async () => {
    const reply = line(
      { content: "", tool_calls: [{ function: { name: "a", arguments: { id: 7 } } }] },
      { done: true },
    );
    const exact = reply.replace(
      '"id":7',
      '"id":9007199254740993,"ok":123456789012345,"half":0.12345678901234568',
    );
    for (const stream of [true, false]) {
      const { deltas } = await ask(answering(exact), { stream });
      expect(callsOf(deltas)[0]?.parsed.arguments, String(stream)).toEqual({
        id: "9007199254740993",
        ok: 123_456_789_012_345,
        half: 0.123_456_789_012_345_68,
      });
    }
  });

  it("refuses arguments that would change prototypes", async () => {
    const reply = line(
      { tool_calls: [{ function: { name: "a", arguments: { x: 1 } } }] },
      { done: true },
    ).replace('"x":1', '"__proto__":{"x":1}');
    const { deltas } = await ask(answering(reply));
    expect(callsOf(deltas)[0]?.parsed.malformed).toMatch(/__proto__/);
  });

  it("cut at the limit wins over calls: the last of them may be half a call", async () => {
    const end = line({ content: "" }, { done: true, done_reason: "length" });
    const { deltas } = await ask(
      answering(line({ tool_calls: [{ function: { name: "a", arguments: {} } }] }) + end),
    );
    expect(finishOf(deltas)).toBe("length");
  });

  it("counts what is counted and nothing else", async () => {
    const usageOf = async (counts: object): Promise<unknown> => {
      const { deltas } = await ask(answering(line({ content: "a" }, { done: true, ...counts })));
      return endOf(deltas);
    };
    expect(await usageOf({ eval_count: 3 })).toEqual({
      type: "end",
      finishReason: "stop",
      usage: { outputTokens: 3 },
    });
    expect(await usageOf({ prompt_eval_count: "9", eval_count: null })).toEqual({
      type: "end",
      finishReason: "stop",
    });
  });
});

describe("answers that are no replies", () => {
  const cases: [what: string, chat: Handler, reason: RegExp, options?: OllamaOptions][] = [
    [
      "a line that is not JSON",
      answering(`${line({ content: "a" })}<html>\n${done}`),
      /not a JSON object: <html>/,
    ],
    [
      "a line that is JSON but no object",
      answering(`${line({ content: "a" })}null\n${done}`),
      /not a JSON object: null/,
    ],
    ["an answer that ends before the reply", answering(line({ content: "a" })), /ended before the reply did/],
    ["a line cut in the middle", answering(line({ content: "a" }) + done.slice(0, 20)), /not a JSON object/],
    ["no answer at all", answering(""), /ended before the reply did/],
    [
      "an error in one piece with status 200",
      answering('{"error":"busy (7)"}'),
      /busy \(7\)/,
      { stream: false },
    ],
    ["a page in one piece", answering("<html>"), /not a JSON object/, { stream: false }],
    [
      "a reply in one piece that says that it is not done",
      answering('{"message":{"content":"half"},"done":false}'),
      /ended before the reply did/,
      { stream: false },
    ],
    ["another kind of reply in one piece", answering('{"choices":[]}'), /no message/, { stream: false }],
    [
      "an error of its own form",
      answering('{"error":{"message":"busy (8)"}}'),
      /busy \(8\)/,
      { stream: false },
    ],
    [
      "a page with status 502",
      answering("<h1>Bad gateway</h1>", { status: 502, type: "text/html" }),
      /Bad gateway.*HTTP 502/,
    ],
    [
      "a page with status 404",
      answering("404 page not found", { status: 404, type: "text/plain" }),
      /address of something else/,
    ],
    [
      "an error of a proxy",
      answering('{"error":{"message":"quota (9)","code":1}}', { status: 429 }),
      /quota \(9\)/,
    ],
    ["an empty error", answering("", { status: 500 }), /Internal Server Error/],
  ];

  it.each(cases)("throws for %s, and prints nothing", async (...[, chat, reason, options]) => {
    const printed = [vi.spyOn(console, "log"), vi.spyOn(console, "warn"), vi.spyOn(console, "error")];
    const { deltas, error } = await ask(chat, options);
    expect(deltas.map((delta) => delta.type)).not.toContain("end");
    expect(error?.code).toMatch(/^(?:provider-failed|model-rate-limited)$/);
    expect(error?.message).toMatch(reason);
    for (const spy of printed) expect(spy).not.toHaveBeenCalled();
  });

  it("is not asked again when a page came: something else is at that address", async () => {
    const { error } = await ask(answering("<!doctype html><title>Log in</title>"));
    expect(error).toMatchObject({ code: "provider-failed", retryable: false });
    expect(error?.message).toMatch(/^Ollama at http:.*Log in/);
  });

  it("breaks off an answer that is too large, also one that is a single endless line, and an endless error [A5.4]", async () => {
    const endless =
      (start: string, status = 200): Handler =>
      async (_request, response) => {
        response.writeHead(status).write(start);
        for (let count = 0; count < 10_000 && !response.destroyed; count += 1) {
          if (!response.write("x".repeat(1_000))) await sleep(1);
        }
      };
    for (const options of [{ stream: true }, { stream: false }]) {
      const { error } = await ask(endless('{"message":{"content":"'), { ...options, maxReplyBytes: 20_000 });
      expect(error?.message).toContain("larger than 20000 bytes");
      expect(error?.retryable).toBe(false);
    }
    const { error } = await ask(endless("", 500), {});
    expect(error?.code).toBe("provider-failed");
  });
});

const recordings = new URL("../../../../shared/data/recorded/prism/tests/Fixtures/ollama/", import.meta.url);
const documents = new URL("../../../../shared/data/recorded/ollama-docs/", import.meta.url);
for (const folder of [recordings, documents]) {
  if (!existsSync(folder)) console.log(`skipped: there are no recorded replies at ${folder.pathname}`);
}

type Call = readonly [name: string, given: object];

/** What was recorded, as people read it in the files: lengths of text and reasoning, calls, finish reason, tokens. */
const recorded: Readonly<
  Record<
    string,
    readonly [
      text: number,
      reasoning: number,
      finish: string,
      usage?: readonly [number, number],
      calls?: readonly Call[],
    ]
  >
> = {
  "generate-text-with-a-prompt-1.json": [281, 0, "stop", [33, 57]],
  "generate-text-with-done-reason-length-1.json": [281, 0, "length", [33, 57]],
  "generate-text-with-done-reason-unknown-1.json": [281, 0, "other", [33, 57]],
  "generate-text-with-messages-1.json": [458, 0, "stop", [36, 104]],
  "generate-text-with-multiple-tools-1.json": [
    0,
    0,
    "tool-calls",
    [235, 111],
    [
      ["search", { query: "time of Detroit Tigers game today" }],
      ["weather", { city: "Detroit" }],
    ],
  ],
  "generate-text-with-multiple-tools-2.json": [292, 0, "stop", [313, 67]],
  "generate-text-with-system-prompt-1.json": [464, 0, "stop", [36, 93]],
  "stream-basic-text-1.sse": [138, 0, "stop", [37, 37]],
  "stream-multi-tool-conversation-1.sse": [0, 0, "tool-calls", [149, 15], [["weather", { city: "Detroit" }]]],
  "stream-with-thinking-1.sse": [70, 64, "stop"],
  "stream-with-thinking-enabled-1.sse": [89, 225, "stop", [69, 76]],
  "stream-with-tools-1.sse": [
    0,
    0,
    "tool-calls",
    [218, 306],
    [
      ["weather", { city: "Detroit" }],
      ["search", { query: "Detroit Tigers game time today" }],
    ],
  ],
  "stream-with-tools-2.sse": [0, 0, "tool-calls", [263, 152], [["weather", { city: "Detroit" }]]],
  "stream-with-tools-3.sse": [794, 0, "stop", [306, 188]],
  "stream-without-thinking-1.sse": [78, 198, "stop", [69, 71]],
  "structured-1.json": [150, 0, "stop", [360, 42]],
  "text-image-from-base64-1.json": [1083, 0, "stop", [590, 240]],
  "text-with-thinking-enabled-1.json": [42, 235, "stop", [69, 67]],
  "text-without-thinking-1.json": [114, 0, "stop", [31, 27]],
};

/** All texts of a field in a recording, joined, without reading the file as JSON. */
function joined(file: string, field: "content" | "thinking"): string {
  const texts = file.matchAll(new RegExp(`"${field}": ?("(?:[^"\\\\]|\\\\.)*")`, "g"));
  return [...texts].map(([, text = '""']) => JSON.parse(text) as string).join("");
}

const usageOf = (usage: readonly [number, number] | undefined): ReportedUsage | undefined =>
  usage === undefined ? undefined : { inputTokens: usage[0], outputTokens: usage[1] };

describe.skipIf(!existsSync(recordings))("recorded replies of real servers", () => {
  const files = existsSync(recordings) ? readdirSync(recordings).toSorted() : [];
  const foreign = files.filter((name) =>
    readFileSync(new URL(name, recordings), "utf8").includes('"choices"'),
  );
  if (foreign.length > 0)
    console.log(`not replayed here: they are of OpenAI's interface: ${foreign.join(", ")}`);

  it("are all known", () => {
    expect(files.filter((name) => !foreign.includes(name))).toEqual(Object.keys(recorded).toSorted());
  });

  it.each(Object.entries(recorded))(
    "%s",
    async (name, [textLength, reasoningLength, finish, usage, calls = []]) => {
      const file = readFileSync(new URL(name, recordings), "utf8");
      for (const stream of name.endsWith(".json") ? [true, false] : [true]) {
        const { deltas, error } = await ask(answering(file), { stream });
        expect(error).toBeUndefined();
        expectWellFormed(deltas);
        const text = textOf(deltas, "text-delta");
        const reasoning = textOf(deltas, "reasoning-delta");
        expect([text, reasoning]).toEqual([joined(file, "content"), joined(file, "thinking")]);
        expect([text.length, reasoning.length]).toEqual([textLength, reasoningLength]);
        expect(callsOf(deltas).map((call) => [call.name, call.parsed.arguments])).toEqual(calls);
        expect(endOf(deltas)).toEqual({
          type: "end",
          finishReason: finish,
          ...(usage === undefined ? {} : { usage: usageOf(usage) }),
        });
      }
    },
  );
});

/** The examples of /api/chat in the documentation: the title of each, and the JSON answers under it. */
function documentedReplies(): readonly { readonly title: string; readonly answers: readonly string[] }[] {
  const [, chapter = ""] =
    /^## Generate a chat completion$(.*?)^## /ms.exec(readFileSync(new URL("api.md", documents), "utf8")) ??
    [];
  return chapter.split(/^#### /m).flatMap((section) => {
    const [, title = "", answer = ""] = /^(.*?)$.*?^##### Response$(.*)/ms.exec(section) ?? [];
    const answers = [...answer.matchAll(/^```json\n(.*?)^```/gms)].map(([, json = ""]) => json);
    return answers.length === 0 ? [] : [{ title, answers }];
  });
}

describe.skipIf(!existsSync(documents))("examples of the documentation", () => {
  const examples = existsSync(documents) ? documentedReplies() : [];

  it("are found", () => {
    expect(examples.map(({ answers }) => answers.length)).toEqual([2, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1]);
  });

  it.each(examples)("$title", async ({ title, answers }) => {
    const replies = answers.map((answer) => JSON.parse(answer) as Record<string, unknown>);
    const lines = replies.map((reply) => `${JSON.stringify(reply)}\n`).join("");
    for (const stream of answers.length === 1 ? [true, false] : [true]) {
      const { deltas, error } = await ask(answering(stream ? lines : answers.join("")), { stream });
      expect(error).toBeUndefined();
      expectWellFormed(deltas);
      expect(textOf(deltas, "text-delta")).toBe(joined(answers.join(""), "content"));
      const [, name, given = ""] = /"name": "(\w+)",\s*"arguments": (\{[^}]*\})/.exec(answers.join("")) ?? [];
      const calls = callsOf(deltas).map((call) => [call.name, call.parsed.arguments]);
      expect(calls).toEqual(name === undefined ? [] : [[name, JSON.parse(given)]]);
      const isLoading = /^(Load|Unload) a model/.test(title);
      expect(finishOf(deltas)).toBe(name !== undefined ? "tool-calls" : isLoading ? "other" : "stop");
      const { prompt_eval_count: inputTokens, eval_count: outputTokens } = replies.at(-1) ?? {};
      expect(endOf(deltas)?.usage).toEqual(
        inputTokens === undefined ? undefined : { inputTokens, outputTokens },
      );
    }
  });

  it("an error in the middle of a stream", async () => {
    const page = readFileSync(new URL("api/errors.mdx", documents), "utf8");
    const [, stream = ""] = /^```json\n(\{"model".*?)^```/ms.exec(page) ?? [];
    const { error } = await ask(answering(stream));
    expect(error?.code).toBe("provider-failed");
    expect(error?.message).toContain("an error was encountered while running the model");
  });
});
