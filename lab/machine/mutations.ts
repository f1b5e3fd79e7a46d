/** Rules of the table that are left out or changed. Spin must find each: a model that no fault breaks proves nothing. */
import { type Transition, transitions } from "./table.ts";

export interface Mutation {
  readonly says: string;
  readonly table: readonly Transition[];
  /** The invariant that it breaks; `stuck`: a run that can neither go on nor end. */
  readonly breaks: string;
}

/** A transition without some of its guards or changes. */
function without(name: string, ...texts: readonly string[]): readonly Transition[] {
  return transitions.map((one) => {
    if (one.name !== name) return one;
    const left = (all: readonly string[]): readonly string[] => all.filter((text) => !texts.includes(text));
    const lacking = texts.filter((text) => ![...one.when, ...one.does].includes(text));
    if (lacking.length > 0) throw new Error(`"${name}" has no ${lacking.join(", ")}.`);
    return { ...one, when: left(one.when), does: left(one.does) };
  });
}

export const mutations: readonly Mutation[] = [
  {
    says: "a call that may not happen twice begins without a record of it",
    table: without("begin-once", "began[c] = 1"),
    breaks: "began-first",
  },
  {
    says: "a second answer to a question is taken",
    table: without("approve", "answer[c] == 0"),
    breaks: "single-use",
  },
  {
    says: "the result of a former owner is taken",
    table: without("record", "claim == o + 1", "results[c] == 0"),
    breaks: "one-result",
  },
  {
    says: "an owner begins again what an earlier one began",
    table: without("propose", "claim != o + 1 || began[c] == 0").map((one) =>
      one.name === "begin-once" ? { ...one, when: one.when.filter((text) => text !== "began[c] == 0") } : one,
    ),
    breaks: "began-first",
  },
  {
    says: "what the policy would ask about is allowed",
    table: without("allow", "verdict[c] == 0"),
    breaks: "judge-and-person",
  },
  {
    says: "a run ends before each call has its result",
    table: without("finish", "EVERY(results[c] == 1)"),
    breaks: "one-result",
  },
  {
    says: "nobody takes up a call that an earlier owner began",
    table: transitions.filter(({ name }) => name !== "lost"),
    breaks: "stuck",
  },
];
