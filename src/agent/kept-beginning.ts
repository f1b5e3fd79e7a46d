import { WritError } from "../error/writ-error.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import { recordForm } from "../journal/record-form.ts";
import { withoutSecrets } from "../run/secrets.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { fingerprint } from "../util/hash.ts";
import { type Json, type JsonObject, toJson } from "../util/json.ts";
import { questionJson, readQuestion } from "./question.ts";
import type { RunOptions } from "./run-options.ts";

/** The place of a run inside a call, named by its work, so that runs may begin in another order the next time. */
export function placeOf(name: string, input: unknown): string {
  return `${name}~${fingerprint(canonicalJson(inputJson(input, name)))}`;
}

/** The fields that a run keeps with its beginning: everything needed to begin it again, as far as it is JSON. */
export function beginningOf(
  agent: string,
  input: unknown,
  { options, host }: { readonly options: RunOptions; readonly host: Host },
): JsonObject {
  const { skill, tools, instructions, intent, ceiling, session } = options;
  const kept = toJson({ skill, tools, instructions, intent, ceiling, session: session?.id });
  const said = { input: inputJson(input, agent), options: kept.ok ? kept.value : {} };
  return { form: recordForm, agent, ...withoutSecrets(said, host) };
}

/** An input as JSON. An input that is neither JSON nor a question (an object of a class, for a schema to parse) becomes null. */
function inputJson(input: unknown, name: string): Json {
  const json = toJson(input);
  if (json.ok) return json.value;
  try {
    const asked = readQuestion(input, name);
    return asked === undefined ? null : questionJson(asked);
  } catch {
    return null;
  }
}

/** The signal that hands a run over; undefined if it cannot be. @throws WritError `run-option-unusable` without a journal */
export function leavingOf(
  { handOver }: RunOptions,
  { name, journal }: { readonly name: string; readonly journal: Journal },
): AbortSignal | undefined {
  if (handOver === undefined || journal !== directJournal) return handOver;
  const reason = "without a journal nobody can go on with the run.";
  throw new WritError("run-option-unusable", { name, option: "handOver", reason });
}
