import { count, fits, list, object, string } from "../../util/shape.ts";
import type { Excess } from "./budget.ts";

/** The bounds of an account in one period. A bound that is left out does not bind. */
export interface AccountLimits {
  /** Tokens in and out. */
  readonly tokens?: number;
  /** Dollars. A model without a known price is not asked. */
  readonly costUsd?: number;
  /** Calls of tools that began, including those of runs inside. */
  readonly toolCalls?: number;
  /** Runs that began or went on from a checkpoint; a run counts once with the runs inside it. */
  readonly runs?: number;
}

/** Amounts of everything that an account bounds. */
export type Amounts = Readonly<Record<keyof AccountLimits, number>>;

/** A reply that a model is being asked for, with the most that it may use: held until it is settled or `until` (milliseconds since 1970) has passed. */
export interface Hold {
  readonly id: string;
  readonly tokens: number;
  readonly costUsd: number;
  readonly until: number;
}

/** The record of one account in a store: JSON. */
export interface AccountEntry {
  /** The beginning of the period, in milliseconds since 1970. */
  readonly since: number;
  readonly used: Amounts;
  readonly held: readonly Hold[];
}

/** A calendar period in UTC, or milliseconds. */
export type Period = "hour" | "day" | "month" | number;

/** An amount that a run wants to spend now; a negative number of runs or calls gives them back. */
export interface Wish {
  readonly runs?: number;
  readonly toolCalls?: number;
  readonly reply?: WantedReply;
}

/** A reply of a model: the tokens of its request, and the most that it may write. */
export interface WantedReply {
  readonly id: string;
  readonly until: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Dollars for tokens in and out; undefined if the price is unknown. */
  readonly price: (inputTokens: number, outputTokens: number) => number | undefined;
}

/** The entry including the wish, with the tokens that its reply may have; or the bound that forbids it. */
export type Reserved =
  | { readonly ok: true; readonly entry: AccountEntry; readonly outputTokens: number }
  | { readonly ok: false; readonly excess: Omit<Excess, "message" | "account"> & { readonly why?: string } };

const nothing: Amounts = { tokens: 0, costUsd: 0, toolCalls: 0, runs: 0 };

const entryShape = object({
  since: count,
  used: object({ tokens: count, costUsd: count, toolCalls: count, runs: count }),
  held: list(object({ id: string, tokens: count, costUsd: count, until: count })),
});

/** Tells whether a store returned what was put in. `NaN` is not a count. */
export function isEntry(value: unknown): value is AccountEntry {
  return fits(entryShape, value);
}

/** The entry at this time: a new period begins with nothing used, and holds that were not settled in time are dropped. */
export function entryAt(entry: AccountEntry | undefined, per: Period, now: number): AccountEntry {
  const since = beginningOf(per, now);
  if (entry === undefined) return { since, used: nothing, held: [] };
  const held = entry.held.filter(({ until }) => until > now);
  return since > entry.since ? { since, used: nothing, held } : { ...entry, held };
}

/** The spending, including everything held. */
export function usedOf({ used, held }: AccountEntry): Amounts {
  const tokens = held.reduce((sum, hold) => sum + hold.tokens, used.tokens);
  const costUsd = held.reduce((sum, hold) => sum + hold.costUsd, used.costUsd);
  return { ...used, tokens, costUsd };
}

/** Reserves a wish in what is left. A reply gets as many tokens to write as there are; without a single one it is refused. */
export function reserveIn(entry: AccountEntry, wish: Wish, limits: AccountLimits): Reserved {
  const { runs = 0, toolCalls = 0, reply } = wish;
  const used = usedOf(entry);
  const asked = { runs, toolCalls };
  const wanted = {
    runs: Math.max(0, used.runs + runs), // the period may have ended before it is given back
    toolCalls: Math.max(0, used.toolCalls + toolCalls),
  };
  for (const field of ["runs", "toolCalls"] as const) {
    const { [field]: limit = Infinity } = limits;
    if (wanted[field] > limit && asked[field] >= 0)
      return { ok: false, excess: { field, limit, used: used[field] } };
  }
  const counted = { ...entry, used: { ...entry.used, ...wanted } };
  return reply === undefined
    ? { ok: true, entry: counted, outputTokens: 0 }
    : holdReply(counted, reply, limits);
}

function holdReply(entry: AccountEntry, reply: WantedReply, limits: AccountLimits): Reserved {
  const { tokens: maxTokens = Infinity, costUsd: maxCost = Infinity } = limits;
  const { tokens, costUsd } = usedOf(entry);
  const { id, until, inputTokens, price } = reply;
  const room = Math.min(reply.outputTokens, Math.floor(maxTokens - tokens - inputTokens));
  if (room < 1) return { ok: false, excess: { field: "tokens", limit: maxTokens, used: tokens } };
  const affordable = (output: number): boolean =>
    costUsd + (price(inputTokens, output) ?? Infinity) <= maxCost;
  const outputTokens = maxCost === Infinity ? room : largestUpTo(room, affordable);
  if (outputTokens < 1) {
    const why = price(inputTokens, 1) === undefined ? "the price is unknown" : undefined;
    return { ok: false, excess: { field: "costUsd", limit: maxCost, used: costUsd, why } };
  }
  const cost = price(inputTokens, outputTokens) ?? 0;
  const hold = { id, tokens: inputTokens + outputTokens, costUsd: cost, until };
  return { ok: true, entry: { ...entry, held: [...entry.held, hold] }, outputTokens };
}

/** The largest number up to `high` for which it and all smaller ones pass a test; 0 if there is none. */
export function largestUpTo(high: number, passes: (value: number) => boolean): number {
  if (passes(high)) return high;
  let [yes, no] = [0, high];
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2);
    if (passes(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

/** Books the real use of a reply in place of its hold. */
export function settleIn(
  entry: AccountEntry,
  id: string,
  spent: { readonly tokens: number; readonly costUsd: number },
): AccountEntry {
  const { used } = entry;
  return {
    ...entry,
    used: { ...used, tokens: used.tokens + spent.tokens, costUsd: used.costUsd + spent.costUsd },
    held: entry.held.filter((hold) => hold.id !== id),
  };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function beginningOf(per: Period, now: number): number {
  if (per === "month") return monthOf(now);
  const length = per === "hour" ? hourMs : per === "day" ? dayMs : per;
  return Math.floor(now / length) * length;
}

/** The beginning of the month in UTC, computed with years that begin in March, so that the leap day comes last. */
function monthOf(now: number): number {
  const day = Math.floor(now / dayMs);
  const since = day + 719_468; // days since 1 March of the year 0
  const ofEra = since % 146_097;
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * ofYear + 2) / 153);
  const ofMonth = ofYear - Math.floor((153 * month + 2) / 5);
  return (day - ofMonth) * dayMs;
}
