import type { Outcome } from "../event/outcome.ts";
import type { FinishReason } from "../message/message.ts";
import type { TranscriptJson } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { Intent } from "../policy/knowledge/intent.ts";
import type { Ledger } from "../policy/account/budget.ts";
import type { Act } from "../tool/acts.ts";
import type { Mode } from "../tool/tool.ts";
import { isJsonObject, type Json, toJson } from "../util/json.ts";

/**
 * A run between two turns, as JSON: every call has its result, nothing is under way. It can be kept anywhere and the run resumed from it, on
 * another machine too, with `agent.resume(checkpoint)`.
 */
export interface Checkpoint {
  readonly runId: string;
  readonly agent: string;
  readonly skill: string;
  readonly input: Json;
  /** What the run is for and what it is held to: checked when it is resumed. */
  readonly intent: Intent;
  /** `running` between two turns; how the run ended after the last. */
  readonly status: "running" | Outcome["type"];
  /** What it answered, if it did: a run resumed from here answers this again. */
  readonly answer?: { readonly content: Json; readonly finishReason: FinishReason };
  readonly transcript: TranscriptJson;
  readonly ledger: Ledger;
  readonly usage: Usage;
  readonly driver: number;
  /** What calls changed for the rest of the run, in their order. */
  readonly modes: readonly Mode[];
  /** Calls that may have changed something and that compaction took out of the transcript. */
  readonly acts?: readonly Act[];
  /** Milliseconds that the run has taken; waiting between two parts of it does not count. */
  readonly elapsedMs: number;
}

type FieldCheck = (value: Json | undefined) => boolean;

const isText: FieldCheck = (value) => typeof value === "string";
const isCount: FieldCheck = (value) => typeof value === "number" && value >= 0;
const isWhole: FieldCheck = (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isIntent: FieldCheck = (value) =>
  isJsonObject(value) &&
  ["text", "agent", "skill", "policy", "tools", "limits", "hash"].every((field) => isText(value[field])) &&
  areTexts(value["constants"]) &&
  (value["previous"] === undefined || isText(value["previous"]));
const areTexts: FieldCheck = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === "string");
const hasCounts =
  (...counts: readonly string[]): FieldCheck =>
  (value) =>
    isJsonObject(value) && counts.every((field) => isCount(value[field]));

/** A count that cannot be read must not pass for none: constraints are held against it. */
const areUses: FieldCheck = (value) =>
  value === undefined ||
  (Array.isArray(value) &&
    value.every(
      (use) =>
        isJsonObject(use) &&
        isText(use["tool"]) &&
        isCount(use["calls"]) &&
        (use["inside"] === undefined || isCount(use["inside"])) &&
        typeof use["succeeded"] === "boolean",
    ));

const areActs: FieldCheck = (value) =>
  value === undefined ||
  (Array.isArray(value) &&
    value.every(
      (act) =>
        isJsonObject(act) &&
        ["callId", "tool", "effect", "arguments", "status", "result"].every((field) => isText(act[field])),
    ));

const checks: Readonly<Record<string, FieldCheck>> = {
  runId: isText,
  agent: isText,
  skill: isText,
  status: isText,
  intent: isIntent,
  transcript: (value) => isJsonObject(value) && Array.isArray(value["messages"]),
  ledger: (value) =>
    hasCounts("tokens")(value) &&
    isJsonObject(value) &&
    ["turns", "toolCalls", "sameToolInARow"].every((field) => isWhole(value[field])) &&
    (value["approved"] === undefined || areTexts(value["approved"])) &&
    areUses(value["uses"]),
  usage: hasCounts("inputTokens", "outputTokens"),
  driver: isWhole,
  modes: (value) => Array.isArray(value) && value.every(isJsonObject),
  acts: areActs,
  elapsedMs: isCount,
  answer: (value) => value === undefined || isJsonObject(value),
};

/** What is wrong with a value that was given as a checkpoint; undefined when it is one. Its transcript is read by itself. */
export function checkpointFault(value: unknown): string | undefined {
  const json = toJson(value);
  if (!json.ok) return json.reason;
  const given = json.value;
  if (!isJsonObject(given)) return "it is no object";
  const field = Object.keys(checks).find((key) => checks[key]?.(given[key]) === false);
  return field === undefined ? undefined : `its \`${field}\` cannot be read`;
}
