import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryJournal, tool } from "../../src/index.ts";
import { addUser, chat, execute, loop, readTranscript, userMessage } from "../../src/doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { add } from "./calculator.ts";

function call(
  id: string,
  name: string,
  args: Record<string, string | number>,
): {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly arguments: Record<string, string | number>;
} {
  return { type: "tool-call", id, name, arguments: args };
}

describe("execute, the executor alone", () => {
  it("gives one result a call, in their order: good, wrong, unknown, failing, denied [C13, C3.1]", async () => {
    const boom = tool({
      name: "boom",
      description: "Fails",
      inputSchema: z.object({}),
      execute: () => {
        throw new Error("out of order");
      },
    });
    const rm = fakeTool("rm", "removed");
    const events: string[] = [];
    const results = await execute({
      calls: [
        call("a", "add", { a: 3, b: 5 }),
        call("b", "add", { a: 3 }),
        call("c", "nothing", {}),
        call("d", "boom", {}),
        call("e", "rm", { path: "/" }),
      ],
      tools: [add, [boom, rm]],
      policy: ({ tool: name }) => ({
        verdict: name === "rm" ? "deny" : "allow",
        rule: "mine",
        reason: "no removing",
      }),
      onEvent: ({ type }) => events.push(type),
    });
    expect(results.map(({ callId, status }) => [callId, status])).toEqual([
      ["a", "ok"],
      ["b", "invalid"],
      ["c", "denied"],
      ["d", "error"],
      ["e", "denied"],
    ]);
    expect(results[0]).toMatchObject({ role: "tool", name: "add", text: "8", value: 8 });
    expect(rm.calls).toEqual([]);
    expect(events.filter((type) => type === "tool-end")).toHaveLength(5);
  });

  it("is the middle of a conversation that the caller leads [H1.1]", async () => {
    const model = scripted([{ calls: [{ id: "x", name: "add", arguments: { a: 3, b: 5 } }] }, "8"]);
    const question = userMessage("3 + 5?");
    const reply = await chat({ model, messages: [question], tools: [add] });
    const results = await execute({ calls: reply.calls, tools: [add] });
    const answer = await chat({ model, messages: [question, reply.message, ...results], tools: [add] });
    expect(answer.text).toBe("8");
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ callId: "x", text: "8" });
  });

  it("refuses calls that share an id, keeps to its bounds, and replays from a journal", async () => {
    const calls = [call("a", "add", { a: 1, b: 1 }), call("b", "add", { a: 2, b: 2 })];
    const twice = [calls[0], calls[0]].filter((each) => each !== undefined);
    await expect(execute({ calls: twice, tools: [add] })).rejects.toMatchObject({
      code: "definition-invalid",
    });
    const bounded = await execute({ calls, tools: [add], budget: { toolCalls: 1 } });
    expect(bounded.map(({ status }) => status)).toEqual(["ok", "skipped"]);
    const journal = memoryJournal();
    const counted = fakeTool("add", 7);
    const first = await execute({ calls, tools: [counted], journal });
    const again = await execute({ calls, tools: [counted], journal: memoryJournal(journal.records) });
    expect(again).toEqual(first);
    expect(counted.calls).toHaveLength(2);
  });

  it("skips the rest after a cause of `endOn`, and tells the end of no run", async () => {
    const boom = fakeTool("boom", () => {
      throw new Error("out of order");
    });
    const calls = [call("a", "nothing", {}), call("b", "boom", {}), call("c", "add", { a: 1, b: 1 })];
    const statuses = async (endOn?: readonly ("unknown-tool" | "tool-failure" | "blocked-call")[]) => {
      const results = await execute({ calls, tools: [boom, add], concurrency: 1, ...(endOn && { endOn }) });
      return results.map(({ status }) => status);
    };
    expect(await statuses()).toEqual(["denied", "error", "ok"]);
    expect(await statuses(["unknown-tool"])).toEqual(["denied", "skipped", "skipped"]);
    expect(await statuses(["blocked-call"])).toEqual(["denied", "skipped", "skipped"]);
    expect(await statuses(["tool-failure"])).toEqual(["denied", "error", "skipped"]);
  });
});

describe("loop, the turn cycle alone", () => {
  it("goes on from any transcript and gives the next one back [C22, C1.3]", async () => {
    const model = scripted([{ calls: [{ name: "add", arguments: { a: 3, b: 5 } }] }, "It is 8.", "Still 8."]);
    const transcript = readTranscript({
      messages: [{ role: "system", text: "Be brief." }, userMessage("What is 3 + 5?")],
    });
    const run = loop({ model, tools: [add], transcript });
    const seen: string[] = [];
    let next = await run.next();
    for (; next.done !== true; next = await run.next()) seen.push(next.value.type);
    expect(seen[0]).toBe("run-start");
    expect(seen.at(-1)).toBe("run-end");
    expect(next.value).toMatchObject({ output: "It is 8.", turns: 2, outcome: { type: "answered" } });
    expect(next.value.transcript.messages[0]).toEqual({ role: "system", text: "Be brief." });
    const again = loop({
      model,
      transcript: addUser(next.value.transcript, userMessage("Sure?")),
    });
    let last = await again.next();
    while (last.done !== true) last = await again.next();
    expect(last.value.text).toBe("Still 8.");
    expect(model.requests[2]?.messages).toHaveLength(6);
  });

  it("says what is missing", async () => {
    const open = readTranscript({
      messages: [userMessage("go"), { role: "assistant", parts: [call("a", "add", { a: 1, b: 2 })] }],
    });
    await expect(loop({ model: () => "x", transcript: open }).next()).rejects.toMatchObject({
      code: "transcript-invalid",
    });
    const ready = readTranscript({ messages: [userMessage("go")] });
    await expect(loop({ transcript: ready }).next()).rejects.toMatchObject({ code: "model-missing" });
    for (const field of ["instructions", "skills", "selectSkill", "routing", "input"])
      await expect(loop({ model: () => "x", transcript: ready, [field]: [] }).next()).rejects.toMatchObject({
        code: "definition-invalid",
        message: expect.stringContaining(`loop(): \`${field}\` is for agents`),
      });
  });
});
