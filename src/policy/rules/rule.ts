import type { ParameterRole, Parameters, ValueType } from "../../tool/parameters.ts";
import type { Effect } from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";

/** A test of one value of an argument. */
export type ValueTest =
  /** The user's own choice (see `RunKnowledge.isBound`). */
  | { readonly type: "bound"; readonly as?: ValueType }
  | { readonly type: "one-of"; readonly values: readonly Json[] }
  /** A number within these bounds, both included. */
  | { readonly type: "within"; readonly min?: number; readonly max?: number }
  /** An address or a link whose host is one of these, or beneath one that begins with `*.`. */
  | { readonly type: "host-in"; readonly hosts: readonly string[] }
  /** Left out, null, an empty text or an empty list; `orDefault`: or a default of the author's schema stands there. */
  | { readonly type: "absent"; readonly orDefault?: boolean };

/** A condition of a rule. Plain data: it can be kept, compared, hashed and read by people. */
export type Condition =
  | { readonly type: "all" | "any"; readonly of: readonly Condition[] }
  | { readonly type: "not"; readonly of: Condition }
  /** One argument, by its dotted path; in a list every value must pass. An absent argument passes `bound`. */
  | { readonly type: "argument"; readonly path: string; readonly is: ValueTest }
  /** Every value in the arguments with these roles. */
  | { readonly type: "roles"; readonly roles: readonly ParameterRole[]; readonly is: ValueTest }
  | { readonly type: "effect"; readonly in: readonly Effect[] }
  /** The model has seen untrusted data. */
  | { readonly type: "untrusted" }
  /** The tool looks outside (see `reaches` of an annotation). */
  | { readonly type: "reaches-outside" }
  /** The request names the kind of act in the tool's name; `exactly`: this very act, and something that it acts on. */
  | { readonly type: "requested"; readonly exactly?: boolean }
  /** The call is in the plan of the run, with these arguments, and was not carried out yet. */
  | { readonly type: "planned" }
  /** A model planned before it had read a stranger's words, and the plan has no act of this tool. */
  | { readonly type: "outside-plan" }
  /** An argument with the role `content` (or this one) has a link that occurs in no trusted source. */
  | { readonly type: "unknown-links"; readonly path?: string }
  /** The label of everything that the model has seen forbids a reader whom the call's targets name. */
  | { readonly type: "secrecy-exceeds-targets" }
  /** At least so many calls of the tool have run already. */
  | { readonly type: "calls"; readonly atLeast: number };

/** One rule. Deny overrides ask, and ask overrides allow, in any order; without a match, effects are denied and calls that only look are allowed. */
export interface Rule {
  readonly verdict: "allow" | "ask" | "deny";
  /** Names of tools, or `*` for all. */
  readonly tools: readonly string[];
  readonly when?: Condition;
  /** The rule does not hold if this does. */
  readonly unless?: Condition;
  /** The reason, for people, and in short for the model. It must say nothing that the model may not know. */
  readonly because?: string;
  /** The arguments that a person is shown first. */
  readonly show?: readonly string[];
  /** The name in decisions. Default: made from the verdict, the tools and the place of the rule. */
  readonly name?: string;
  /** True for an allow that overrides rules that ask, but not rules that deny: see `exceptions` of a policy. */
  readonly exception?: true;
}

/** A policy's words on a tool that override the tool's own: for tools that others wrote. */
export interface Annotation {
  readonly effect?: Exclude<Effect, "undeclared">;
  /**
   * True if its results are the author's or the user's own data. With a form, they are if they hold only values of this type: in a
   * directory where anybody can add a name, a name that is a sentence makes the result a stranger's.
   */
  readonly trusted?: boolean | { readonly of: ValueType };
  /** The tool only looks, but its arguments are revealed outside: the owner of a page sees which address was fetched. */
  readonly reaches?: "outside";
  /** True if its results for bound arguments are bound too: an address book, or a directory of the author. */
  readonly resolves?: boolean;
  readonly secrecy?: "private" | { readonly readers: readonly string[] };
  readonly parameters?: Parameters;
}

/** A policy as JSON. */
export interface PolicyJson {
  readonly name: string;
  /** The preset `guarded` or `strict`, or a list of rules. */
  readonly rules: readonly Rule[] | "guarded" | "strict";
  /** Rules in addition to those of the preset. */
  readonly extraRules?: readonly Rule[];
  /** Calls that need no question although a rule asks. Each is an allow; a rule that denies overrides it. */
  readonly exceptions?: readonly Rule[];
  readonly tools?: Readonly<Record<string, Annotation>>;
  /** Values that the author vouches for. */
  readonly constants?: readonly string[];
  /** The tools of each skill. A skill of an agent that is named here may list no others. */
  readonly skills?: Readonly<Record<string, readonly string[]>>;
}
