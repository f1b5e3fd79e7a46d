import type { ResultStatus } from "../../message/message.ts";
import { isCarriedOut } from "../run-matchers.ts";
import { type Check, shown, type ValueCheck, valueCheck } from "./check.ts";
import type { ExpectedCall } from "./eval-case.ts";
import type { EvaluatedCall, EvaluatedRun } from "./eval-report.ts";
import { valueSchema } from "./value-schema.ts";

/** An expected call, ready to be compared with calls. */
interface CallMatcher {
  readonly wanted: ExpectedCall;
  /** The reason why a call does not fit; undefined if it fits. */
  readonly fault: (call: EvaluatedCall) => Promise<string | undefined>;
}

/** @throws WritError `schema-invalid` for a pattern in `with` */
export function callMatcher(wanted: ExpectedCall): CallMatcher {
  const fitsArguments: ValueCheck | undefined =
    wanted.with === undefined ? undefined : valueCheck(valueSchema(wanted.with));
  return {
    wanted,
    async fault({ tool, status, arguments: args }) {
      if (tool !== wanted.tool) return `it is a call of ${tool}`;
      const wrong = await fitsArguments?.(args);
      return wrong ?? statusFault(wanted.status, status);
    },
  };
}

function statusFault(wanted: ExpectedCall["status"], found: ResultStatus): string | undefined {
  if (wanted === "any" || wanted === found) return undefined;
  if (wanted === undefined) return isCarriedOut(found) ? undefined : `it was not carried out: ${found}`;
  return `it ended as ${found}, not as ${wanted}`;
}

/** Checks of `calls`: one call for each expectation, no call for two of them, and as many as `times` says. */
export function callChecks(matchers: readonly CallMatcher[]): Check[] {
  return matchers.map((matcher, index) => ({
    path: ["calls", index],
    async fault({ calls }) {
      const fitting = await Promise.all(
        matchers.slice(0, index + 1).map((each) => fittingCalls(each, calls)),
      );
      const { times } = matcher.wanted;
      const own = fitting[index]?.length ?? 0;
      if (times !== undefined)
        return own === times
          ? undefined
          : `${callText(matcher.wanted)} was made ${own} times, not ${times}${await nearest(matcher, calls)}`;
      const others = fitting.filter((_, place) => matchers[place]?.wanted.times === undefined);
      if (isOneForEach(others)) return undefined;
      const made = own === 0 ? "was not made" : "was not made once more";
      return `${callText(matcher.wanted)} ${made}${await nearest(matcher, calls)}`;
    },
  }));
}

/** The check of `order`: each of the calls, somewhere after the one before it. */
export function orderCheck(matchers: readonly CallMatcher[]): Check {
  return {
    path: ["order"],
    async fault({ calls }) {
      let from = 0;
      let before = "";
      for (const matcher of matchers) {
        const places = await fittingCalls(matcher, calls);
        const place = places.find((one) => one >= from);
        if (place === undefined)
          return `${callText(matcher.wanted)} was not made${before}${await nearest(matcher, calls.slice(from))}`;
        from = place + 1;
        before = ` after ${callText(matcher.wanted)}`;
      }
      return undefined;
    },
  };
}

/** Checks of `never`: no such call. */
export function neverChecks(matchers: readonly CallMatcher[]): Check[] {
  return matchers.map((matcher, index) => ({
    path: ["never", index],
    async fault({ calls }) {
      const [first] = await fittingCalls(matcher, calls);
      const call = first === undefined ? undefined : calls[first];
      return call === undefined ? undefined : `${madeText(call)} was made`;
    },
  }));
}

async function fittingCalls(matcher: CallMatcher, calls: EvaluatedRun["calls"]): Promise<readonly number[]> {
  const faults = await Promise.all(calls.map((call) => matcher.fault(call)));
  return faults.flatMap((fault, place) => (fault === undefined ? [place] : []));
}

/** True if the last list can have a place of its own, after others moved to another of their places. */
function isOneForEach(lists: readonly (readonly number[])[]): boolean {
  const owners = new Map<number, number>();
  const settle = (list: number, tried: Set<number>): boolean =>
    (lists[list] ?? []).some((place) => {
      if (tried.has(place)) return false;
      tried.add(place);
      const owner = owners.get(place);
      if (owner !== undefined && !settle(owner, tried)) return false;
      owners.set(place, list);
      return true;
    });
  return lists.map((_, list) => settle(list, new Set())).at(-1) ?? true;
}

/**
 * The calls that were made instead: those of the tool with the reason why they do not fit, or, if there are none, the names of
 * all calls.
 */
async function nearest({ wanted, fault }: CallMatcher, calls: EvaluatedRun["calls"]): Promise<string> {
  const same = calls.filter(({ tool }) => tool === wanted.tool);
  if (same.length > 0) {
    const told = await Promise.all(
      same.slice(0, 3).map(async (call) => {
        const reason = await fault(call);
        return reason === undefined ? madeText(call) : `${madeText(call)} (${reason})`;
      }),
    );
    return `; there was ${told.join(", ")}`;
  }
  if (calls.length === 0) return "; there was no call";
  return `; there was ${[...new Set(calls.map(({ tool }) => tool))].join(", ")}`;
}

function callText({ tool, with: wanted, status }: ExpectedCall): string {
  const args = wanted === undefined ? "" : ` ${shown(wanted)}`;
  return `${tool}${args}${status === undefined || status === "any" ? "" : ` as ${status}`}`;
}

function madeText({ tool, arguments: args, status }: EvaluatedCall): string {
  return `${tool} ${typeof args === "string" ? args : shown(args)}${status === "ok" ? "" : ` as ${status}`}`;
}
