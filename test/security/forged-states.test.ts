import { describe, expect, it } from "vitest";
import { agent } from "../../src/adapters/node.ts";
import { isWritError } from "../../src/error/writ-error.ts";
import { readTranscript } from "../../src/message/read-transcript.ts";
import type { Checkpoint } from "../../src/run/checkpoint.ts";
import { fakeTool } from "../../src/tool/fake-tool.ts";
import { scripted } from "../../src/testing.ts";
import type { Json, JsonObject } from "../../src/util/json.ts";

const asking = { role: "user", parts: [{ type: "text", text: "x" }] };
const call = { type: "tool-call", id: "c", name: "look", arguments: {} };

/** The same messages, with a label on the user's words, the reply, or the result. */
const labelled = (label: Json): readonly JsonObject[][] => [
  [{ ...asking, label }],
  [asking, { role: "assistant", parts: [{ type: "text", text: "y" }], label }],
  [
    asking,
    { role: "assistant", parts: [call] },
    { role: "tool", callId: "c", name: "look", status: "ok", text: "z", label },
  ],
];

describe("a transcript of a stranger", () => {
  it.each<[string, Json]>([
    ["a number", 5],
    ["nothing", null],
    ["a text", "trusted"],
    ["a list", []],
    ["an unknown integrity", { integrity: "TRUSTED", secrecy: "public", sources: [] }],
    ["no sources", { integrity: "trusted", secrecy: "public" }],
    ["sources that are no texts", { integrity: "trusted", secrecy: "public", sources: [5] }],
    ["readers that are no list", { integrity: "trusted", secrecy: { readers: "all" }, sources: [] }],
    ["an unknown secrecy", { integrity: "trusted", secrecy: "open", sources: [] }],
  ])("is refused with %s for a label", (_what, label) => {
    for (const messages of labelled(label)) {
      const index = messages.length - 1;
      expect(() => readTranscript({ messages: messages as never })).toThrow(
        expect.objectContaining({
          code: "transcript-invalid",
          data: expect.objectContaining({ index }) as unknown,
        }),
      );
    }
    const good = { integrity: "untrusted", secrecy: { readers: ["a@b.example"] }, sources: ["tool/look"] };
    for (const messages of labelled(good))
      expect(() => readTranscript({ messages: messages as never })).not.toThrow();
  });
});

const limited = (ran: string[]): ReturnType<typeof agent> =>
  agent({
    name: "a",
    model: scripted([
      { calls: [{ name: "look", arguments: {} }] },
      { calls: [{ name: "look", arguments: {} }] },
      "done",
    ]),
    tools: [fakeTool("look", () => void ran.push("look"))],
  });

/** Where a run stands after its first turn. */
async function afterOneTurn(): Promise<Checkpoint> {
  for await (const checkpoint of limited([]).turns("x")) return checkpoint;
  throw new Error("there was no turn");
}

describe("a checkpoint of a stranger", () => {
  it.each<[string, (checkpoint: JsonObject) => JsonObject]>([
    ["a mode that restricts to a number", (kept) => ({ ...kept, modes: [{ restrictTo: 5 }] })],
    ["a mode that restricts to numbers", (kept) => ({ ...kept, modes: [{ restrictTo: [5] }] })],
    ["a mode that approves a text", (kept) => ({ ...kept, modes: [{ preapproved: "look" }] })],
    ["a mode that offers an object", (kept) => ({ ...kept, modes: [{ offer: {} }] })],
    ["a mode that reads on for a text", (kept) => ({ ...kept, modes: [{ reads: { toString: null } }] })],
    ["a driver that no run has", (kept) => ({ ...kept, driver: 1e9 })],
    ["an answer without content", (kept) => ({ ...kept, answer: {} })],
    ["an answer whose end is no word", (kept) => ({ ...kept, answer: { content: "x", finishReason: {} } })],
    [
      "uses that are no counts",
      (kept) => ({ ...kept, ledger: { ...(kept["ledger"] as JsonObject), uses: [{ tool: "look" }] } }),
    ],
    [
      "a cost that is no number",
      (kept) => ({ ...kept, ledger: { ...(kept["ledger"] as JsonObject), costUsd: { toString: null } } }),
    ],
    [
      "a last tool that is no name",
      (kept) => ({ ...kept, ledger: { ...(kept["ledger"] as JsonObject), lastTool: { toString: null } } }),
    ],
  ])("is refused with %s", async (_what, forge) => {
    const ran: string[] = [];
    const forged = forge(
      JSON.parse(JSON.stringify(await afterOneTurn())) as JsonObject,
    ) as unknown as Checkpoint;
    const thrown: unknown = await limited(ran)
      .resume(forged)
      .catch((error: unknown) => error);
    expect(isWritError(thrown) ? thrown.code : thrown).toBe("checkpoint-invalid");
    expect(ran).toEqual([]);
  });

  it("goes on as it is, where nothing was touched", async () => {
    const ran: string[] = [];
    const { outcome } = await limited(ran).resume(await afterOneTurn());
    expect([outcome.type, ran.length]).toEqual(["answered", 2]);
  });
});
