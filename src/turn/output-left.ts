import { estimateTokens, noUsage, priceOf, type Usage } from "../message/usage.ts";
import { largestUpTo } from "../policy/account/account-entry.ts";
import { type Run, type State, tokensLeft } from "./state.ts";

/** The tokens that a reply may have: those that are left, and as many as the dollars of the run that are left pay for beside the prompt. */
export function outputLeft(state: State, run: Run, used: Usage = noUsage): number {
  return Math.min(tokensLeft(state, run, used), affordable(state, run, used));
}

/** No model writes more in one reply. */
const longestReply = 1_000_000;
/** A shorter reply would be paid for and of no use. */
const shortestReply = 256;

/** The output that the dollars pay for; `Infinity` if the price does not depend on it, or is unknown: then the run ends after this turn. */
function affordable({ limits, ledger, transcript }: State, { options }: Run, used: Usage): number {
  if (limits.costUsd === Infinity) return Infinity;
  const inputTokens = estimateTokens(transcript.characters);
  const priceAt = (outputTokens: number): number => priceOf({ inputTokens, outputTokens }, options) ?? 0;
  const left = limits.costUsd - ledger.costUsd - (used === noUsage ? 0 : (priceOf(used, options) ?? 0));
  if (priceAt(longestReply) <= Math.max(left, priceAt(shortestReply))) return Infinity;
  return Math.max(
    shortestReply,
    largestUpTo(longestReply, (tokens) => priceAt(tokens) <= left),
  );
}
