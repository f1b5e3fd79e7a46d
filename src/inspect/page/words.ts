import { type Json, visibleJson } from "../../util/json.ts";
import { visible, visibleText } from "../../util/visible.ts";
import type { CallState, InspectedCall } from "../view.ts";

/** A duration for people: `840 ms`, `8.2 s`, `3 min 5 s`, `2 d 3 h`. With a step, exact enough to differ from a duration that is one step longer. */
export function durationText(ms: number, step = Infinity): string {
  if (ms < 1) return "0 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const digits = step < 10 ? 3 : step < 100 ? 2 : 1;
  if (ms < 60_000 - 500 / 10 ** digits) return `${(ms / 1000).toFixed(digits)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  const second = step < 1000 ? ((ms / 1000) % 60).toFixed(digits) : seconds % 60;
  if (hours === 0) return `${minutes} min ${second} s`;
  const rest = step < 60_000 ? ` ${second} s` : "";
  return hours < 48
    ? `${hours} h ${minutes % 60} min${rest}`
    : `${Math.floor(hours / 24)} d ${hours % 24} h${step < 3_600_000 ? ` ${minutes % 60} min${rest}` : ""}`;
}

/** The age of a time, in words. */
export function agoText(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** A time of day with its date and zone, because an exported run may be read in another zone. */
export const timeText = (time: number): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });

/** A count with its thing: `1 call`, `2 calls`. */
export const countText = (count: number, thing: string): string =>
  `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

/** The word of a state, beside its sign. The calls of a reply that only look are recorded when they have ended. */
export const stateWords: Readonly<Record<CallState, string>> = {
  done: "done",
  failed: "failed",
  unknown: "unknown",
  refused: "refused",
  waiting: "waiting",
  open: "running",
  pending: "no record yet",
};

/** The signs of states, each with a shape of its own. */
export type Sign = CallState | "none";

/** The sign of the status of a run. */
export function signOf(status: string): Sign {
  if (status === "answered") return "done";
  if (status === "waiting" || status === "suspended") return "waiting";
  if (status === "running") return "open";
  if (status === "refused" || status === "cancelled") return "refused";
  return status === "ready" || status === "moved" ? "pending" : "failed";
}

/** A value as it is shown: a text as it is, everything else as JSON. Hidden characters are written out. */
export const shownValue = (value: unknown): string =>
  visibleText(typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? ""));

/** Arguments in a question, as JSON that a person can change: invisible characters, and those that reverse a line, become escapes. */
export const askedText = (args: Json): string => visibleJson(JSON.stringify(args, undefined, 2));

/** A value that no trusted source chose, with its place: invisible characters are written out. */
export const chosenText = ({ path, value }: { readonly path: string; readonly value: unknown }): string =>
  visible(`${path} = ${JSON.stringify(value)}`);

/** A value on one line, shortened if it is long. */
export const lineText = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return visibleText(text.length > 300 ? `${text.slice(0, 300)}…` : text);
};

/** The end of a call that was allowed, if it is not a result. */
const afterwards: Readonly<Partial<Record<CallState, string>>> = {
  failed: ", and failed",
  refused: ", but it did not run",
  unknown: "; nobody knows whether it happened",
};

/** The thing that a call waits for: its tool, once it was allowed, or a person before that. */
function waitText(asked: NonNullable<InspectedCall["question"]>["request"]): string {
  if (asked?.waitsFor === "time") return "Allowed; its tool sleeps";
  if (asked?.waitsFor !== undefined) return "Allowed; its tool waits for a signal";
  return asked?.unsettled === true
    ? "Allowed; waits for a person to say whether it happened"
    : "Waits for a person";
}

/** The verdict about a call as a heading. */
export function verdictText({ state, status, decision, question }: InspectedCall): string {
  if (state === "waiting") return waitText(question?.request);
  if (question?.answer !== undefined) return answerText(question.answer, state);
  if (decision?.verdict === "deny") return "Refused";
  if (state === "refused") return status === "skipped" ? "Skipped" : "Did not run";
  if (decision?.verdict === "ask") return "Asked about";
  return decision === undefined ? "No decision is recorded" : `Allowed${afterwards[state] ?? ""}`;
}

function answerText({ approved, expired }: GivenAnswer, state: CallState): string {
  if (approved) return `Allowed by a person${afterwards[state] ?? ""}`;
  return expired === true ? "Refused: nobody answered in time" : "Refused by a person";
}

type GivenAnswer = NonNullable<NonNullable<InspectedCall["question"]>["answer"]>;
