import { expect, it } from "vitest";
import { nodeHost } from "../../../src/adapters/clock.ts";
import { callAt } from "../../../src/call/batch.ts";
import { checkCall } from "../../../src/call/judge.ts";
import { emptyTranscript } from "../../../src/message/transcript.ts";
import { emptyLedger, limitsOf } from "../../../src/policy/account/budget.ts";
import { programContext } from "../../../src/run/context.ts";
import { allowList } from "../../../src/policy/allow-list.ts";
import { noIntent } from "../../../src/policy/knowledge/intent.ts";
import { learnIntent } from "../../../src/policy/knowledge/learned.ts";
import type { Tool } from "../../../src/tool/tool.ts";
import { callTool } from "../../../src/doors.ts";
import { fakeTool } from "../../../src/testing.ts";

const inputSchema = { type: "object", properties: { city: { type: "boolean" } } };
const look = fakeTool("look", "seen", { inputSchema });

/** A tool whose schema writes into what it is given, and passes it on. */
const careless: Tool = {
  name: "careless",
  description: "",
  effect: "none",
  exclusiveKey: () => undefined,
  input: {
    jsonSchema: { type: "object" },
    parse: (value) => {
      const given = value as { first: unknown; deep: { list: unknown[] } };
      given.first = "changed";
      given.deep.list.push("more");
      return { ok: true, value: given };
    },
  },
  execute: () => null,
};

it("what a schema does to arguments does not reach the call, at no depth", async () => {
  const sent = { first: 1, deep: { list: [{ a: null }] } };
  const call = { type: "tool-call", id: "c", name: "careless", arguments: sent } as const;
  const policy = (): { verdict: "allow"; rule: string; reason: string } => ({
    verdict: "allow",
    rule: "test",
    reason: "",
  });
  const intent = noIntent("a");
  const gate = { agent: "a", allowed: allowList("s", [careless]), policy, intent, powers: [] };
  const batch = {
    run: programContext({ host: nodeHost }),
    turn: 1,
    calls: [call],
    gate,
    ledger: emptyLedger,
    limits: limitsOf({}, "test"),
    transcript: emptyTranscript(),
    learned: learnIntent(intent, gate.allowed),
  };
  const prepared = await checkCall(
    callAt(batch, { index: 0, key: "turn/1/call/0", proposed: call, ledger: batch.ledger }),
  );
  expect(sent).toEqual({ first: 1, deep: { list: [{ a: null }] } });
  expect(prepared).toMatchObject({
    type: "ready",
    args: { first: "changed", deep: { list: [{ a: null }, "more"] } },
  });
});

it.each([10n, { city: 10n }])(
  "a program is told of arguments that are no JSON (%s), as of any others",
  async (given) => {
    const result = await callTool(look, given as never);
    expect(result).toMatchObject({ status: "invalid", note: expect.stringMatching(/^the model sent: .*10/) });
  },
);
