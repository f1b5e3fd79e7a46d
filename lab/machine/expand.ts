/** Writes the table out for a number of calls and owners: each transition for each owner and call that can take it. */
import {
  type Bounds,
  invariants,
  often,
  type Transition,
  transitions,
  variables,
  verdicts,
} from "./table.ts";

/** One transition of one owner and one call. */
export interface Move {
  /** `begin-once 0 1`: by the first owner, of the second call. A place that it does not have is `-`. */
  readonly name: string;
  readonly when: readonly string[];
  readonly does: readonly string[];
}

/** The size of a variable; 1 is not a list. */
export function sizeOf(name: string, { calls, owners }: Bounds): number {
  const of = variables[name]?.of;
  if (of === "call") return calls;
  if (of === "owner") return owners;
  return of === "owner-call" ? calls * owners : 1;
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_none, index) => index);

/** Puts an owner and a call, which may both be left out, into a text of the table. */
function placed(
  text: string,
  bounds: Bounds,
  { owner, call }: { readonly owner?: number; readonly call?: number },
): string {
  const each = (inner: string, joint: string): string =>
    range(bounds.calls)
      .map((one) => placed(inner, bounds, { ...(owner === undefined ? {} : { owner }), call: one }))
      .map((one) => (joint === "; " ? one : `(${one})`))
      .join(joint);
  const whole = /^(EVERY|SOME|ALL)\((.*)\)$/.exec(text);
  if (whole !== null) {
    const [, word = "", inner = ""] = whole;
    return each(inner, word === "EVERY" ? " && " : word === "SOME" ? " || " : "; ");
  }
  const withPhase = text.replaceAll("$AT", `phase[${(owner ?? 0) * bounds.calls + (call ?? 0)}]`);
  const withCall = call === undefined ? withPhase : withPhase.replaceAll(/\[c\]/g, `[${call}]`);
  return withCall
    .replaceAll("[o]", `[${owner ?? 0}]`)
    .replaceAll(/\bo \+ 1\b/g, String((owner ?? 0) + 1))
    .replaceAll("CRASHES", String(bounds.crashes))
    .replaceAll("THEFTS", String(bounds.thefts));
}

/** The changes with each of the values that the world chooses in place of `$0` and `$1`. */
function choices({ does }: Transition): readonly (readonly string[])[] {
  if (!does.some((text) => text.includes("$0"))) return [does];
  return Object.values(verdicts).flatMap((verdict) =>
    Object.values(often).map((once) =>
      does.map((text) => text.replace("$0", String(verdict)).replace("$1", String(once))),
    ),
  );
}

/** All moves of a table within its bounds. */
export function movesOf(bounds: Bounds, table: readonly Transition[] = transitions): readonly Move[] {
  return table.flatMap((transition) => {
    const { name, by, when } = transition;
    const owners = by.startsWith("owner") ? range(bounds.owners) : [undefined];
    const isOfCall = [...when, ...transition.does].some(
      (text) => text.includes("[c]") && !/^(?:EVERY|SOME|ALL)/.test(text),
    );
    const calls = by === "owner-call" || isOfCall ? range(bounds.calls) : [undefined];
    return owners.flatMap((owner) =>
      calls.flatMap((call) => {
        const place = { ...(owner === undefined ? {} : { owner }), ...(call === undefined ? {} : { call }) };
        return choices(transition).map((does): Move => ({
          name: `${name} ${owner ?? "-"} ${call ?? "-"}`,
          when: when.map((text) => placed(text, bounds, place)),
          does: does.flatMap((text) => placed(text, bounds, place).split("; ")),
        }));
      }),
    );
  });
}

/** The invariants, each for all calls. */
export function invariantsOf(bounds: Bounds): readonly { readonly name: string; readonly holds: string }[] {
  return invariants.map(({ name, holds }) => ({ name, holds: placed(`EVERY(${holds})`, bounds, {}) }));
}
