import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import {
  agent,
  type AgentEvent,
  inMemorySessions,
  memoryJournal,
  secret,
  session,
  tool,
} from "../../src/index.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import { image, labelled, withFiles } from "../../src/tools.ts";

const log = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join("\n");
const png = "iVBORw0KGgo=";
const readLog = tool({
  name: "read_log",
  description: "Reads the log",
  inputSchema: z.object({}),
  effect: "read",
  execute: () => log,
});
const call = { calls: [{ id: "log1", name: "read_log" }] };
const next = (from: number, id = "log1") => ({
  calls: [{ name: "read_result", arguments: { call: id, from } }],
});

interface Read {
  readonly text: string;
  readonly value?: unknown;
  readonly status: string;
  readonly label?: unknown;
}
const resultsOf = (messages: readonly object[]): readonly Read[] =>
  messages.filter((message): message is Read => "callId" in message);

/** A model that reads on as it is told, until nothing is left. */
function reader(): ReturnType<typeof scripted> {
  const step: ScriptStep = ({ messages }) => {
    const last = messages.at(-1);
    const found = last?.role === "tool" ? /"from\\*":(\d+)/.exec(last.text) : null;
    return found === null ? "Done." : next(Number(found[1]));
  };
  return scripted([call, step]);
}

describe("a result that is too long to be shown", () => {
  it("is shown in part by default, and read on to its end, with the label that it had", async () => {
    const model = reader();
    const ended = await agent({ name: "a", model, tools: [readLog] }).run("Read");
    expect(ended.outcome.type).toBe("answered");
    const [first, ...rest] = resultsOf(ended.transcript.messages);
    expect(first?.value).toBe(log);
    const shown = `\n[cut off: the first 65536 bytes of a longer result]\n[${log.length - 65_536} characters are left. Read on with read_result {"call":"log1","from":65536}.]`;
    expect(first?.text).toBe(log.slice(0, 65_536) + shown);
    const bare = ({ text }: Read): string => text.replace(/\n\[\d+ characters are left\..*\]$/, "");
    expect(log.slice(0, 65_536) + rest.map(bare).join("")).toBe(log);
    for (const { label } of rest)
      expect(label).toMatchObject({ integrity: "untrusted", sources: ["tool/read_log"] });
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ["read_log"],
      ...rest.map(() => ["read_log", "read_result"]),
      ["read_log", "read_result"],
    ]);
  });

  it("plays again from its journal, and goes on from a checkpoint", async () => {
    const journal = memoryJournal();
    const reading = agent({ name: "a", model: reader(), tools: [readLog] });
    const first = await reading.run("Read", { journal });
    const nobody = reading.with({ model: scripted([new Error("asked again")]) });
    const again = await nobody.run("Read", {
      journal: memoryJournal(journal.records),
      runId: first.runId,
    });
    expect(again.transcript.toJSON()).toEqual(first.transcript.toJSON());
    const [begun] = [reading.with({ model: scripted([call]) }).turns("Read")];
    const { value } = await begun.next();
    await begun.return(undefined as never);
    const kept = JSON.parse(JSON.stringify(value)) as never;
    const goneOn = await reading.with({ model: scripted([next(65_536), "Done."]) }).resume(kept);
    expect(goneOn.calls.map(({ name, status }) => [name, status])).toEqual([
      ["read_log", "ok"],
      ["read_result", "ok"],
    ]);
  });

  it("can be read on in whatever else is forbidden, and only results can", async () => {
    const open = (request: { readonly tool: string }) => ({
      verdict: request.tool === "read_log" ? ("allow" as const) : ("deny" as const),
      rule: "only",
      reason: "only the log",
    });
    const { calls } = await agent({
      name: "a",
      model: scripted([call, next(100_000), next(0, "nope"), next(9_999_999), "Done."]),
      tools: [readLog],
      policy: open,
    }).run("Read");
    expect(calls.map(({ status }) => status)).toEqual(["ok", "ok", "error", "ok"]);
    expect(calls[2]?.reason).toBe(
      "Tool 'read_result' failed: there is no result of a call \"nope\" to read on in; there is: log1",
    );
  });

  it("stays private and cuts no character in two", async () => {
    const secret = "🙂é".repeat(100);
    const diary = tool({
      name: "diary",
      description: "",
      inputSchema: z.object({}),
      effect: "read",
      execute: () => labelled(secret, { secrecy: "private", integrity: "trusted", sources: ["diary"] }),
    });
    const { transcript } = await agent({
      name: "a",
      model: scripted([{ calls: [{ id: "d", name: "diary" }] }, next(4, "d"), next(16, "d"), "Done."]),
      tools: [diary],
      budget: { resultBytes: 25 },
    }).run("Read");
    const [first, odd, last] = resultsOf(transcript.messages);
    expect(first?.text.split("\n")[0]).toBe("🙂é🙂é🙂é🙂é".slice(0, 12));
    expect(first?.label).toMatchObject({ secrecy: "private", sources: ["tool/diary", "diary"] });
    expect(odd?.text.split("\n")[0]).toBe("🙂é🙂é🙂é🙂é".slice(0, 12));
    expect(last?.label).toEqual(first?.label);
  });

  it("is not offered to be read where there is nothing more, an author's tool has the name, or all is shown", async () => {
    const own = fakeTool("read_result", "mine");
    const named = await agent({
      name: "a",
      model: scripted([call, next(0), "Done."]),
      tools: [readLog, own],
    }).run("Read");
    expect(resultsOf(named.transcript.messages)[0]?.text.endsWith("of a longer result]")).toBe(true);
    expect(own.calls).toHaveLength(1);
    const model = scripted([call, "Done."]);
    await agent({ name: "a", model, tools: [readLog], budget: { resultBytes: Infinity } }).run("Read");
    expect(JSON.stringify(model.requests[1])).toContain("line 19999");
    expect(model.requests[1]?.tools).toHaveLength(1);
  });

  it("can still be read on in when a compaction took it out, and a skill left the run fewer tools", async () => {
    const page = { ...fakeTool("page", "word ".repeat(200)), effect: "none" as const };
    const narrow = {
      ...fakeTool("narrow", 1),
      effect: "none" as const,
      mode: () => ({ restrictTo: ["page"] }),
    };
    const many = Array.from({ length: 5 }, () => ({ calls: [{ name: "page" }] }));
    const { calls } = await agent({
      name: "a",
      model: scripted([call, { calls: [{ name: "narrow" }] }, ...many, next(65_536), "Done."]),
      tools: [readLog, page, narrow],
      compaction: { atTokens: 2000, keepTurns: 1 },
      budget: { turns: 20, repeats: Infinity },
    }).run("Read");
    expect(calls.at(-1)).toMatchObject({ name: "read_result", status: "ok" });
  });

  it("can be read on in by the next run of a session, whatever its calls are called there", async () => {
    const store = inMemorySessions();
    const talk = (script: readonly ScriptStep[]) => {
      const model = scripted(script);
      return { model, agent: agent({ name: "a", model, tools: [readLog] }) };
    };
    const at = (history: "all" | "answers" = "answers") => ({ session: session(store, "s", { history }) });
    await talk([call, next(65_536), "One."]).agent.run("Read", at());
    await talk([call, next(65_536), "Two."]).agent.run("Read again", at());
    const third = talk([next(65_536, "run_2_call_0"), "Three."]);
    const { calls, transcript } = await third.agent.run("And the rest?", at("all"));
    expect(calls).toMatchObject([{ name: "read_result", status: "ok" }]);
    expect(third.model.requests[0]?.tools.map(({ name }) => name)).toEqual(["read_log", "read_result"]);
    const told = resultsOf(transcript.messages).flatMap(
      ({ text }) => /read_result \{"call":"(.*?)"/.exec(text)?.[1] ?? [],
    );
    expect(told).toEqual(["log1", "log1", "run_2_call_0", "run_2_call_0", "run_2_call_0"]);
  });

  it("is not offered to be read to the next run of a session that is told answers alone", async () => {
    const store = inMemorySessions();
    const model = scripted([call, "One.", "Two."]);
    const reading = agent({ name: "a", model, tools: [readLog] });
    for (const question of ["1?", "2?"]) await reading.run(question, { session: session(store, "s") });
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 2, 1]);
  });

  it("can be read on in from the first turn where its author says how long results are, but not with nothing to call", async () => {
    const model = scripted(["Done.", "Done.", "Done."]);
    const short = agent({ name: "a", model, tools: [readLog], budget: { resultBytes: 500 } });
    await short.run("1");
    await short.run("2", { tools: [] });
    await agent({ name: "b", model, budget: { resultBytes: 500 } }).run("3");
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ["read_log", "read_result"],
      [],
      [],
    ]);
  });
});

describe("the value of a result that is too long to be shown", () => {
  const rows = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `name ${id}` }));
  const length = JSON.stringify(rows).length;
  const readRows = fakeTool("read_rows", rows);
  const asked = { calls: [{ id: "rows1", name: "read_rows" }] };
  const from = { calls: [{ name: "read_result", arguments: { call: "rows1", from: 65_536 } }] };

  /** Counts how often the whole value is written as JSON meanwhile. */
  async function writings(work: () => Promise<unknown>): Promise<number> {
    const written = vi.spyOn(JSON, "stringify");
    try {
      await work();
      const texts = written.mock.results.map(({ value }) => value as unknown);
      return texts.filter((text) => typeof text === "string" && text.length >= length).length;
    } finally {
      written.mockRestore();
    }
  }

  it("is written as JSON once, however many turns follow", async () => {
    const again = Array.from({ length: 3 }, () => ({ calls: [{ name: "other" }] }));
    const model = scripted([asked, ...again, "Done."]);
    const reading = agent({ name: "a", model, tools: [readRows, fakeTool("other", "short")] });
    const run = (): Promise<unknown> => reading.run("Read", { onEvent: () => undefined });
    expect(await writings(run)).toBe(1);
  });

  it("is written once more by each store that keeps it, and by a journal for its fingerprint", async () => {
    const reading = (): ReturnType<typeof agent> =>
      agent({ name: "a", model: scripted([asked, "Done."]), tools: [readRows] });
    const talk = session(inMemorySessions(), "s");
    expect(await writings(() => reading().run("Read", { session: talk }))).toBe(1 + 1);
    expect(await writings(() => reading().run("Read", { journal: memoryJournal() }))).toBe(1 + 2);
  });

  it("is written once where a secret is held that is not in it", async () => {
    process.env["WRIT_LONG_KEY"] = "key-of-a-service";
    const keyed = tool({
      name: "read_rows",
      description: "Reads rows",
      inputSchema: {},
      needs: [secret("WRIT_LONG_KEY")],
      effect: "read",
      execute: (_, { secret: take }) => (take("WRIT_LONG_KEY"), rows),
    });
    const grants = [secret("WRIT_LONG_KEY")];
    const reading = agent({ name: "a", model: scripted([asked, "Done."]), tools: [keyed], grants });
    expect(await writings(() => reading.run("Read"))).toBe(1);
    delete process.env["WRIT_LONG_KEY"];
  });

  it("is told whole where the run ends, and read on in by the model", async () => {
    const model = scripted([asked, from, "Done."]);
    const events: unknown[] = [];
    const onEvent = (event: AgentEvent): void =>
      void (event.type === "tool-end" && events.push(event.result));
    const { transcript } = await agent({ name: "a", model, tools: [readRows] }).run("Read", { onEvent });
    const [first, second] = resultsOf(transcript.messages);
    expect(first?.value).toEqual(rows);
    expect(events[0]).toMatchObject({ value: rows, text: first?.text });
    expect(first?.text.slice(0, 65_536) + (second?.text ?? "").slice(0, 65_536)).toBe(
      JSON.stringify(rows).slice(0, 2 * 65_536),
    );
    const told = resultsOf(model.requests[1]?.messages ?? [])[0]?.text ?? "";
    expect(JSON.parse(told)).toEqual({ tool: "read_rows", trusted: false, value: first?.text });
  });

  it("is not read on in where a hook gave another than the text tells", async () => {
    const afterToolCall = ({ result }: { readonly result: Read }) => ({
      result: { ...result, value: rows.slice(1) },
    });
    const model = scripted([asked, "Done."]);
    const masking = agent({
      name: "a",
      model,
      tools: [readRows],
      hooks: [{ name: "h", afterToolCall } as never],
    });
    const { transcript } = await masking.run("Read");
    expect(resultsOf(transcript.messages)).toMatchObject([
      { value: rows.slice(1), text: expect.not.stringContaining("read_result") as string },
    ]);
  });

  it.each<[string, () => unknown, string]>([
    ["beside a value", () => withFiles({ log }, [image(png)]), JSON.stringify({ log })],
    ["in a list of texts and files", () => [log, image(png)], `${log}\n[image: image/png, 8 bytes]`],
  ])("is read on in to its end with files %s", async (_where, execute, whole) => {
    const read = tool({
      name: "read_log",
      description: "",
      inputSchema: z.object({}),
      effect: "read",
      execute,
    });
    const { transcript } = await agent({ name: "a", model: reader(), tools: [read] }).run("Read");
    const results = resultsOf(transcript.messages);
    expect(results[0]).toMatchObject({ files: [{ mediaType: "image/png" }] });
    expect(results.map(({ text }) => text.split(/\n\[(?:cut off|\d+ characters)/)[0]).join("")).toBe(whole);
  });

  it("is read on in as a hook masked it", async () => {
    const afterToolCall = ({ result }: { readonly result: Read }) => ({
      result: { ...result, text: result.text.replaceAll("line", "****") },
    });
    const masking = agent({
      name: "a",
      model: reader(),
      tools: [readLog],
      hooks: [{ name: "h", afterToolCall } as never],
    });
    const texts = resultsOf((await masking.run("Read")).transcript.messages).map(({ text }) => text);
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.at(-1)).toMatch(/\*{4} 19999$/);
    expect(texts.join("")).not.toContain("line");
  });
});
