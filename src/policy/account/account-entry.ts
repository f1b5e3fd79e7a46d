import { count, fits, list, object, string } from "../../util/shape.ts";
import type { Excess } from "./budget.ts";

/** The bounds of an account in one period. A bound left out is none. */
export interface AccountLimits {
  /** Tokens in and out. */
  readonly tokens?: number;
  /** Dollars. A model without a known price is not asked. */
  readonly costUsd?: number;
  /** Calls of tools that began, those of runs inside among them. */
  readonly toolCalls?: number;
  /** Runs that began or went on from a checkpoint; a run and the runs inside it are one. */
  readonly runs?: number;
}

/** Amounts of all that an account bounds. */
export type Amounts = Readonly<Record<keyof AccountLimits, number>>;

/** A reply that a model is being asked for: what it may use at most, until it is settled or `until` (milliseconds since 1970) has passed. */
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

/** An amount that somebody wants to spend now; of runs and calls one below 0 is given back. */
export interface Wish {
  readonly runs?: number;
  readonly toolCalls?: number;
  readonly reply?: WantedReply;
}

/** A reply of a model: the tokens of its request, and those that it may write at most. */
export interface WantedReply {
  readonly id: string;
  readonly until: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Dollars for tokens in and out; undefined where nobody knows. */
  readonly price: (inputTokens: number, outputTokens: number) => number | undefined;
}

/** The entry with the wish in it and the tokens that its reply may have, or the bound that forbids it. */
export type Reserved =
  | { readonly ok: true; readonly entry: AccountEntry; readonly outputTokens: number }
  | { readonly ok: false; readonly excess: Omit<Excess, "message" | "account"> & { readonly why?: string } };

const nothing: Amounts = { tokens: 0, costUsd: 0, toolCalls: 0, runs: 0 };

const entryShape = object({
  since: count,
  used: object({ tokens: count, costUsd: count, toolCalls: count, runs: count }),
  held: list(object({ id: string, tokens: count, costUsd: count, until: count })),
});

/** Tells whether a store gave what was put in. `NaN` is no count. */
export function isEntry(value: unknown): value is AccountEntry {
  return fits(entryShape, value);
}

/** The entry as it stands now: a new period begins with nothing used, and holds that nobody settled in time are gone. */
export function entryAt(entry: AccountEntry | undefined, per: Period, now: number): AccountEntry {
  const since = beginningOf(per, now);
  if (entry === undefined) return { since, used: nothing, held: [] };
  const held = entry.held.filter(({ until }) => until > now);
  return since > entry.since ? { since, used: nothing, held } : { ...entry, held };
}

/** The spending, with all that is held. */
export function usedOf({ used, held }: AccountEntry): Amounts {
  const tokens = held.reduce((sum, hold) => sum + hold.tokens, used.tokens);
  const costUsd = held.reduce((sum, hold) => sum + hold.costUsd, used.costUsd);
  return { ...used, tokens, costUsd };
}

/** Takes what somebody wants out of what is left. A reply is given as many tokens to write as there are, and none where there is not one. */
export function reserveIn(entry: AccountEntry, wish: Wish, limits: AccountLimits): Reserved {
  const { runs = 0, toolCalls = 0, reply } = wish;
  const used = usedOf(entry);
  const asked = { runs, toolCalls };
  const wanted = {
    runs: Math.max(0, used.runs + runs), // a period may have ended before it is given back
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
  const outputTokens = maxCost === Infinity ? room : most(room, affordable);
  if (outputTokens < 1) {
    const why = price(inputTokens, 1) === undefined ? "the price is unknown" : undefined;
    return { ok: false, excess: { field: "costUsd", limit: maxCost, used: costUsd, why } };
  }
  const cost = price(inputTokens, outputTokens) ?? 0;
  const hold = { id, tokens: inputTokens + outputTokens, costUsd: cost, until };
  return { ok: true, entry: { ...entry, held: [...entry.held, hold] }, outputTokens };
}

/** The largest number up to `high` that a test lets pass which lets all smaller ones pass; 0 for none. */
function most(high: number, passes: (value: number) => boolean): number {
  if (passes(high)) return high;
  let [yes, no] = [0, high];
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2);
    if (passes(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

/** Books what a reply really used in the place of what was held for it. */
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

/** The beginning of the month in UTC, counted in years from March, where the leap day is the last one. */
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
