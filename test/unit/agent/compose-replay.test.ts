import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestOf, majorityVote } from "../../../src/agent/compose/aggregate.ts";
import { branch } from "../../../src/agent/compose/branch.ts";
import type { Composite } from "../../../src/agent/compose/composite.ts";
import { type Discussion, forum } from "../../../src/agent/compose/forum.ts";
import { parallel } from "../../../src/agent/compose/parallel.ts";
import { pipe } from "../../../src/agent/compose/pipe.ts";
import { race } from "../../../src/agent/compose/race.ts";
import { repeat } from "../../../src/agent/compose/repeat.ts";
import { wrap } from "../../../src/agent/compose/wrap.ts";
import { agent, memoryJournal, type Runnable } from "../../../src/index.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { factsOf, watch, type Watched } from "../../acceptance/watching.ts";

type Text = Runnable<string | Discussion, string>;

/** A composition as data, so that it can be built again for a replay. */
type Shape =
  | { readonly kind: "says" | "calls" | "fails"; readonly text: string; readonly delayMs: number }
  | { readonly kind: Kind; readonly parts: readonly Shape[] };

const kinds = ["pipe", "list", "vote", "best", "race", "branch", "repeat", "forum", "wrap"] as const;
type Kind = (typeof kinds)[number];

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: "small", maxDepth: 3, withCrossShrink: true },
    fc.record({
      kind: fc.constantFrom("says", "says", "calls", "fails"),
      text: fc.constantFrom("yes", "no", "perhaps so"),
      delayMs: fc.nat(3),
    }),
    fc.record({
      kind: fc.constantFrom(...kinds),
      parts: fc.array(tie("shape"), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));

interface Building {
  /** At a replay nobody may be asked. */
  readonly isReplay: boolean;
  asked: number;
  made: number;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function leaf({ kind, text, delayMs }: Extract<Shape, { text: string }>, building: Building): Text {
  const name = `agent${(building.made += 1)}`;
  const reply = async (): Promise<string> => {
    building.asked += 1;
    if (building.isReplay) throw new Error("a model was asked at a replay");
    await wait(delayMs);
    return text;
  };
  if (kind === "says") return agent({ name, model: reply });
  const look = fakeTool("look", async () => {
    if (building.isReplay) throw new Error("a tool was called at a replay");
    await wait(delayMs);
    return "seen";
  });
  const calls = async (): Promise<{ calls: { name: string; arguments: JsonObject }[] }> => (
    await reply(),
    { calls: [{ name: "look", arguments: {} }] }
  );
  const budget = kind === "fails" ? { turns: 1 } : {};
  return agent({ name, model: scripted([calls, reply]), tools: [look], budget });
}

function build(shape: Shape, building: Building): Text {
  if ("text" in shape) return leaf(shape, building);
  const [first, second, ...rest] = shape.parts.map((part) => build(part, building)) as [
    Text,
    Text,
    ...Text[],
  ];
  const named = Object.fromEntries([first, second, ...rest].map((part, index) => [`part${index}`, part]));
  const make: Record<Kind, () => Composite<string | Discussion, string>> = {
    pipe: () => pipe(first, second),
    list: () =>
      pipe(
        parallel(named, { aggregate: (texts) => texts.join(" ") }),
        leaf({ kind: "says", text: "yes", delayMs: 0 }, building),
      ),
    vote: () => parallel(named, { aggregate: majorityVote(), concurrency: 2 }),
    best: () => parallel(named, { aggregate: bestOf((text) => text.length) }),
    race: () => race([first, second, ...rest]),
    branch: () => branch({ on: first, cases: { yes: second }, otherwise: rest[0] ?? second }),
    repeat: () => repeat(first, { until: (text, { round }) => text === "yes" || round === 2 }),
    forum: () => forum({ participants: [first, second], captain: rest[0] ?? second, rounds: 2 }),
    wrap: () => wrap(first, second),
  };
  return make[shape.kind]().with({ name: `composition${(building.made += 1)}` });
}

async function runOf(
  shape: Shape,
  isReplay: boolean,
  journal: ReturnType<typeof memoryJournal>,
): Promise<{ watched: Watched; asked: number }> {
  const building: Building = { isReplay, asked: 0, made: 0 };
  const watched = await watch(build(shape, building).stream("go", { journal, runId: "r" }));
  return { watched, asked: building.asked };
}

describe("the replay of a composition", () => {
  it("has the facts, the output and the usage of the first run, and asks no model and no tool", async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(shape, async (tree) => {
        const journal = memoryJournal();
        const first = await runOf(tree, false, journal);
        const records = JSON.stringify(journal.records);
        const again = await runOf(tree, true, memoryJournal(JSON.parse(records) as typeof journal.records));
        expect(again.asked).toBe(0);
        expect(factsOf(again.watched.events)).toEqual(factsOf(first.watched.events));
        const { transcript, error, ...rest } = first.watched.result;
        const { transcript: transcriptAgain, error: errorAgain, ...restAgain } = again.watched.result;
        expect(restAgain).toEqual(rest);
        expect(errorAgain?.message).toBe(error?.message);
        expect(transcriptAgain.toJSON()).toEqual(transcript.toJSON());
        const { outcome } = first.watched.result;
        seen.set(outcome.type, (seen.get(outcome.type) ?? 0) + 1);
      }),
      { numRuns: 150 },
    );
    expect(seen.get("answered")).toBeGreaterThan(20);
    expect(seen.get("exhausted")).toBeGreaterThan(5);
  });
});
