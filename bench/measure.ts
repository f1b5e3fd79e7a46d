/** Timing of one operation inside one process. */
import { performance } from "node:perf_hooks";

/** Milliseconds of one operation. */
export interface Timing {
  /** The first one in the process, unwarmed. */
  readonly firstMs: number;
  /** Median of the warm ones, by the clock. */
  readonly ms: number;
  /** The cheapest of the warm ones, in processor time of the process. */
  readonly minCpuMs: number;
}

export interface MeasureOptions {
  /**
   * The time before the first sample. V8 compiles a turn of writ for 0.3 to 1.5 s, by the machine; after 250 ms some machines measured the half compiled program,
   * at twice the cost.
   */
  readonly warmMs?: number;
  readonly budgetMs?: number;
  readonly maxRepetitions?: number;
  /**
   * Short operations are measured several at a time, so that one sample is at least this long. 0: one at a time. Some kernels count
   * processor time in ticks: samples of 4 ms showed a third less than the true time.
   */
  readonly sampleMs?: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Runs an operation until it is warm, then for about `budgetMs`. An operation that takes longer than twice that runs once. */
export async function measure(operation: () => Promise<void>, options: MeasureOptions = {}): Promise<Timing> {
  const { warmMs = 2000, budgetMs = 700, maxRepetitions = 200, sampleMs = 50 } = options;
  const first = await sample(operation, 1);
  if (first.ms > 2 * budgetMs) return { firstMs: first.ms, ms: first.ms, minCpuMs: first.cpuMs };
  const warmUntil = performance.now() + warmMs;
  let last = first;
  while (performance.now() < warmUntil) last = await sample(operation, 1);
  const repeats = Math.max(1, Math.min(1000, Math.ceil(sampleMs / Math.max(last.ms, 0.001))));
  const samples: Sample[] = [];
  const measureUntil = performance.now() + budgetMs;
  do samples.push(await sample(operation, repeats));
  while (performance.now() < measureUntil && samples.length < maxRepetitions);
  return {
    firstMs: first.ms,
    ms: median(samples.map(({ ms }) => ms)),
    minCpuMs: Math.min(...samples.map(({ cpuMs }) => cpuMs)),
  };
}

interface Sample {
  readonly ms: number;
  readonly cpuMs: number;
}

async function sample(operation: () => Promise<void>, repeats: number): Promise<Sample> {
  const cpu = process.cpuUsage();
  const begun = performance.now();
  for (let index = 0; index < repeats; index += 1) await operation();
  const ms = (performance.now() - begun) / repeats;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000 / repeats };
}
