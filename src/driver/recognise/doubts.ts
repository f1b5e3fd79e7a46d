import type { LayerName } from "./recognise.ts";

const denial =
  /\b(?:none of the|no (?:suitable |provided |available |specific |relevant |such |direct )?(?:functions?|tools?)\b|not (?:suitable|applicable|relevant|designed|appropriate|directly|related|possible|sufficient|available)|(?:cannot|can't|can not|unable to|doesn't|does not|do not|don't) (?:be used|directly|provide|answer|find|use|support|have|seem|include|fulfill|help|require|appear)|(?:need|require|use|using) an? (?:different|another|separate|external)|(?:would|may|might|will) need (?:an?|additional)|not enough information|isn't (?:suitable|possible|designed|related|directly)|(?:is|are) missing)\b/i;
const example =
  /\b(?:for (?:example|instance)|e\.g\.|an example|hypothetical(?:ly)?|illustrat\w+|suppose|if (?:you|we|i) (?:still )?(?:want|were|had|would|need))\b/i;
const asking =
  /\b(?:please (?:provide|specify|clarify|let me know|tell)|(?:could|can) you (?:please )?(?:provide|specify|clarify|tell)|i need (?:more|to know|the following)|need more information)\b/i;
const objection =
  /\b(?:however|but (?:it|this|the|that|since)|cannot|can't|unable to|unfortunately|not (?:directly|suitable|applicable|relevant|designed|appropriate|related|possible|sufficient))\b/i;
/** The sentence that introduces a call says that it is not made, or that somebody else said it. */
const refusal =
  /\b(?:not|never|refuse|won't|can't|cannot|don't|shouldn't|wouldn't|mustn't)\b[^.!?\n]{0,80}[:.,]?\s*(?:```\w*\s*)?$/i;
const report = /\b(?:says?|said|wrote|writes|contains?|reads?|quoted?)\s*:\s*(?:```\w*\s*)?$/i;
/** Lengths of the texts before and behind a call that are looked at. */
const lengthBefore = 800;
const lengthAfter = 250;

/** The place of calls in a text. */
export interface Surroundings {
  readonly layer: LayerName;
  readonly before: string;
  readonly after: string;
}

/**
 * The reason for which calls are only talked about, by their place and by the words around them: they are
 * quoted, shown as an example, denied, or questioned. Undefined when they are meant. Marks that models were
 * trained to set around calls weigh more than words that deny or object, which may be about something else.
 * The words are English; what stands in quotes does so in any language.
 */
export function doubtOf({ layer, before, after }: Surroundings): string | undefined {
  if (layer === "whole") return undefined;
  const first = before.slice(-lengthBefore);
  const last = after.slice(0, lengthAfter);
  const isTagged = layer === "tagged";
  const introduction = first.slice(-200);
  if ((isTagged && /["'`“”«»]\s?$/.test(first)) || report.test(introduction)) return "it is quoted";
  if (refusal.test(introduction)) return "the words before it say that it is not made";
  if (!isTagged && denial.test(first)) return "the words before it say that no tool fits";
  if (example.test(first)) return "it is shown as an example";
  if (asking.test(first) || (isTagged && asking.test(last)))
    return "the words around it ask for what it needs";
  return !isTagged && objection.test(last) ? "the words after it object to it" : undefined;
}
