import { assertNever } from "../../util/assert-never.ts";
import { checkShape, closed } from "../../error/check-shape.ts";
import type { Effect } from "../../tool/tool.ts";
import {
  list,
  number,
  oneOf,
  optional,
  refined,
  type Shape,
  string,
  variants,
  whole,
} from "../../util/shape.ts";

/** A bound of a run that a sentence can be about. */
type BoundField = "turns" | "toolCalls" | "tokens" | "costUsd";

/** All bounds that a sentence can be about. */
export const boundFields: readonly BoundField[] = ["turns", "toolCalls", "tokens", "costUsd"];

/** The tools that a sentence is about: by name, or all with one of these effects, but not both. An undeclared effect may be any. */
export interface AboutTools {
  readonly tools?: readonly string[];
  readonly effects?: readonly Exclude<Effect, "undeclared">[];
}

/** No call reaches a value that neither the user nor the author gave, unless a person agreed to the call. */
export interface GivenSentence extends AboutTools {
  readonly type: "given";
  /** The arguments that count. Default: all that say whom, what or how much. */
  readonly arguments?: readonly string[];
  /** Only calls after a result of one of these tools was read. Default: all calls. */
  readonly after?: readonly string[];
  /** Hosts whose addresses count as given: `example.com`, `*.example.com`. */
  readonly hosts?: readonly string[];
}

/** No value that the model writes after it read a source reaches the tools, unless a person agreed to the call. */
export interface ApartSentence extends AboutTools {
  readonly type: "apart";
  readonly from: readonly string[];
}

/** The tools never run, or never without a person. */
export interface NeverSentence extends AboutTools {
  readonly type: "never";
  readonly without?: "person";
  /** Only calls after a result of one of these tools was read. */
  readonly after?: readonly string[];
  /** Only in these skills, and in the agents inside that they call. */
  readonly skills?: readonly string[];
}

/** At most this many calls of the tools, all together, run in a run. */
export interface AtMostSentence extends AboutTools {
  readonly type: "at-most";
  readonly times: number;
  /** Only calls that no person agreed to count. */
  readonly without?: "person";
}

/** A run uses at most this much. For tokens and dollars: no request is made once this much was used. */
export interface BoundSentence {
  readonly type: "bound";
  readonly of: BoundField;
  readonly most: number;
}

/** No tool has a capability beyond these. */
export interface PowersSentence {
  readonly type: "powers";
  /** Capabilities as in manifests: `net(api.example.com)`, `fs.read(/data)`, `llm`. Empty: none at all. */
  readonly within: readonly string[];
}

/**
 * A sentence about every run of an agent, whatever its model says. Plain data: a file has a list of them.
 */
export type Sentence =
  | GivenSentence
  | ApartSentence
  | NeverSentence
  | AtMostSentence
  | BoundSentence
  | PowersSentence;

const some: Shape<readonly string[]> = refined(
  list(string),
  "must not be empty",
  (items) => items.length > 0,
);
const about = {
  type: string,
  tools: optional(some),
  effects: optional(
    refined(
      list(oneOf("none", "read", "write", "irreversible")),
      "must not be empty",
      (items) => items.length > 0,
    ),
  ),
} as const;
const person = optional(oneOf("person"));
const above = refined(number, "must be above 0", (value) => value > 0);

const kinds = {
  given: closed({ ...about, arguments: optional(some), after: optional(some), hosts: optional(some) }),
  apart: closed({ ...about, from: some }),
  never: closed({ ...about, without: person, after: optional(some), skills: optional(some) }),
  "at-most": closed({ ...about, times: whole, without: person }),
  bound: closed({ type: string, of: oneOf(...boundFields), most: above }),
  powers: closed({ type: string, within: list(string) }),
} as const;

const sentence = refined(
  variants("type", kinds, "a sentence"),
  "must have `tools` or `effects`, not both: write two sentences",
  ({ tools, effects }: { readonly tools?: unknown; readonly effects?: unknown }) =>
    tools === undefined || effects === undefined,
);
/** The shape of a list of sentences. */
export const sentencesShape: Shape<readonly object[]> = list(sentence, "a list of sentences");

/** @throws WritError `definition-invalid` */
export function checkSentences(where: string, sentences: unknown): asserts sentences is readonly Sentence[] {
  checkShape(where, sentences, sentencesShape);
}

/** A sentence in words. */
export function sentenceText(said: Sentence): string {
  switch (said.type) {
    case "given":
      return givenText(said);
    case "apart":
      return `Nothing that is written once ${listed(said.from)} was read reaches ${aboutText(said)}, ${unlessAgreed}.`;
    case "never":
      return `No call of ${aboutText(said)} runs${personText(said.without)}${afterText(said.after)}${skillsText(said.skills)}.`;
    case "at-most":
      return `At most ${said.times} ${said.times === 1 ? "call" : "calls"} of ${aboutText(said)} run${said.times === 1 ? "s" : ""}${personText(said.without)} in a run.`;
    case "bound":
      return boundText(said);
    case "powers":
      return `No tool has a capability${said.within.length === 0 ? "" : ` beyond ${said.within.join(", ")}`}.`;
    default:
      return assertNever(said);
  }
}

const unlessAgreed = "unless a person agreed to the call";

function givenText(said: GivenSentence): string {
  const what = said.arguments === undefined ? "a value" : `a value in \`${listed(said.arguments)}\``;
  const hosts = said.hosts === undefined ? "" : ` and that is not at ${listed(said.hosts)}`;
  return `No call of ${aboutText(said)} reaches ${what} that neither the user nor the author gave${hosts}${afterText(said.after)}, ${unlessAgreed}.`;
}

function skillsText(skills: readonly string[] | undefined): string {
  return skills === undefined ? "" : ` in the skill ${listed(skills)}`;
}

const boundWords = {
  turns: "turns",
  toolCalls: "calls of tools",
  tokens: "tokens",
  costUsd: "dollars",
} as const;

function boundText({ of, most }: BoundSentence): string {
  return of === "tokens" || of === "costUsd"
    ? `No request is made to the model once a run has used ${most} ${boundWords[of]}.`
    : `A run has at most ${most} ${boundWords[of]}.`;
}

function aboutText({ tools, effects }: AboutTools): string {
  if (tools !== undefined) return listed(tools);
  return effects === undefined ? "any tool" : `any tool with the effect ${listed(effects)}`;
}

function afterText(after: readonly string[] | undefined): string {
  return after === undefined ? "" : ` once ${listed(after)} was read`;
}

function personText(without: "person" | undefined): string {
  return without === undefined ? "" : " without a person";
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
