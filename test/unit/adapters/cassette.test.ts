import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { agent, type AgentEvent, type Budget, type Usage } from "../../../src/index.ts";
import type { Delta } from "../../../src/model/model.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { cassette, type CassetteOptions, fakeOpenai, fakeTool, scripted } from "../../../src/testing.ts";

let file = "";
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "writ-cassette-")), "greeter.jsonl");
  vi.stubEnv("CI", undefined);
  vi.stubEnv("WRIT_CASSETTE", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const look = fakeTool("look", { seen: "a cat" });
const looker = (model: ReturnType<typeof cassette>) => agent({ name: "looker", model, tools: [look] });
const script = () =>
  scripted([{ text: "I look.", calls: [{ name: "look" }] }, "A cat."], { whenDone: "throw" });
/** A model that may not be asked. */
const never = (): never => {
  throw new Error("the model was asked");
};
const played = (options?: CassetteOptions) => cassette(file, never, options);
const lines = (): string[] => readFileSync(file, "utf8").trim().split("\n");

describe("cassette()", () => {
  it("records what the model says, and says it again without it", async () => {
    expect(await looker(cassette(file, script()))("What is there?")).toBe("A cat.");
    const { text, outcome } = await looker(played({ mode: "replay" })).run("What is there?");
    expect(text).toBe("A cat.");
    expect(outcome).toMatchObject({ type: "answered" });
    expect(lines()).toHaveLength(3); // the model, and two requests
  });

  it("replays a run whose bounds of replies are others: its budget has more left, or the replies cost nothing", async () => {
    const priced = { ...script(), price: ({ outputTokens }: Usage) => outputTokens / 1000 };
    const bounded = (model: ReturnType<typeof cassette>, budget: Budget) => looker(model).with({ budget });
    expect(await bounded(cassette(file, priced), { costUsd: 1 })("What is there?")).toBe("A cat.");
    expect(lines().join()).toContain('"maxOutputTokens"');
    expect(await bounded(played({ mode: "replay" }), { costUsd: 1 })("What is there?")).toBe("A cat.");
    expect(await bounded(played({ mode: "auto" }), { tokens: 5000 })("What is there?")).toBe("A cat.");
  });

  it("gives the pieces of a reply as they came", async () => {
    const pieces = ["A", " c", "at."].map((text) => ({ type: "text-delta" as const, text }));
    const model = scripted([
      [...pieces, { type: "end", finishReason: "stop", usage: { inputTokens: 7, outputTokens: 3 } }],
    ]);
    await agent({ name: "a", model: cassette(file, model) }).run("?");
    const told: string[] = [];
    const onEvent = (event: AgentEvent): void => void (event.type === "text-delta" && told.push(event.text));
    const { usage } = await agent({ name: "a", model: played() }).run("?", { onEvent });
    expect(told).toEqual(["A", " c", "at."]);
    expect(usage).toMatchObject({ inputTokens: 7, outputTokens: 3 });
  });

  it("plays a file that an editor of Windows saved", async () => {
    await looker(cassette(file, script()))("What is there?");
    writeFileSync(file, `\ufeff${readFileSync(file, "utf8").replaceAll("\n", "\r\n")}`);
    expect(await looker(played({ mode: "replay" }))("What is there?")).toBe("A cat.");
  });

  it("keeps what a provider is sent, and nothing that the runtime keeps for itself", async () => {
    await looker(cassette(file, script())).run("?");
    const [, , second = ""] = lines();
    expect(second).toContain('"role":"tool"');
    expect(second).not.toMatch(/"(label|value|note|by)":/);
  });

  it("asks only for what is not on it, with auto, and goes on with the file", async () => {
    await agent({ name: "a", model: cassette(file, scripted(["one"])) }).run("first");
    const model = scripted(["two"], { whenDone: "throw" });
    const both = agent({ name: "a", model: cassette(file, model) });
    expect(await both("first")).toBe("one");
    expect(await both("second")).toBe("two");
    expect(model.requests).toHaveLength(1);
    const later = agent({ name: "a", model: played({ mode: "replay" }) });
    expect([await later("first"), await later("second")]).toEqual(["one", "two"]);
  });

  it("keeps replies of one model alone: another one is not asked for what is not there", async () => {
    const named = (id: string) => ({ ...scripted(["hello"]), id });
    await agent({ name: "a", model: cassette(file, named("one/small")) }).run("first");
    const other = named("two/large");
    const mixed = agent({ name: "a", model: cassette(file, other) });
    expect(await mixed("first")).toBe("hello"); // a replay
    await expect(mixed("second")).rejects.toMatchObject({
      code: "cassette-invalid",
      message: expect.stringContaining(
        'it was recorded with "one/small", and "two/large" would be asked',
      ) as string,
    });
    expect([other.requests, lines()]).toMatchObject([{ length: 0 }, { length: 2 }]);
  });

  it("goes on with a file whose last line has no end", async () => {
    await agent({ name: "a", model: cassette(file, () => "one") }).run("first");
    writeFileSync(file, readFileSync(file, "utf8").trimEnd());
    expect(await agent({ name: "a", model: cassette(file, () => "two") })("second")).toBe("two");
    const later = agent({ name: "a", model: played({ mode: "replay" }) });
    expect([await later("first"), await later("second")]).toEqual(["one", "two"]);
  });

  it("gives each of several same requests its own reply, and the last one from then on", async () => {
    let asked = 0;
    const counting = agent({
      name: "a",
      model: cassette(file, () => String((asked += 1)), { mode: "record" }),
    });
    await counting("go");
    await counting("go");
    const later = agent({ name: "a", model: played() });
    expect([await later("go"), await later("go"), await later("go")]).toEqual(["1", "2", "2"]);
  });

  it("keeps replies to same requests in the order in which they were asked for, also when a later one comes first", async () => {
    const answers: ((text: string) => void)[] = [];
    const model = scripted([() => new Promise<string>((resolve) => void answers.push(resolve))]);
    const recorder = agent({ name: "a", model: cassette(file, model) });
    const stopped = new AbortController();
    const runs = [recorder("?", { signal: stopped.signal }), recorder("?"), recorder("?")];
    runs[0]?.catch(() => undefined);
    await vi.waitFor(() => expect(answers).toHaveLength(3));
    answers[2]?.("the third");
    await runs[2];
    answers[1]?.("the second");
    stopped.abort();
    answers[0]?.("not kept");
    expect(await Promise.allSettled(runs)).toMatchObject([
      { status: "rejected" },
      { value: "the second" },
      { value: "the third" },
    ]);
    const replay = agent({ name: "a", model: played({ mode: "replay" }) });
    expect(await Promise.all([replay("?"), replay("?")])).toEqual(["the second", "the third"]);
  });

  it("can be begun by two at once", async () => {
    const one = agent({ name: "a", model: cassette(file, () => "one") });
    const other = agent({ name: "a", model: cassette(file, () => "two") });
    expect([await one("first"), await other("second")]).toEqual(["one", "two"]);
    const later = agent({ name: "a", model: played({ mode: "replay" }) });
    expect([await later("first"), await later("second")]).toEqual(["one", "two"]);
  });

  it("begins anew with record", async () => {
    await agent({ name: "a", model: cassette(file, () => "old") }).run("go");
    await agent({ name: "a", model: cassette(file, () => "new", { mode: "record" }) }).run("go");
    expect(await agent({ name: "a", model: played() })("go")).toBe("new");
    expect(lines()).toHaveLength(2);
  });

  it("names the nearest request and the first difference when there is none", async () => {
    await agent({ name: "a", instructions: "Be brief.", model: cassette(file, () => "hello") }).run(
      "Hi, it is Monday",
    );
    const other = agent({ name: "a", instructions: "Be brief.", model: played({ mode: "replay" }) });
    await expect(other("Hi, it is Tuesday")).rejects.toMatchObject({
      code: "cassette-miss",
      message: expect.stringContaining(
        'that of line 2: there `messages[1].parts[0].text` is "Hi, it is Monday", and here it is "Hi, it is Tuesday".',
      ) as string,
    });
  });

  it("names the line of the nearest request also where two began the file at once", async () => {
    for (const text of ["one", "two"])
      await agent({ name: "a", model: cassette(file, scripted([text])) }).run(text);
    const [heading = "", one = "", two = ""] = lines();
    writeFileSync(file, `${[heading, one, heading, "", two].join("\n")}\n`);
    const asked = agent({ name: "a", model: played({ mode: "replay" }) });
    await expect(asked.run("two?")).rejects.toThrow("that of line 5: there");
  });

  it("keeps no request that could not be read back: one such line would spoil the file", async () => {
    let deep: JsonObject = { type: "string" };
    for (let depth = 0; depth < 30; depth += 1) deep = { type: "object", properties: { a: deep } };
    const tools = [fakeTool("look", "a cat", { inputSchema: deep })];
    await agent({ name: "a", model: cassette(file, scripted(["one"])) }).run("one");
    const asked = agent({ name: "a", model: cassette(file, scripted(["two"])), tools });
    await expect(asked.run("two")).rejects.toMatchObject({ code: "cassette-invalid" });
    expect(await agent({ name: "a", model: played({ mode: "replay" }) })("one")).toBe("one");
  });

  it("keeps no failed request, and none that was cut", async () => {
    const model = scripted([new Error("down"), [{ type: "text-delta", text: "half" }], "whole"]);
    const patient = agent({ name: "a", model: cassette(file, model) });
    for (let run = 0; run < 2; run += 1) await patient.run("go").catch(() => undefined);
    expect(await patient("go")).toBe("whole");
    expect(lines()).toHaveLength(2);
  });

  it("writes no secret: of variables, and what the author names", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-very-secret");
    const echo = cassette(file, ({ messages }) => `You sent sk-very-secret, Kim and ${messages.length}`, {
      redact: ["Kim", /\d{4}-\d{4}/],
    });
    await agent({ name: "a", model: echo }).run("My key is sk-very-secret, my card 1234-5678");
    const text = readFileSync(file, "utf8");
    expect(text).not.toMatch(/very-secret|Kim|1234/);
    expect(text).toContain("[secret OPENAI_API_KEY]");
    vi.stubEnv("OPENAI_API_KEY", "sk-another-one"); // of somebody else, who replays
    const replay = agent({ name: "a", model: played({ mode: "replay", redact: ["Kim", /\d{4}-\d{4}/] }) });
    expect(await replay("My key is sk-another-one, my card 8765-4321")).toContain("[redacted]");
  });

  it("writes no secret that comes in pieces, and the call that has it runs in a replay", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-very-secret");
    const call: readonly Delta[] = [
      { type: "call-start", id: "c", name: "look" },
      { type: "call-delta", id: "c", text: '{"at":"sk-ve' },
      { type: "call-delta", id: "c", text: 'ry-secret"}' },
      { type: "call-end", id: "c", arguments: '{"at":"sk-very-secret"}' },
      { type: "end", finishReason: "tool-calls" },
    ];
    const answer: readonly Delta[] = [
      ...["It is K", "im, not sk-v", "ery-secret."].map((text) => ({ type: "text-delta", text }) as const),
      { type: "end", finishReason: "stop" },
    ];
    const redact = ["Kim"];
    await looker(cassette(file, scripted([call, answer]), { redact }))("Look");
    expect(readFileSync(file, "utf8")).not.toMatch(/ry-secret|im,/);
    vi.stubEnv("OPENAI_API_KEY", undefined);
    const { text } = await looker(played({ mode: "replay", redact })).run("Look");
    expect(text).toBe("It is [redacted], not [secret OPENAI_API_KEY].");
    expect(look.calls.at(-1)).toEqual({ at: "[secret OPENAI_API_KEY]" });
  });

  it.each(["in pieces", "whole", "as a value"])(
    "writes no secret that is a number or escaped in the arguments of a call, which come %s and stay JSON",
    async (form) => {
      const args = { card: 1234567812345678, pin: 'ab"cd\\ef', n: 7 };
      const text = JSON.stringify(args);
      const pieces = [text.slice(0, 15), text.slice(15)].map(
        (each) => ({ type: "call-delta", id: "c", text: each }) as const,
      );
      const end = { type: "call-end", id: "c" } as const;
      const call: readonly Delta[] = [
        { type: "call-start", id: "c", name: "look" },
        ...(form === "in pieces" ? pieces : []),
        form === "in pieces" ? end : { ...end, arguments: form === "whole" ? text : args },
        { type: "end", finishReason: "tool-calls", usage: { inputTokens: 1234567812345678 } },
      ];
      const redact = [/\d{16}/, args.pin];
      await looker(cassette(file, scripted([call, "Seen."]), { redact }))("Look");
      const calls = lines().map((line) => line.replace('"inputTokens":1234567812345678', ""));
      expect(calls.join("\n")).not.toMatch(/12345678|cd/);
      expect(await looker(played({ mode: "replay", redact }))("Look")).toBe("Seen.");
      expect(look.calls.at(-1)).toEqual({ card: 0, pin: "[redacted]", n: 7 });
    },
  );

  it("writes no secret that is the name of a field, in arguments and in schemas", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-very-secret");
    const named = fakeTool("named", "ok", {
      inputSchema: { type: "object", properties: { "sk-very-secret": { enum: ["sk-very-secret"] } } },
    });
    const args = { "sk-very-secret": "sk-very-secret" };
    const calls = [args, JSON.stringify({ x: args })].map((each) => ({ name: "named", arguments: each }));
    const model = cassette(file, scripted([{ calls }, "Seen."]));
    await agent({ name: "a", model, tools: [named] }).run("Look");
    expect(readFileSync(file, "utf8")).not.toContain("very-secret");
    const replay = agent({ name: "a", model: played({ mode: "replay" }), tools: [named] });
    expect(await replay("Look")).toBe("Seen.");
  });

  it("writes no secret of a variable that was set after the cassette was made", async () => {
    const model = cassette(file, () => "hello");
    vi.stubEnv("OPENAI_API_KEY", "sk-very-secret");
    await agent({ name: "a", model }).run("My key is sk-very-secret");
    expect(readFileSync(file, "utf8")).not.toContain("very-secret");
  });

  it.each([[{ redacted: ["Kim"] }], [{ redact: "Kim" }], [{ redact: [""] }]])(
    "refuses %j, with which a name would stay in the file, or no text whole",
    (options) => {
      expect(() => cassette(file, never, options as never)).toThrow(
        expect.objectContaining({ code: "definition-invalid" }),
      );
    },
  );

  it("needs neither the package nor the key of the model to replay, and keeps its features", async () => {
    await using server = await fakeOpenai(["Hello."]);
    vi.stubEnv("OPENAI_BASE_URL", `${server.url}/v1`);
    vi.stubEnv("OPENAI_API_KEY", "sk-0123456789");
    const recorded = cassette(file, "openai/gpt-5-mini");
    expect(await agent({ name: "a", model: recorded })("Hi")).toBe("Hello.");
    vi.stubEnv("OPENAI_API_KEY", undefined);
    const again = cassette(file, "openai/gpt-5-mini", { mode: "replay" });
    expect(await agent({ name: "a", model: again })("Hi")).toBe("Hello.");
    expect([again.id, again.features]).toEqual([recorded.id, recorded.features]);
  });

  it("replays in CI, and follows the variable and before it the option", async () => {
    vi.stubEnv("CI", "true");
    expect(() => played()).toThrow(/is not there/);
    vi.stubEnv("WRIT_CASSETTE", "auto");
    expect(await agent({ name: "a", model: cassette(file, () => "live") })("go")).toBe("live");
    vi.stubEnv("WRIT_CASSETTE", "record");
    expect(await agent({ name: "a", model: played({ mode: "replay" }) })("go")).toBe("live");
    vi.stubEnv("WRIT_CASSETTE", "rewind");
    expect(() => played()).toThrow(expect.objectContaining({ code: "option-invalid" }));
  });

  it.each([
    ["no JSON", "hello\n", "line 1"],
    ["another version", '{"cassette":2,"model":"m","features":{}}\n', "`cassette` must be"],
    [
      "a line of something else",
      '{"cassette":1,"model":"m","features":{}}\n{"request":[]}\n',
      "line 2: `request` must be an object",
    ],
  ])("refuses a file that is %s", (_kind, text, said) => {
    writeFileSync(file, text);
    expect(() => played()).toThrow(
      expect.objectContaining({ code: "cassette-invalid", message: expect.stringContaining(said) as string }),
    );
  });

  it("says so when the file cannot be written", async () => {
    const nowhere = cassette(join(file, "no", "folder.jsonl"), () => "hello");
    await expect(agent({ name: "a", model: nowhere })("go")).rejects.toThrow(/cannot use|Cannot use/);
  });
});
