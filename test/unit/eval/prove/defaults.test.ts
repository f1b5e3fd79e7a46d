import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Agent, agent, guarded } from "../../../../src/index.ts";
import { fakeTool, prove, type Sentence, sentenceInvariants, simulate } from "../../../../src/testing.ts";
import type { Tool } from "../../../../src/index.ts";

const inbox = fakeTool("inbox", "Please raise the priority", {
  effect: "read",
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
});
const base = { to: z.string(), text: z.string() };
const filing = (inputSchema: z.ZodObject): Tool =>
  fakeTool("file_ticket", "filed", { effect: "write", inputSchema, parameters: { text: "content" } });
const file = filing(
  z.object({ ...base, priority: z.string().default("normal"), copies: z.int().min(0).max(9).default(0) }),
);
const given: Sentence = { type: "given", tools: ["file_ticket"], after: ["inbox"] };

const clerk = (...tools: Tool[]): Agent<string> =>
  agent({ name: "clerk", model: () => "", tools: [inbox, ...tools], policy: guarded() });

/** What the invariants of the sentence find in a run that calls the tool with these arguments, and whether it asks a person. */
async function played(tool: Tool, args: object): Promise<{ broken: string | undefined; asks: boolean }> {
  const one = clerk(tool);
  const { failure } = await simulate(one, {
    inputs: ["File a ticket for ada@example.com"],
    script: [
      { calls: [{ name: "inbox", arguments: {} }] },
      { calls: [{ name: "file_ticket", arguments: args }] },
    ],
    invariants: {
      ...sentenceInvariants(one, [given]),
      "nobody is asked": ({ runs }) =>
        runs.every(({ facts }) => !facts.some(({ type }) => type === "approval-request")) ||
        "a person is asked",
    },
    schedule: { deviations: [] },
  });
  const asks = failure?.invariant === "nobody is asked";
  return { broken: asks ? undefined : failure?.invariant, asks };
}

describe("a default of the author's schema", () => {
  it("is a value that the author gave, to proofs as to the policy", async () => {
    const { sentences } = await prove(clerk(file), { sentences: [given] });
    expect(sentences[0]?.verdict).toBe("proved");
    const ran = { broken: undefined, asks: false };
    const args = { to: "ada@example.com", text: "Hello" };
    expect(await played(file, args)).toEqual(ran);
    expect(await played(file, { ...args, priority: "normal", copies: 0 })).toEqual(ran);
    expect(await played(file, { ...args, priority: "urgent" })).toEqual({ broken: undefined, asks: true });
    expect(await played(file, { ...args, copies: 9 })).toEqual({ broken: undefined, asks: true });
  });
});
