import { joinLabels, type Label, labelledAs } from "../message/label.ts";
import { addedLabel } from "../policy/knowledge/result-label.ts";
import { errorWithoutSecrets } from "../run/secrets.ts";
import { untilStopped } from "../util/interrupt.ts";
import { fold, type Maybe } from "../util/maybe.ts";
import { settle } from "./settle.ts";
import { thrownResult } from "./thrown.ts";
import { checkResult } from "../tool/result.ts";
import { unlabelled, workOf } from "./run.ts";
import type { CallRun } from "../run/executor.ts";
import { fits, record, string } from "../util/shape.ts";
import type { CallRecord, Ready, Settled } from "./call.ts";
import { cancelledResult, skippedResult } from "./refused.ts";

/**
 * The end of a call that the runtime did not run: an executor's value or error in place of the tool's, its reason to skip the call, or a result
 * that the runtime makes.
 */
export type GivenEnd =
  | { readonly value: unknown }
  | { readonly error: unknown }
  | { readonly skipped: string }
  | Settled;

interface NotRun {
  readonly ready: Ready;
  readonly startedAt: number;
  /** The label of everything that the executor had read by then. */
  readonly label: Label;
}

/**
 * The record of a call that an executor ended in place of the runtime. Its value passes every check that a tool's value passes, except
 * time and recovery. @throws only the error of a journal
 */
export function settleGiven({ ready, startedAt, label }: NotRun, given: GivenEnd): Maybe<CallRecord> {
  const work = workOf(ready);
  const { host, stop } = ready.at.batch.run;
  const stopped: Settled = { result: cancelledResult(ready.tool.name), isOvertaken: true };
  work.isMended = true;
  work.around.saw(label);
  return fold(
    (): Maybe<Settled | "stopped"> => {
      if ("result" in given) return given;
      // The reason may repeat what the executor read: it is no better than what the tool would have given.
      if ("skipped" in given)
        return {
          result: labelledAs(skippedResult(given.skipped), joinLabels(label, addedLabel(ready.tool))),
        };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whatever the executor gave as the error is what is thrown
      if ("error" in given) throw errorWithoutSecrets(given.error, host) as Error;
      return untilStopped(checkResult(ready.tool, unlabelled(work, given.value)), stop);
    },
    (settled) => settle(work, settled === "stopped" ? stopped : settled, startedAt),
    (error) => settle(work, thrownResult(work, error), startedAt),
  );
}

/** A call that an executor was given. */
export interface HandedCall {
  readonly name: string;
  /** True if it was run. `token` is what `run` returned for it, once it has ended. */
  readonly wasRun: boolean;
  readonly token?: CallRun;
}

/** The first fault in the results of an executor, and the call that it concerns. */
export interface ResultFault {
  readonly call: string;
  readonly reason: string;
}

/** The valid results of an executor, by the ids of the calls that it did not have run. */
export interface ReadGiven {
  readonly own: ReadonlyMap<string, GivenEnd>;
  readonly fault?: ResultFault;
}

/** Reads the results of an executor: exactly one for each call. */
export function readGiven(results: unknown, calls: ReadonlyMap<string, HandedCall>): ReadGiven {
  if (!Array.isArray(results)) return { own: new Map(), fault: about("", "it gave no list of results") };
  const own = new Map<string, GivenEnd>();
  const faults: ResultFault[] = [];
  const seen = new Set<string>();
  for (const entry of results as readonly unknown[]) {
    const read = readEntry(entry, calls);
    const { call } = read;
    if ("given" in read && !seen.has(call)) own.set(call, read.given);
    else own.delete(call);
    if ("reason" in read) faults.push(read);
    else if (seen.has(call)) faults.push(about(call, `${named(call, calls)} has two results`));
    seen.add(call);
  }
  for (const id of calls.keys())
    if (!seen.has(id)) faults.push(about(id, `${named(id, calls)} has no result`));
  const [fault] = faults;
  return fault === undefined ? { own } : { own, fault };
}

type ReadEntry =
  | ResultFault
  | { readonly call: string }
  | { readonly call: string; readonly given: GivenEnd };

const kinds = ["value", "error", "skipped"] as const;

function readEntry(entry: unknown, calls: ReadonlyMap<string, HandedCall>): ReadEntry {
  if (!fits(record, entry) || !fits(string, entry["callId"]))
    return about("", "one of its results is not an object with the `callId` of a call");
  const id = entry["callId"];
  const call = calls.get(id);
  if (call === undefined) return about(id, `it was given no call "${id}"`);
  if (call.token !== undefined && Object.is(call.token, entry)) return { call: id };
  const has = kinds.filter((kind) => Object.hasOwn(entry, kind));
  const [kind] = has;
  const which = named(id, calls);
  if (call.wasRun) return about(id, `${which} was run, and what \`run\` gave must be its result as it is`);
  if (Object.hasOwn(entry, "result"))
    return about(id, `${which} has a \`result\`, which \`run\` alone gives`);
  if (kind === undefined)
    return about(id, `${which} has neither a \`value\` nor an \`error\` nor \`skipped\``);
  if (has.length > 1) return about(id, `${which} has more than one of ${has.join(", ")}`);
  if (kind === "skipped") return { call: id, given: { skipped: String(entry[kind]) } };
  return { call: id, given: kind === "value" ? { value: entry[kind] } : { error: entry[kind] } };
}

function about(call: string, reason: string): ResultFault {
  return { call, reason };
}

function named(id: string, calls: ReadonlyMap<string, HandedCall>): string {
  return `the call "${id}" of "${calls.get(id)?.name ?? ""}"`;
}

/** The end of a call for which the executor returned nothing valid: nobody knows what the executor did with it. */
export function notGiven(name: string, wasStopped: boolean): GivenEnd {
  const result = wasStopped
    ? cancelledResult(name)
    : ({
        status: "error",
        text: `Tool '${name}' has no result: the executor gave none that counts.`,
      } as const);
  return { result, isOvertaken: true };
}
