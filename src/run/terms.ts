import type { Step, StepTerms } from "../journal/journal.ts";

/** A step on the terms of a run. A step of a run inside keeps its own, and accepts the differences that the run around it accepts as well. */
export function onTerms<Given extends Pick<Step<unknown>, "terms">>(given: Given, terms: StepTerms): Given {
  if (given.terms === undefined) return { ...given, terms };
  if (terms.accept.size === 0) return given;
  const { run, accept } = given.terms;
  return { ...given, terms: { run, accept: accept.union(terms.accept) } };
}
