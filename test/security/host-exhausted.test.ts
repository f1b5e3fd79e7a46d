import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { askHandle, type GivenHandles } from "../../src/adapters/isolate/broker.ts";
import { answerRoom } from "../../src/adapters/isolate/answer-room.ts";
import { isolatedTool } from "../../src/adapters/isolate/isolate.ts";
import { type Agent, agent, fs, llm, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import type { Json } from "../../src/util/json.ts";
import { hasBoxes } from "../contract/isolate-context.ts";

const works = await hasBoxes();
const folder = mkdtempSync(join(tmpdir(), "writ-host-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inputSchema = { type: "object" } as const;
const noBytes = new Uint8Array();

/** How many bytes handles were asked for at once, and how many in one piece. */
async function mostAsked(
  asks: number,
  request: { readonly handle: string; readonly args: readonly Json[] },
): Promise<{ readonly atOnce: number; readonly each: number }> {
  let held = 0;
  let atOnce = 0;
  let each = 0;
  async function hold(bytes: number): Promise<void> {
    each = Math.max(each, bytes);
    held += bytes;
    atOnce = Math.max(atOnce, held);
    await new Promise((resolve) => setTimeout(resolve, 1));
    held -= bytes;
  }
  const body = (size: number): ReadableStream => {
    let left = 1;
    return new ReadableStream(
      {
        async pull(controller) {
          if (left === 0) return controller.close();
          left -= 1;
          await hold(size);
          controller.enqueue(new Uint8Array(1));
        },
      },
      { highWaterMark: 0 },
    );
  };
  const handles = {
    fs: {
      async readBytes(_path: string, part?: { readonly bytes: number }) {
        await hold(part?.bytes ?? Infinity);
        return noBytes;
      },
    },
    fetch: async (_url: string, { maxBytes = 10_000_000 }: { readonly maxBytes?: number } = {}) =>
      new Response(body(maxBytes)),
    async exec(_program: string, _args: unknown, { maxBytes = 1_000_000 }: { readonly maxBytes?: number }) {
      await hold(2 * maxBytes);
      return { exitCode: 0, signal: null, stdout: "", stderr: "" };
    },
  } as unknown as GivenHandles;
  const room = answerRoom();
  const asked = { ...request, bytes: noBytes, signal: new AbortController().signal, room };
  await Promise.all(Array.from({ length: asks }, () => askHandle(handles, asked)));
  return { atOnce, each };
}

describe("what code in a box asks for", () => {
  it.each([
    ["files as text", "fs.readText", ["/f"]],
    ["files as bytes", "fs.readBytes", ["/f"]],
    ["a part of a file without end", "fs.readBytes", ["/f", { from: 0, bytes: 1e15 }]],
    ["answers of servers", "fetch", ["https://a.example", { maxBytes: 1e12 }]],
    ["outputs of programs", "exec", ["yes", [], { maxBytes: 1e12 }]],
  ] as const)("is bounded before it is read, and in sum: %s", async (_what, handle, args) => {
    const { atOnce, each } = await mostAsked(64, { handle, args: [...args] as Json[] });
    expect(each).toBeGreaterThan(1_000_000);
    expect(each).toBeLessThanOrEqual(64_000_000);
    expect(atOnce).toBeLessThanOrEqual(130_000_000);
  });

  it("is refused by the handle where a part of a file has no numbers, and waits for nothing", async () => {
    const parts: unknown[] = [];
    const readBytes = async (_path: string, part: unknown): Promise<Uint8Array> => {
      parts.push(part);
      return noBytes;
    };
    const handles = { fs: { readBytes } } as unknown as GivenHandles;
    const asked = { bytes: noBytes, signal: new AbortController().signal, room: answerRoom() };
    const wrong: readonly Json[] = [{ from: 0 }, { from: 10, bytes: null }, { from: "1", bytes: 5 }];
    for (const part of wrong)
      await askHandle(handles, { handle: "fs.readBytes", args: ["/f", part], ...asked });
    expect(parts).toEqual([
      { from: 0, bytes: NaN },
      { from: 10, bytes: NaN },
      { from: NaN, bytes: 5 },
    ]);
  });

  it("comes beside each other where it is small", async () => {
    const { atOnce } = await mostAsked(10, { handle: "exec", args: ["ls", []] });
    expect(atOnce).toBe(20_000_000);
  });

  it.skipIf(!works)("takes little memory of the program, however large the files", async () => {
    const large = join(folder, "large");
    writeFileSync(large, "");
    truncateSync(large, 95_000_000);
    const module = join(folder, "reads.mjs");
    writeFileSync(
      module,
      `export const execute = async (_args, { fs }) =>
        (await Promise.allSettled(Array.from({ length: 20 }, (_, n) => fs[n % 2 ? "readText" : "readBytes"]("${large}")))).map(({ reason }) => reason?.message);`,
    );
    const needs = [fs.read(folder)];
    const reads = await isolatedTool({
      name: "reads",
      description: "d",
      inputSchema,
      module,
      needs,
      files: [module],
      timeoutMs: 110_000, // a busy machine
    });
    const model = scripted([{ calls: [{ name: "reads", arguments: {} }] }, "ok"]);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const looking = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 1);
    const run = await agent({ name: "a", model, tools: [reads], grants: needs }).run("x");
    clearInterval(looking);
    const result = run.transcript.messages.find(({ role }) => role === "tool");
    expect(JSON.stringify(result)).toContain("gave more than 32000000 bytes");
    expect(most - before).toBeLessThan(500_000_000);
  });
});

describe("questions of tools to the run's model", () => {
  function asking(
    times: number,
    how: (ask: () => Promise<unknown>) => Promise<unknown>,
  ): { readonly agent: Agent<string>; readonly asked: () => number } {
    let asked = 0;
    const asks = tool({
      name: "asks",
      description: "d",
      inputSchema,
      needs: [llm],
      execute: async (_args, { llm: ask }) => {
        const failed: string[] = [];
        for (let turn = 0; turn < times; turn += 1)
          await how(() => ask(`question ${turn}`)).catch((error: Error) => failed.push(error.message));
        return failed.at(-1) ?? "all answered";
      },
    });
    const outer = agent({
      name: "a",
      model() {
        asked += 1;
        return asked === 1 ? { calls: [{ name: "asks", arguments: {} }] } : "an answer";
      },
      tools: [asks],
      grants: [llm],
      budget: { turns: 2 },
    });
    return { agent: outer, asked: () => asked };
  }

  it.each<[string, Parameters<typeof asking>[1]]>([
    ["one after another", (ask) => ask()],
    ["at once", (ask) => Promise.all(Array.from({ length: 20 }, ask))],
  ])("are bounded where nothing else bounds them: %s", async (_how, how) => {
    const { agent: outer, asked } = asking(500, how);
    const run = await outer.run("x");
    expect(run.transcript.messages.find(({ role }) => role === "tool")).toMatchObject({
      text: expect.stringContaining("exceeded budget of 100 calls of `llm`") as string,
    });
    expect(asked()).toBe(102);
    expect(run.outcome.type).toBe("answered");
  });

  it("are as many as the author says", async () => {
    const { agent: outer, asked } = asking(300, (ask) => ask());
    await outer.with({ budget: { turns: 2, llmCalls: 7 } }).run("x");
    expect(asked()).toBe(9);
    const { agent: free, asked: all } = asking(300, (ask) => ask());
    await free.with({ budget: { turns: 2, llmCalls: Infinity } }).run("x");
    expect(all()).toBe(302);
  });
});
