import type { KeptWait } from "../call/waiting.ts";
import { checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { describeIssues } from "../schema/schema.ts";
import { toSchema } from "../schema/to-schema.ts";
import { type Json, wholeJson } from "../util/json.ts";
import { anything, filled, optional, string } from "../util/shape.ts";
import type { RunSignal, RunStore, WaitingQuestion } from "./run-store.ts";

/** A signal as a program sends it. */
export interface SentSignal extends Pick<RunSignal, "name"> {
  /** Its payload. Default: null. */
  readonly value?: Json;
  /** The id of the signal: a second one with the same id changes nothing. Default: a new id. */
  readonly id?: string;
}

const shape = closed({ name: filled, value: anything, id: optional(string) });

/** A signal as stores take it. @throws WritError `definition-invalid` */
export function readSignal(sent: SentSignal, { randomId }: Pick<Host, "randomId">): RunSignal {
  const where = "signal() of durable runs";
  checkShape(where, sent, shape);
  const { name, value = null, id = randomId() } = sent;
  const json = wholeJson(value);
  if (json.ok) return { name, value: json.value, id };
  throw new WritError("definition-invalid", { where, reason: `\`value\` is not JSON: ${json.reason}` });
}

/** The fingerprint of a signal that was kept before anything waited for it. */
export const printOfSignal = (name: string): string => `signal ${name}`;

/** The key of a signal among the records of its run. The answer to the wait that it ends stands behind it. */
export const keyOfSignal = ({ id }: Pick<RunSignal, "id">): string => `signal/${id}`;

/** The fields of a signal's record after a wait has taken it: only its id is still needed. */
export const takenSignal = { fingerprint: "signal", json: "null" } as const;

/** The JSON text of the record that answers a wait for a signal. */
export const signalAnswer = ({ value }: Pick<RunSignal, "value">): string =>
  JSON.stringify({ value } satisfies KeptWait);

/** The record of a signal: kept for the next wait of its name, or taken. */
export function signalRecord(signal: RunSignal, isTaken: boolean): Required<JournalRecord> {
  const key = keyOfSignal(signal);
  if (isTaken) return { key, ...takenSignal };
  return { key, fingerprint: printOfSignal(signal.name), json: signalAnswer(signal) };
}

/** Tells whether a signal of this name answers the question. */
export function isWaitFor({ request }: Pick<WaitingQuestion, "request">, name: string): boolean {
  const { waitsFor } = request;
  return waitsFor !== undefined && waitsFor !== "time" && waitsFor.signal === name;
}

/** True of the record of a signal that a wait has taken. */
export function isTakenSignal({ key, fingerprint }: JournalRecord): boolean {
  return fingerprint === takenSignal.fingerprint && key.startsWith(keyOfSignal({ id: "" }));
}

/** Checks a signal against the schema of the wait that it would end. A signal that was sent before changes nothing. @throws WritError `signal-invalid` */
export async function checkSignal(
  store: Pick<RunStore, "questions" | "records">,
  run: string,
  signal: RunSignal,
): Promise<void> {
  const { name, value } = signal;
  const waitsFor = (await store.questions(run)).find((each) => isWaitFor(each, name))?.request.waitsFor;
  if (waitsFor === undefined || waitsFor === "time" || waitsFor.schema === undefined) return;
  const parsed = await toSchema(waitsFor.schema, { name, role: "input", coerce: "none" }).parse(value);
  if (parsed.ok || (await store.records(run)).some(({ key }) => key === keyOfSignal(signal))) return;
  throw new WritError("signal-invalid", { name, issues: describeIssues(parsed.issues) });
}
