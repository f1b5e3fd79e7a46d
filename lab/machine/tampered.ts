/** Traces with one fault each, as a runtime with such a fault would leave them. The table must refuse each. */
import type { Happening } from "../../src/eval/simulate/happening.ts";
import { follow } from "./follow.ts";
import { type Drawn, drawnTraces, type Trace } from "./traces.ts";

type Kept = Extract<Happening, { readonly type: "stored" }>;

/** A fault of a trace. */
export interface Tampering {
  readonly says: string;
  /** The trace with the fault; undefined where the trace has nothing that could go wrong in that way. */
  readonly tamper: (happenings: readonly Happening[]) => readonly Happening[] | undefined;
}

const isCall = /(^|\/)call\/\d+$/;

/** Replaces the last happening that fits by others. */
function replaced(
  happenings: readonly Happening[],
  fits: (happening: Happening) => boolean,
  by: (happening: Happening) => readonly Happening[],
): readonly Happening[] | undefined {
  const place = happenings.findLastIndex(fits);
  const found = happenings[place];
  return found && happenings.toSpliced(place, 1, ...by(found));
}

/** A call in the journal: its beginning, or its result. */
function isKept(happening: Happening, has: "beginning" | "result"): happening is Kept {
  if (happening.type !== "stored" || happening.change.type !== "kept") return false;
  const { key, json } = happening.change.record;
  return isCall.test(key) && (json === undefined) === (has === "beginning");
}

/** The execution directly after the record that its call begins. */
const beganAndRan = (happening: Happening, place: number, all: readonly Happening[]): boolean =>
  happening.type === "executes" &&
  happening.execution.tookEffect &&
  isKept(all[place - 1] ?? happening, "beginning");

const keyOf = (one: Happening | undefined): string | undefined =>
  one?.type === "stored" && one.change.type === "kept" ? one.change.record.key : undefined;

const isAnswer = (one: Happening): boolean =>
  one.type === "stored" && one.change.type === "answered" && one.change.key.includes("approval/");

const twice = (happening: Happening): readonly Happening[] => [happening, happening];
const nothing = (): readonly Happening[] => [];

const idOf = (happening: Happening): string =>
  happening.type === "tells" && "callId" in happening.event ? String(happening.event.callId) : "";

const isNext = (one: Happening): boolean => one.type === "stored" && one.change.type === "taken";

const isDecided = (one: Happening, verdict: string, id?: string): boolean =>
  one.type === "tells" &&
  one.event.type === "call-decided" &&
  one.event.decision.verdict === verdict &&
  (id === undefined || one.event.callId === id);

export const tamperings: readonly Tampering[] = [
  {
    says: "a call that may not happen twice runs without a record of it",
    tamper: (all) => {
      const begun = keyOf(all[all.findLastIndex(beganAndRan) - 1]);
      if (begun === undefined) return undefined;
      return all.filter((one) => !isKept(one, "beginning") || keyOf(one) !== begun); // it may have begun twice: the second time after a look
    },
  },
  {
    says: "a call that may not happen twice runs twice",
    tamper: (all) => {
      const place = all.findLastIndex(beganAndRan);
      const ran = all[place];
      return ran && all.toSpliced(place, 0, ran);
    },
  },
  {
    says: "a second answer to a question is taken",
    tamper: (all) => {
      const before = all.findLastIndex(isNext); // its run goes on
      const place = all.slice(0, Math.max(before, 0)).findLastIndex(isAnswer);
      const answer = all[place];
      return answer && all.toSpliced(place, 0, answer);
    },
  },
  {
    says: "a second result of a call is kept",
    tamper: (all) => replaced(all, (one) => isKept(one, "result"), twice),
  },
  {
    says: "a call runs of which nobody was asked, though the policy says ask",
    tamper: (all) => {
      const yes = all.findLast((one) => one.type === "answers" && one.isYes);
      const ran = all.some(
        (one) => one.type === "executes" && yes?.type === "answers" && one.execution.callId === yes.callId,
      );
      return ran ? all.filter((one) => one !== yes) : undefined;
    },
  },
  {
    says: "a call runs that the policy forbids",
    tamper: (all) => {
      const other = all.find((one) => one.type === "executes");
      if (other?.type !== "executes") return undefined;
      const denied = (one: Happening): boolean =>
        isDecided(one, "deny") &&
        !["allow", "ask"].some((other) => all.some((each) => isDecided(each, other, idOf(one))));
      return replaced(all, denied, (one) => {
        if (one.type !== "tells" || one.event.type !== "call-decided") return [one];
        const { callId, runId } = one.event;
        return [one, { ...other, machine: one.machine, execution: { ...other.execution, callId, runId } }];
      });
    },
  },
  {
    says: "a run answers while a call of it has no result",
    tamper: (all) => {
      const answered = all.findLast((one) => one.type === "tells" && one.event.type === "run-end");
      if (
        answered?.type !== "tells" ||
        answered.event.type !== "run-end" ||
        answered.event.outcome.type !== "answered"
      )
        return undefined;
      const { runId } = answered.event;
      if (all.some(({ type }) => type === "stored")) return undefined;
      return replaced(
        all,
        (one) => one.type === "tells" && one.event.type === "tool-end" && one.event.runId === runId,
        nothing,
      );
    },
  },
];

/** The verdict of the table on one fault. */
export interface Tampered {
  readonly says: string;
  /** The traces that the fault was put into. */
  readonly tampered: number;
  /** The agent and the seed of the traces with the fault that the table accepts. */
  readonly passed: readonly string[];
}

/** Puts each fault into each trace that can have it. */
export async function refusedOfTampered(drawn: Drawn): Promise<readonly Tampered[]> {
  const found = tamperings.map(({ says, tamper }) => ({ says, tamper, tampered: 0, passed: [] as string[] }));
  for await (const trace of drawnTraces(drawn))
    for (const each of found) {
      const happenings = each.tamper(trace.happenings);
      if (happenings === undefined) continue;
      each.tampered += 1;
      if (isTaken({ ...trace, happenings })) each.passed.push(`${trace.agent} ${trace.seed}`);
    }
  return found.map(({ says, tampered, passed }) => ({ says, tampered, passed }));
}

function isTaken({ happenings, runs, tools }: Trace): boolean {
  try {
    follow(happenings, runs, tools);
    return true;
  } catch {
    return false;
  }
}
