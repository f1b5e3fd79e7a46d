import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Agent,
  agent,
  type AgentEvent,
  isFact,
  memoryJournal,
  type RunResult,
  tool,
} from "../../src/index.ts";
import type { PlainReply } from "../../src/model/function-model.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import { fakeTool } from "../../src/testing.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { providerComplaints } from "../provider-rules.ts";

type TextAgent = Agent<string | JsonObject, string>;

/** An agent: what its model says, which of its tools each reply calls by number, and the agents that are tools of it. */
interface Tree {
  readonly replies: readonly (readonly number[])[];
  readonly budget: { readonly toolCalls: number; readonly tokens: number; readonly turns: number };
  readonly effect: "read" | "write";
  readonly direct: boolean;
  readonly children: readonly Tree[];
}

const trees = (children: fc.Arbitrary<readonly Tree[]>): fc.Arbitrary<Tree> =>
  fc.record({
    replies: fc.array(fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
    budget: fc.record({
      toolCalls: fc.constantFrom(1, 3, 32),
      tokens: fc.constantFrom(20, 60, 10_000),
      turns: fc.constantFrom(1, 8),
    }),
    effect: fc.constantFrom("read" as const, "write" as const),
    direct: fc.boolean(),
    children,
  });

/** Agents so deep, and one deeper than the runtime lets them be called. */
const treeOf = (depth: number): fc.Arbitrary<Tree> =>
  trees(depth === 0 ? fc.constant([]) : fc.array(treeOf(depth - 1), { maxLength: 2 }));
const tree = treeOf(4);

const usage = { inputTokens: 7, outputTokens: 3 };

/** What was made of a tree: the agent, what was asked of all models in it, and how the runs inside ended. */
interface Planted {
  readonly root: TextAgent;
  readonly asked: () => number;
  readonly results: RunResult<unknown>[];
}

function plant(of: Tree, live: boolean): Planted {
  let asked = 0;
  const results: RunResult<unknown>[] = [];
  const grow = ({ replies, children, budget, effect, direct }: Tree, name: string): TextAgent => {
    const inner = children.map((child, index) => {
      const grown = grow(child, `${name}_${index}`);
      const asTool = grown.asTool({ effect: child.effect });
      if (!child.direct) return asTool;
      return tool({
        name: grown.name,
        description: "",
        inputSchema: { type: "object", additionalProperties: true },
        effect: child.effect,
        retry: "always", // it does nothing itself
        async execute(_args, { run }) {
          const result = await grown.run("x", { parent: run });
          results.push(result);
          return `${result.outcome.type} ${result.text}`;
        },
      });
    });
    const tools = [fakeTool("look", "seen"), ...inner];
    const steps = replies.map((numbers): PlainReply => ({
      usage,
      calls: numbers.map((number) => ({
        name: tools[number % tools.length]?.name ?? "",
        arguments: { input: "x" },
      })),
    }));
    const last = { text: `${name} ${effect} ${String(direct)}`, usage };
    const model = ({ messages }: ModelRequest): PlainReply => {
      if (!live) throw new Error("a replay asked a model");
      asked += 1;
      return steps[messages.filter(({ role }) => role === "assistant").length] ?? last;
    };
    return agent({ name, model, tools, budget });
  };
  return { root: grow(of, "a"), asked: () => asked, results };
}

async function watch(
  stream: AsyncGenerator<AgentEvent, RunResult<unknown>>,
): Promise<{ events: AgentEvent[]; result: RunResult<unknown> }> {
  const events: AgentEvent[] = [];
  let next = await stream.next();
  for (; next.done !== true; next = await stream.next()) events.push(next.value);
  return { events, result: next.value };
}

const factsOf = (events: readonly AgentEvent[], runId: string): string[] =>
  events
    .filter((event) => isFact(event) && event.runId === runId)
    .map(({ at: _at, ...fact }) => JSON.stringify(fact));

describe("agents inside agents", () => {
  it("count every token once, keep every conversation valid, tell every run from its beginning to its end, and replay without running again", async () => {
    await fc.assert(
      fc.asyncProperty(tree, async (of) => {
        const planted = plant(of, true);
        const journal = memoryJournal();
        const { events, result } = await watch(planted.root.stream("go", { journal, runId: "r" }));
        expect(result.usage).toEqual({ inputTokens: 7 * planted.asked(), outputTokens: 3 * planted.asked() });
        for (const { transcript } of [result, ...planted.results])
          expect(providerComplaints(transcript.messages)).toEqual([]);

        for (const runId of new Set(events.map((event) => event.runId))) {
          const own = events.filter((event) => event.runId === runId);
          expect([own[0]?.type, own.at(-1)?.type]).toEqual(["run-start", "run-end"]);
          const seqs = own.filter(isFact).map(({ seq }) => seq);
          expect(seqs).toEqual(seqs.map((_, index) => index + 1));
          const count = (type: AgentEvent["type"]): number =>
            own.filter((event) => event.type === type).length;
          expect(count("turn-start")).toBe(count("turn-end"));
          expect(
            own.every(
              (event) =>
                event.parentRunId ===
                (runId === "r" ? undefined : runId.replace(/\/turn\/\d+\/call\/\d+\/[^/]+\/\d+$/, "")),
            ),
          ).toBe(true);
        }
        const begun = events.flatMap((event) =>
          event.type === "delegation-start" ? [`${event.delegation.depth} ${event.delegation.agent}`] : [],
        );
        const ended = events.flatMap((event) =>
          event.type === "delegation-end" ? [`${event.delegation.depth} ${event.delegation.agent}`] : [],
        );
        expect(ended.toSorted()).toEqual(begun.toSorted());
        expect(begun.every((each) => Number(each[0]) <= 3)).toBe(true);

        const again = await watch(
          plant(of, false).root.stream("go", { journal: memoryJournal(journal.records), runId: "r" }),
        );
        expect(factsOf(again.events, "r")).toEqual(factsOf(events, "r"));
        expect(again.result.usage).toEqual(result.usage);
      }),
      { numRuns: 150 },
    );
  });

  it("go on after a crash at any step: no recorded model call is made again, and all tokens are counted", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.nat(), async (of, at) => {
        const generous: Tree = relax(of);
        const journal = memoryJournal();
        const first = plant(generous, true);
        const { result } = await watch(first.root.stream("go", { journal, runId: "r" }));
        const kept = journal.records.slice(0, at % (journal.records.length + 1));
        const replies = kept.filter(({ key }) => key.endsWith("/model")).length;
        const second = plant(generous, true);
        const again = await second.root.run("go", { journal: memoryJournal(kept), runId: "r" });
        expect(again.usage.inputTokens).toBe(result.usage.inputTokens);
        expect(second.asked()).toBe(first.asked() - replies);
        expect(again.outcome).toEqual(result.outcome);
      }),
      { numRuns: 100 },
    );
  });
});

/** The same tree without bounds that depend on who is faster. */
function relax({ replies, children, ...rest }: Tree): Tree {
  const budget = { toolCalls: 10_000, tokens: 1_000_000, turns: 4 };
  return { ...rest, budget, replies: replies.slice(0, 1), children: children.map(relax) };
}
