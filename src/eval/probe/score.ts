import { asksForRestraint, type ProbeCase } from "./probe-case.ts";
import type { ProbeEvent, Way } from "./probe.ts";
import { type CaseResult, usageOf } from "./run-case.ts";

/** A count of a whole. */
export interface Share {
  readonly count: number;
  readonly of: number;
}

/** The measurements of one way to use a model. */
export interface WayScore extends Way {
  /** Cases that need calls and were right from the first call to the answer. */
  readonly right: Share;
  /** Cases that need no call, had none, and were answered. */
  readonly restraint: Share;
  /** Replies that the driver could read. */
  readonly valid: Share;
  /** Unreadable replies that were cut off at the token limit. */
  readonly cut: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Set if the provider left out counts. */
  readonly estimated?: true;
  /** Left out if the provider does not report its cache. */
  readonly evaluated?: Evaluated;
  readonly durationMs: number;
  /** Between 0 and 1: the harmonic mean of the shares of right and of restraint. */
  readonly score: number;
}

/**
 * The part of the prompts that the model really read. The means are of a first turn, and of a turn after it:
 * the prompt, and the evaluated part of it.
 */
export interface Evaluated {
  readonly tokens: number;
  readonly first: TurnMean;
  readonly later?: TurnMean;
}

/** Means of one turn, in tokens. */
export interface TurnMean {
  readonly prompt: number;
  readonly evaluated: number;
}

type CaseEvent = Extract<ProbeEvent, { readonly type: "case" }>;

/** Adds up the results of each way, in the order in which the ways came. */
export function scoresOf(events: readonly ProbeEvent[], cases: readonly ProbeCase[]): readonly WayScore[] {
  const ways = new Map<string, CaseEvent[]>();
  for (const event of events) {
    if (event.type !== "case") continue;
    const key = `${event.driver} ${event.held}`;
    ways.set(key, [...(ways.get(key) ?? []), event]);
  }
  const restrained = new Set(cases.filter(asksForRestraint).map(({ name }) => name));
  return [...ways.values()].flatMap((found) => {
    const [first] = found;
    const results = found.map(({ result }) => result);
    return first === undefined ? [] : [scoreOf(first, { results, restrained })];
  });
}

function scoreOf(
  { driver, held }: Way,
  {
    results,
    restrained,
  }: { readonly results: readonly CaseResult[]; readonly restrained: ReadonlySet<string> },
): WayScore {
  const right = shareRight(results.filter(({ name }) => !restrained.has(name)));
  const restraint = shareRight(results.filter(({ name }) => restrained.has(name)));
  const replies = sum(results, "replies");
  const usage = usageOf(results);
  const evaluated = evaluatedOf(results);
  return {
    driver,
    held,
    right,
    restraint,
    valid: { count: replies - sum(results, "unreadable"), of: replies },
    cut: sum(results, "cut"),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    ...(usage.estimated === true ? { estimated: true } : {}),
    evaluated,
    durationMs: sum(results, "durationMs"),
    score: harmonic(right, restraint),
  };
}

function shareRight(results: readonly CaseResult[]): Share {
  return { count: results.filter(({ right }) => right).length, of: results.length };
}

function sum(results: readonly CaseResult[], field: "replies" | "unreadable" | "cut" | "durationMs"): number {
  return results.reduce((total, result) => total + result[field], 0);
}

/** A share as a number between 0 and 1; 1 if the whole is empty. */
export function partOf({ count, of }: Share): number {
  return of === 0 ? 1 : count / of;
}

/** The harmonic mean: high only if both are, because a model that never calls, or always, is not good. A share that was not measured is left out. */
function harmonic(right: Share, restraint: Share): number {
  const [a, b] = [partOf(right), partOf(restraint)];
  if (right.of === 0 || restraint.of === 0) return right.of === 0 ? b : a;
  return a + b === 0 ? 0 : (2 * a * b) / (a + b);
}

function evaluatedOf(results: readonly CaseResult[]): Evaluated | undefined {
  const turns = results.flatMap(({ usage }) =>
    usage.map(({ inputTokens, cachedInputTokens }, index) => ({
      isFirst: index === 0,
      isKnown: cachedInputTokens !== undefined,
      prompt: inputTokens,
      evaluated: inputTokens - (cachedInputTokens ?? 0),
    })),
  );
  if (!turns.some(({ isKnown }) => isKnown)) return undefined;
  const later = turns.filter(({ isFirst }) => !isFirst);
  return {
    tokens: turns.reduce((total, turn) => total + turn.evaluated, 0),
    first: meanOf(turns.filter(({ isFirst }) => isFirst)),
    ...(later.length === 0 ? {} : { later: meanOf(later) }),
  };
}

function meanOf(turns: readonly TurnMean[]): TurnMean {
  const mean = (field: keyof TurnMean): number =>
    Math.round(turns.reduce((total, turn) => total + turn[field], 0) / Math.max(1, turns.length));
  return { prompt: mean("prompt"), evaluated: mean("evaluated") };
}
