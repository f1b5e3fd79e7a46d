import { checkArguments } from "../../error/check-shape.ts";
import { agent } from "../../adapters/node.ts";
import type { RunResult } from "../../agent/runnable.ts";
import { memoryJournal } from "../../journal/memory-journal.ts";
import type { Journal } from "../../journal/journal.ts";
import type { ResultMessage } from "../../message/message.ts";
import { scripted } from "../../model/scripted.ts";
import type { Executor } from "../../run/executor.ts";
import { type Tool, tool } from "../../tool/tool.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { callable } from "../../util/shape.ts";
import { check, type ContractCheck, type Expect } from "./check.ts";

/**
 * The contract of an {@link Executor} as checks for any test runner: it returns one result for each call and no other; it changes nothing twice; the run
 * goes on when a tool fails, and ends soon after it was stopped; a replay does not call the executor. `make` makes an executor anew for each check. It gets
 * calls of the tools `look` (effect `read`), `change` (`write`) and `fail`, which it may run, skip or answer by itself.
 *
 * @example
 * ```ts
 * import type { Executor } from "writ/doors";
 * import { executorContract } from "writ/testing";
 *
 * const plain: Executor = { execute: (calls, { run }) => Promise.all(calls.map((call) => run(call))) };
 * for (const { run } of executorContract(() => plain)) await run(); // in a test: it(name, run)
 * ```
 */
export function executorContract(make: () => Executor): readonly ContractCheck[] {
  checkArguments("executorContract()", { make }, { make: callable });
  const named = (name: string, work: (expect: Expect, executor: Executor) => Promise<void>): ContractCheck =>
    check("executor", name, (expect) => work(expect, make()));
  return [
    named("gives one result for a call alone, and for each of many", async (expect, executor) => {
      for (const count of [1, 2, 20]) await whole(calls(count, ["look", "change"]), executor, expect);
    }),
    named("gives no call the result of another", givesOwn),
    named("gives no call the result of another run", async (expect, executor) => {
      await Promise.all([givesOwn(expect, executor, 100), givesOwn(expect, executor, 200)]);
    }),
    named("changes nothing twice", async (expect, executor) => {
      const { scene } = await whole(calls(5, ["change"]), executor, expect);
      const twice = scene.changed.filter((n, index) => scene.changed.indexOf(n) !== index);
      expect(twice.length === 0, `the calls of "change" with n = ${twice.join(", ")} ran twice`);
    }),
    named("lets the run go on when a tool fails", async (expect, executor) => {
      const { ended } = await whole(calls(3, ["fail", "look"]), executor, expect);
      expect(ended.outcome.type === "answered", `the run ended as ${ended.outcome.type}`);
    }),
    named("ends soon after the run was stopped", endsWhenStopped),
    named("is not asked at a replay", replays),
  ];
}

interface Scene {
  readonly tools: readonly Tool[];
  readonly changed: number[];
}

function numberIn(args: unknown): number {
  return Number(isJsonObject(args) ? args["n"] : NaN);
}

function fail(): never {
  throw new Error("this tool always fails");
}

function sceneOf(): Scene {
  const changed: number[] = [];
  const inputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const make = (name: string, effect: "read" | "write", execute: (n: number) => unknown): Tool =>
    tool({
      name,
      description: name,
      inputSchema,
      effect,
      execute: (args: unknown) => execute(numberIn(args)),
    });
  const change = (n: number): string => {
    changed.push(n);
    return `change ${n}`;
  };
  return {
    tools: [
      make("look", "read", (n) => `look ${n}`),
      make("change", "write", change),
      make("fail", "read", fail),
    ],
    changed,
  };
}

interface Proposed {
  readonly name: string;
  readonly arguments: { readonly n: number };
}

/** This many calls of these tools in turn, each with a number of its own. */
function calls(count: number, names: readonly string[], from = 0): readonly Proposed[] {
  return Array.from({ length: count }, (_, index) => ({
    name: names[index % names.length] ?? "look",
    arguments: { n: from + index },
  }));
}

interface Run {
  readonly proposed: readonly Proposed[];
  readonly executor: Executor;
  readonly scene: Scene;
  readonly journal?: Journal;
  readonly signal?: AbortSignal;
}

function runOf({ proposed, executor, scene, ...options }: Run): Promise<RunResult<unknown>> {
  const { tools } = scene;
  const budget = { toolCalls: 1000, sameToolInARow: 1000 };
  const model = scripted([{ calls: proposed }, "done"]);
  return agent({ name: "contract", model, tools, executor, budget }).run("go", options);
}

function resultsOf({ transcript }: RunResult<unknown>): readonly ResultMessage[] {
  return transcript.messages.flatMap((message) => (message.role === "tool" ? [message] : []));
}

/** Plays a run, and checks that the executor kept its contract as far as the runtime can see. */
async function whole(
  proposed: readonly Proposed[],
  executor: Executor,
  expect: Expect,
): Promise<{ readonly ended: RunResult<unknown>; readonly scene: Scene }> {
  const scene = sceneOf();
  const ended = await runOf({ proposed, executor, scene });
  const { outcome } = ended;
  const isBroken = outcome.type === "failed" && outcome.code.startsWith("executor-");
  expect(!isBroken, isBroken ? outcome.message : "");
  return { ended, scene };
}

async function givesOwn(expect: Expect, executor: Executor, from = 0): Promise<void> {
  const proposed = calls(6, ["look", "change", "look"], from);
  const { ended } = await whole(proposed, executor, expect);
  resultsOf(ended).forEach(({ status, value }, index) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one result for each call that was proposed
    const { name, arguments: args } = proposed[index] as Proposed;
    const own: Json = `${name} ${args.n}`;
    expect(status !== "ok" || value === own, `the call ${own} has the result ${JSON.stringify(value)}`);
  });
}

/** The time that an executor may go on after the run was stopped, in milliseconds. */
const patienceMs = 1000;

async function endsWhenStopped(expect: Expect, executor: Executor): Promise<void> {
  const controller = new AbortController();
  let working: Promise<unknown> = Promise.resolve();
  const watched: Executor = {
    execute(given, context) {
      const results = Promise.resolve(executor.execute(given, context));
      working = results.catch(() => undefined);
      return results;
    },
  };
  const scene = sceneOf();
  const hangs = tool({
    name: "look",
    description: "look",
    inputSchema: { type: "object" },
    effect: "read",
    execute: () => {
      setTimeout(() => controller.abort(), 10);
      return new Promise(() => undefined);
    },
  });
  const timer = setTimeout(() => controller.abort(), 50);
  const tools = [hangs, ...scene.tools.slice(1)];
  const { signal } = controller;
  await runOf({ proposed: calls(2, ["look"]), executor: watched, scene: { ...scene, tools }, signal });
  clearTimeout(timer);
  let late: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise((resolve) => {
    late = setTimeout(() => resolve("late"), patienceMs);
  });
  const first = await Promise.race([working, waited]);
  clearTimeout(late);
  expect(first !== "late", `it still worked ${patienceMs} ms after the run was stopped`);
}

async function replays(expect: Expect, executor: Executor): Promise<void> {
  let asked = 0;
  const counting: Executor = {
    execute(given, context) {
      asked += 1;
      return executor.execute(given, context);
    },
  };
  const journal = memoryJournal();
  const run = { proposed: calls(4, ["look", "change", "fail"]), executor: counting };
  const first = await runOf({ ...run, scene: sceneOf(), journal });
  const scene = sceneOf();
  const again = await runOf({ ...run, scene, journal: memoryJournal(journal.records) });
  expect(asked === 1, "it was asked again");
  expect(scene.changed.length === 0, "a tool ran again");
  const same = JSON.stringify(resultsOf(first)) === JSON.stringify(resultsOf(again));
  expect(same, "the results of the replay are others");
}
