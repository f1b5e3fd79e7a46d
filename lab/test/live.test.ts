import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Driver, Reading } from "../../src/driver/driver.ts";
import { WritError } from "../../src/error/writ-error.ts";
import { openCases } from "../bfcl/cases.ts";
import type { BfclCategory } from "../bfcl/categories.ts";
import type { JudgedOutput } from "../bfcl/judge.ts";
import { type LiveOptions, type LiveReport, runLive } from "../live.ts";
import { type ReplyMessage, textOf } from "../../src/message/message.ts";
import { modelFromFunction } from "../../src/model/function-model.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import { type BfclFolders, makeBfclFolders } from "./bfcl-folders.ts";

let folders: BfclFolders;
beforeEach(() => {
  folders = makeBfclFolders();
});
afterEach(() => folders.remove());

function live(
  categories: readonly BfclCategory[],
  options: Omit<LiveOptions, "cases" | "settings">,
): Promise<LiveReport> {
  const folder = openCases(folders.cases, () => undefined);
  const cases = categories.flatMap((category) => [...folder.read(category).values()]);
  return runLive({ cases, settings: { temperature: 0 }, ...options });
}

/** The user's last words. */
function askedIn({ messages }: ModelRequest): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last?.role === "user" ? textOf(last) : "";
}

describe("a live run", () => {
  it("asks each case once in native calls, under names that providers take, and judges the calls", async () => {
    const requests: ModelRequest[] = [];
    const model = modelFromFunction((request) => {
      requests.push(request);
      const usage = { inputTokens: 10, outputTokens: 2 };
      if (askedIn(request).startsWith("Light"))
        return { calls: [{ name: "lamp_on", arguments: { room: "Kitchen" } }], usage };
      if (askedIn(request).startsWith("Play"))
        return { calls: [{ name: "play", arguments: { song: "Rain" } }], usage };
      return { text: "I do not know.", usage };
    });
    const report = await live(["multiple", "parallel", "irrelevance"], { model, driver: "native" });
    expect(report).toMatchObject({ outputs: 4, valid: 1, accuracy: 1 / 2, restraint: 1, mean: 3 / 4 });
    expect(report.byCategory["multiple"]).toEqual({ outputs: 1, right: 1, accuracy: 1 });
    expect(report.byCategory["parallel"]).toEqual({ outputs: 1, right: 0, accuracy: 0 });
    expect(report.usage).toMatchObject({ inputTokens: 40, outputTokens: 8 });
    expect(report.drivers).toEqual(["native"]);
    expect(requests).toHaveLength(4);
    expect(requests[0]).toMatchObject({
      settings: { temperature: 0 },
      tools: [{ name: "lamp_on" }, { name: "lamp_off" }],
    });
  });

  it("counts a reply that is none of the protocol as invalid, and as one without calls", async () => {
    const told: JudgedOutput[] = [];
    const model = modelFromFunction(() => "Hm, let me see", { features: { tools: false } });
    const report = await live(["simple_python", "irrelevance"], {
      model,
      driver: "json",
      onJudged: (each) => told.push(each),
    });
    expect(report).toMatchObject({ outputs: 4, valid: 0, accuracy: 0, restraint: 1 });
    expect(told[0]).toMatchObject({
      by: "json",
      said: "Hm, let me see",
      calls: [],
      wrong: "makes 0 calls, not 1",
    });
  });

  it("says which driver spoke where auto falls back", async () => {
    const model = modelFromFunction((request) => {
      if (request.tools.length > 0)
        throw new WritError("model-without-tools", { provider: "p", model: "m", known: "none" });
      return '{"action": {"tool": "get_weather", "args": {"city": "Lima", "days": 3}}}';
    });
    const report = await live(["simple_python"], { model, driver: "auto" });
    expect(report).toMatchObject({ drivers: ["json"], outputs: 2, valid: 1, accuracy: 1 / 2 });
  });

  it("asks on where a driver needs several replies for one turn", async () => {
    const halves: Driver = {
      name: "halves",
      passthrough: false,
      request: ({ transcript, settings }) => ({
        messages: transcript.messages,
        tools: [],
        toolChoice: "auto",
        settings: { ...settings, maxOutputTokens: transcript.length },
      }),
      read({ message }, { transcript }): Reading {
        if (transcript.length === 1) return { type: "pending", message };
        const call = { type: "tool-call", id: "", name: "play", arguments: { song: "Rain" } } as const;
        return { type: "calls", message: { role: "assistant", parts: [call, call] } satisfies ReplyMessage };
      },
      toolName: (name) => name,
    };
    const seen: number[] = [];
    const model = modelFromFunction(({ messages }) => {
      seen.push(messages.length);
      return { text: "play", usage: { inputTokens: 1, outputTokens: 1 } };
    });
    const told: JudgedOutput[] = [];
    const report = await live(["parallel"], { model, driver: halves, onJudged: (each) => told.push(each) });
    expect(seen).toEqual([1, 2]);
    expect(report).toMatchObject({ outputs: 1, valid: 1, usage: { inputTokens: 2, outputTokens: 2 } });
    expect(told[0]?.calls).toHaveLength(2);

    const endless: Driver = { ...halves, read: ({ message }) => ({ type: "pending", message }) };
    expect(await live(["parallel"], { model, driver: endless })).toMatchObject({ outputs: 1, valid: 0 });
  });

  it("skips cases whose tools nobody could offer, and says which", async () => {
    folders.file("bfcl/BFCL_v4_irrelevance.json", [
      { id: "irrelevance_0", question: [[{ role: "user", content: "?" }]], function: [{ name: "no name" }] },
    ]);
    const report = await live(["irrelevance"], { model: modelFromFunction(() => "no"), driver: "native" });
    expect(report).toMatchObject({ outputs: 0, valid: null, restraint: null });
    expect(report.skipped).toEqual([expect.stringContaining("irrelevance_0: ")]);
  });

  it("passes on what the model's adapter throws, and stops when it is told to", async () => {
    const failing = modelFromFunction(() => {
      throw new Error("the wire is cut");
    });
    await expect(live(["parallel"], { model: failing, driver: "native" })).rejects.toMatchObject({
      code: "provider-failed",
    });
    const controller = new AbortController();
    let asked = 0;
    const slow = modelFromFunction(() => {
      asked += 1;
      controller.abort(new Error("enough"));
      return "no";
    });
    await expect(
      live(["irrelevance"], { model: slow, driver: "native", signal: controller.signal }),
    ).rejects.toThrow("enough");
    expect(asked).toBe(1);
  });
});
