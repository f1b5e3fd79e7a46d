/** The cases: each runs an agent of a peer, checks that its result is right, and returns its figures. */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { BenchCase, Figure } from "./bench-case.ts";
import { recogniserCases } from "./recogniser-case.ts";
import { measure, median, type MeasureOptions } from "./measure.ts";
import {
  type BenchAgent,
  type BenchTool,
  beginScript,
  endScript,
  type Piece,
  type Reply,
  type SaveArguments,
  saveArguments,
  saveTool,
  weatherArguments,
  weatherTool,
} from "./script.ts";

type RunWith = (agent: BenchAgent, prompt: string) => Promise<string>;

const plain: RunWith = (agent, prompt) => agent.run(prompt);
const streamed: RunWith = (agent, prompt) => agent.stream(prompt);

function check(right: boolean, found: string): void {
  if (!right) throw new Error(`wrong result: ${found}`);
}

/** Runs a script once; the answer must be `expected.text`, after `expected.replies` replies. */
async function once(
  go: () => Promise<string>,
  expected: { prompt: string; text: string; replies: number },
): Promise<void> {
  const text = await go();
  const replies = endScript(expected.prompt);
  check(text === expected.text, `the answer has ${text.length} characters: ${text.slice(0, 80)}`);
  check(replies === expected.replies, `the model was asked ${replies} times instead of ${expected.replies}`);
}

function weatherCall(index: number): { id: string; name: string; arguments: string } {
  return { id: `c${index}`, name: "weather", arguments: weatherArguments(index) };
}

/** A run of `turns` turns with a call each, and then the answer. */
function turnsScript(turns: number): (turn: number) => Reply {
  return (turn) => (turn < turns ? { calls: [weatherCall(turn)] } : { text: "done" });
}

function counted(): { readonly tool: BenchTool; readonly take: () => number } {
  let count = 0;
  const tool = weatherTool(async ({ city, days }) => {
    check(typeof days === "number", "the arguments were not read");
    count += 1;
    return { ok: true, city, temp: 21 };
  });
  const take = (): number => {
    const taken = count;
    count = 0;
    return taken;
  };
  return { tool, take };
}

function turnsCase(
  runWith: RunWith,
  options: MeasureOptions,
  label?: (ms: number) => Figure,
): BenchCase["run"] {
  return async (prepare, size) => {
    const { tool, take } = counted();
    const agent = prepare({ tools: [tool], maxTurns: size + 2 });
    const timing = await measure(async () => {
      const prompt = beginScript(turnsScript(size));
      await once(() => runWith(agent, prompt), { prompt, text: "done", replies: size + 1 });
      const calls = take();
      check(calls === size, `${calls} calls ran instead of ${size}`);
    }, options);
    if (label !== undefined) return [label(timing.firstMs)];
    return [{ label: "µs a turn", value: (timing.ms * 1000) / size, cpu: (timing.minCpuMs * 1000) / size }];
  };
}

async function parallel(agent: BenchAgent, size: number, take: () => number): Promise<void> {
  const calls = Array.from({ length: size }, (_, index) => weatherCall(index));
  const prompt = beginScript((turn) => (turn === 0 ? { calls } : { text: "done" }));
  await once(() => agent.run(prompt), { prompt, text: "done", replies: 2 });
  const ran = take();
  check(ran === size, `${ran} calls ran instead of ${size}`);
}

const parallelCase: BenchCase["run"] = async (prepare, size) => {
  const { tool, take } = counted();
  const agent = prepare({ tools: [tool], maxTurns: 5 });
  const timing = await measure(() => parallel(agent, size, take));
  return [{ label: "µs a call", value: (timing.ms * 1000) / size, cpu: (timing.minCpuMs * 1000) / size }];
};

const parallelTimersCase: BenchCase["run"] = async (prepare, size) => {
  let ran = 0;
  const tool = weatherTool(async ({ city }) => {
    await sleep(10);
    ran += 1;
    return { ok: true, city };
  });
  const take = (): number => {
    const taken = ran;
    ran = 0;
    return taken;
  };
  const agent = prepare({ tools: [tool], maxTurns: 5 });
  const timing = await measure(() => parallel(agent, size, take), { maxRepetitions: 30 });
  return [{ label: "ms in all (ideal 10)", value: timing.ms }];
};

const textCase: BenchCase["run"] = async (prepare, size) => {
  const agent = prepare({ tools: [counted().tool], maxTurns: 5 });
  const pieces = Array.from({ length: size }, (_, index): Piece => ({
    type: "text",
    text: `word${1000 + (index % 1000)}`,
  }));
  const text = pieces.map((piece) => (piece.type === "text" ? piece.text : "")).join("");
  const timing = await measure(async () => {
    const prompt = beginScript(() => pieces);
    await once(() => agent.stream(prompt), { prompt, text, replies: 1 });
  });
  return [{ label: "µs a delta", value: (timing.ms * 1000) / size, cpu: (timing.minCpuMs * 1000) / size }];
};

const argumentsCase: BenchCase["run"] = async (prepare, size) => {
  let items = 0;
  const tool = saveTool(async (args) => {
    items = args.items.length;
    return { ok: true };
  });
  const agent = prepare({ tools: [tool], maxTurns: 5 });
  const sent = saveArguments(size);
  const pieces: readonly Piece[] = [
    { type: "call", id: "c0", name: "save" },
    ...sent.pieces.map((text): Piece => ({ type: "arguments", id: "c0", text })),
    { type: "call-end", id: "c0", name: "save", arguments: sent.json },
  ];
  const timing = await measure(async () => {
    items = 0;
    const prompt = beginScript((turn) => (turn === 0 ? pieces : { text: "done" }));
    await once(() => agent.stream(prompt), { prompt, text: "done", replies: 2 });
    check(items === sent.items, `the tool got ${items} items instead of ${sent.items}`);
  });
  return [{ label: "µs a delta", value: (timing.ms * 1000) / size, cpu: (timing.minCpuMs * 1000) / size }];
};

const objectCase: BenchCase["run"] = async (prepare, size) => {
  const agent = prepare({ tools: [saveTool(() => Promise.resolve())], maxTurns: 2 });
  if (agent.object === undefined) throw new Error("it has no partial objects");
  const sent = saveArguments(size);
  const pieces = sent.pieces.map((text): Piece => ({ type: "text", text }));
  let partials = 0;
  const timing = await measure(async () => {
    partials = 0;
    const prompt = beginScript(() => pieces);
    const answer = (await agent.object?.(prompt, () => (partials += 1))) as SaveArguments;
    check(endScript(prompt) === 1, "the model was not asked once");
    check(
      answer.items.length === sent.items,
      `the answer has ${answer.items.length} items, not ${sent.items}`,
    );
  });
  return [
    { label: "µs a delta", value: (timing.ms * 1000) / size, cpu: (timing.minCpuMs * 1000) / size },
    { label: "objects a delta", value: partials / size, higherIsBetter: true },
  ];
};

interface Eager {
  /** How long the call with this index runs, in ms. */
  readonly toolMs: (index: number) => number;
  /** Pieces of arguments in a call; a call takes 50 ms to stream. */
  readonly pieces: number;
  readonly ideal: { readonly start: number; readonly end: number };
}

async function* eagerPieces(calls: number, pieces: number): AsyncGenerator<Piece> {
  for (let index = 0; index < calls; index += 1) {
    const { id, name, arguments: args } = weatherCall(index);
    yield { type: "call", id, name };
    for (let piece = 0; piece < pieces; piece += 1) {
      await sleep(50 / pieces);
      const [from, to] = [piece, piece + 1].map((place) => Math.floor((args.length * place) / pieces));
      yield { type: "arguments", id, text: args.slice(from, to) };
    }
    yield { type: "call-end", id, name, arguments: args };
  }
}

function eagerCase({ toolMs, pieces, ideal }: Eager): BenchCase["run"] {
  return async (prepare, size) => {
    let begun = 0;
    let lastStart = 0;
    let ran = 0;
    const tool = weatherTool(async ({ days }) => {
      lastStart = Math.max(lastStart, performance.now() - begun);
      await sleep(toolMs(days));
      ran += 1;
      return { ok: true };
    });
    const agent = prepare({ tools: [{ ...tool, effect: "read" }], maxTurns: 5 });
    const starts: number[] = [];
    const ends: number[] = [];
    for (let repetition = 0; repetition < 4; repetition += 1) {
      [lastStart, ran] = [0, 0];
      const prompt = beginScript((turn) => (turn === 0 ? eagerPieces(size, pieces) : { text: "done" }));
      begun = performance.now();
      await once(() => agent.stream(prompt), { prompt, text: "done", replies: 2 });
      check(ran === size, `${ran} calls ran instead of ${size}`);
      if (repetition === 0) continue; // the first one is slow for other reasons
      starts.push(lastStart);
      ends.push(performance.now() - begun);
    }
    return [
      { label: `start of the last call, ms (ideal ${ideal.start})`, value: median(starts) },
      { label: `end, ms (ideal ${ideal.end})`, value: median(ends) },
    ];
  };
}

const concurrentCase: BenchCase["run"] = async (prepare, size) => {
  const { tool } = counted();
  const agent = prepare({ tools: [tool], maxTurns: 7 });
  const one = async (): Promise<void> => {
    const prompt = beginScript(turnsScript(5));
    await once(() => agent.run(prompt), { prompt, text: "done", replies: 6 });
  };
  await Promise.all(Array.from({ length: 50 }, one));
  const all = async (): Promise<void> => void (await Promise.all(Array.from({ length: size }, one)));
  const timing = await measure(all, { warmMs: 0, budgetMs: 1200, maxRepetitions: 5, sampleMs: 0 });
  return [
    { label: "runs a second", value: (size * 1000) / timing.ms, higherIsBetter: true, cpu: timing.minCpuMs },
    { label: "peak memory, MB", value: process.resourceUsage().maxRSS / 1024 },
  ];
};

const growthCase: BenchCase["run"] = async (prepare, size) => {
  let count = 0;
  const tool = weatherTool(async () => {
    count += 1;
    const line = `xxxxxxxxxy${count}`;
    return { count, data: line.repeat(Math.ceil(10_240 / line.length)) };
  });
  const agent = prepare({ tools: [tool], maxTurns: size + 2 });
  const run = async (): Promise<void> => {
    count = 0;
    const prompt = beginScript(turnsScript(size));
    await once(() => agent.run(prompt), { prompt, text: "done", replies: size + 1 });
    check(count === size, `${count} calls ran instead of ${size}`);
  };
  const timing = await measure(run, { warmMs: 0, maxRepetitions: 10, sampleMs: 0 });
  return [{ label: "ms", value: timing.ms, cpu: timing.minCpuMs }];
};

/** All cases that run an agent, by name. `import` and `install` run none; they are in weight.ts. */
export const cases: Readonly<Record<string, BenchCase>> = {
  turns: { group: "Turns with one validated call each", sizes: [10, 100, 1000], run: turnsCase(plain, {}) },
  first: {
    group: "Turns with one validated call each",
    sizes: [10],
    run: turnsCase(plain, { warmMs: 0, budgetMs: 0 }, (value) => ({
      label: "ms of the first run in a process",
      value,
    })),
  },
  "stream-turns": { group: "Turns with one validated call each", sizes: [100], run: turnsCase(streamed, {}) },
  parallel: { group: "Calls of one turn", sizes: [1000], run: parallelCase },
  "parallel-10ms": { group: "Calls of one turn", sizes: [1000], run: parallelTimersCase },
  eager: {
    group: "Calls that start while the model still streams, 50 ms apart",
    sizes: [4],
    run: eagerCase({ toolMs: () => 200, pieces: 5, ideal: { start: 200, end: 400 } }),
  },
  "eager-skew": {
    group: "Calls that start while the model still streams, 50 ms apart",
    sizes: [4],
    run: eagerCase({
      toolMs: (index) => (index === 0 ? 400 : 50),
      pieces: 1,
      ideal: { start: 200, end: 450 },
    }),
  },
  text: { group: "Deltas of one reply", sizes: [10_000], run: textCase },
  objects: { group: "Partial objects of a streamed answer", sizes: [1000, 10_000], run: objectCase },
  arguments: { group: "Deltas of one reply", sizes: [10_000], run: argumentsCase },
  concurrent: { group: "Runs of 5 turns at once", sizes: [1000], run: concurrentCase },
  growth: { group: "Turns with results of 10 kB", sizes: [200], run: growthCase },
  ...recogniserCases,
};
