import { checkCount, checkShape, closed } from "../error/check-shape.ts";
import type { Compact, Compacted, CompactedActs } from "../turn/options.ts";
import { joinLabels, labelledAs } from "../message/label.ts";
import {
  charactersOf,
  isAsked,
  labelOf,
  labelOfAll,
  type Message,
  runtimeMessage,
  sinceAsked,
  textOf,
  type UserMessage,
} from "../message/message.ts";
import { countTurns, dropTurns, type ReadyTranscript } from "../message/transcript.ts";
import { estimateTokens } from "../message/usage.ts";
import { actsIn, actsMessage, isDeclared } from "../tool/acts.ts";
import { anything, callable, optional } from "../util/shape.ts";
import { type Summarise, summaryMessage, summaryOf } from "./summary.ts";

/** Bounds beyond which the oldest turns are taken out of requests. Tokens are estimates: one for 4 characters. */
export interface CompactionOptions {
  /** The most tokens of a request's messages. Beyond that, whole turns are removed until at most half of it is left. */
  readonly atTokens: number;
  /** The number of last turns that stay, whatever they contain. Default 2. */
  readonly keepTurns?: number;
  /**
   * Gets the messages that are removed; its summary takes their place. It is asked once those have at least a quarter of `atTokens`, apart from what stays.
   * Default: only calls with a declared effect are listed.
   */
  readonly summarise?: Summarise;
}

/** A transcript that was compacted. */
export interface Compaction extends Compacted {
  readonly estimated: true;
}

/**
 * Makes the compaction of an agent. A turn is removed as a whole, with the messages before it; the author's words and the user's last question
 * stay. It frees half of the tokens, so that not every turn begins with a compaction.
 *
 * @throws WritError `definition-invalid` unless the numbers are whole numbers of at least 1; a compaction fails with `summary-failed` if
 * there is no summary
 */
export function compactor(options: CompactionOptions): Compact {
  checkShape("A compaction", options, optionsShape);
  const { atTokens, keepTurns = 2, summarise } = options;
  checkCount(atTokens, "`atTokens` of a compaction");
  checkCount(keepTurns, "`keepTurns` of a compaction");
  async function compact(
    { transcript, shorter, droppedTurns, known }: Compacting,
    once: Once,
  ): Promise<Compaction> {
    const gone = removed(transcript.messages, shorter);
    const summary = summarise && (await once(() => summaryOf(gone, summarise)));
    const own = removed(sinceAsked(transcript.messages), shorter);
    const acts = [...known.acts, ...actsIn(own, known.effectOf)];
    const said = summary === undefined ? undefined : summaryMessage(summary, labelOfAll(gone));
    const done = actsMessage(acts.filter(isDeclared));
    const inPlace = together([said, done].filter((message) => message !== undefined));
    const compacted = inPlace === undefined ? shorter : dropTurns(transcript, droppedTurns, inPlace);
    return {
      acts,
      transcript: compacted,
      droppedTurns: countTurns(transcript) - countTurns(compacted),
      tokensBefore: tokensOf(transcript),
      tokensAfter: tokensOf(compacted),
      estimated: true,
    };
  }
  return (transcript, once, known = noActs) => {
    const tokens = tokensOf(transcript);
    if (tokens <= atTokens && known.isRefused !== true) return undefined;
    const most = countTurns(transcript) - keepTurns;
    const room = Math.min(tokens, atTokens) / 2;
    const fits = (count: number): boolean => tokensOf(dropTurns(transcript, count)) <= room;
    if (most < 1) return undefined;
    const droppedTurns = fewest(most, fits);
    const shorter = dropTurns(transcript, droppedTurns);
    if (countTurns(shorter) === countTurns(transcript)) return undefined; // all of those turns introduce tools, and stay
    const isDear = summarise !== undefined && known.isRefused !== true;
    if (isDear && gainOf(transcript, shorter) < atTokens / 4) {
      known.waits?.(atTokens);
      return undefined;
    }
    return compact({ transcript, shorter, droppedTurns, known }, once);
  };
}

const optionsShape = closed({ atTokens: anything, keepTurns: anything, summarise: optional(callable) });

interface Compacting {
  readonly transcript: ReadyTranscript;
  readonly shorter: ReadyTranscript;
  readonly droppedTurns: number;
  readonly known: CompactedActs;
}

type Once = Parameters<Compact>[1];

const noActs: CompactedActs = { acts: [], effectOf: () => "none" };

/** One message of the runtime with the content of all of these. */
function together(messages: readonly UserMessage[]): UserMessage | undefined {
  if (messages.length < 2) return messages[0];
  const label = messages.map(labelOf).reduce(joinLabels);
  return labelledAs(runtimeMessage(messages.map(textOf).join("\n\n")), label);
}

function tokensOf({ characters }: ReadyTranscript): number {
  return estimateTokens(characters);
}

/** The tokens that are gone for good: an older summary makes room for a new one. */
function gainOf({ messages }: ReadyTranscript, shorter: ReadyTranscript): number {
  const gone = removed(messages, shorter).filter((message) => message.role !== "user" || isAsked(message));
  return estimateTokens(gone.reduce((sum, message) => sum + charactersOf(message), 0));
}

/** The smallest number from 1 to `most` that is enough, if larger ones are too; `most` if none is. */
function fewest(most: number, isEnough: (count: number) => boolean): number {
  let low = 1;
  let high = most;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The messages to summarise, without the author's words and those that stay. */
function removed(before: readonly Message[], after: ReadyTranscript): readonly Message[] {
  const kept = new Set(after.messages);
  return before.filter((message) => !kept.has(message));
}
