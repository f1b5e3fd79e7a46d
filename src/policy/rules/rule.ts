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
  /** An address or a link whose host is this one, or beneath it with `*.` before it. */
  | { readonly type: "host-in"; readonly hosts: readonly string[] }
  /** Left out, null, an empty text or an empty list. */
  | { readonly type: "absent" };

/** A condition of a rule. Plain data: it can be kept, compared, hashed and read by people. */
export type Condition =
  | { readonly type: "all" | "any"; readonly of: readonly Condition[] }
  | { readonly type: "not"; readonly of: Condition }
  /** One argument, by its dotted path; of a list each value must pass. An absent argument passes `bound`. */
  | { readonly type: "argument"; readonly path: string; readonly is: ValueTest }
  /** Every value in the arguments of these roles. */
  | { readonly type: "roles"; readonly roles: readonly ParameterRole[]; readonly is: ValueTest }
  | { readonly type: "effect"; readonly in: readonly Effect[] }
  /** The model has seen untrusted data. */
  | { readonly type: "untrusted" }
  /** The tool looks outside (see `reaches` of an annotation). */
  | { readonly type: "reaches-outside" }
  /** The request speaks of the kind of act that the name of the tool says; `exactly`: of the very act, and of something that it acts on. */
  | { readonly type: "requested"; readonly exactly?: boolean }
  /** The call stands in the plan of the run, with these arguments, and was not carried out yet. */
  | { readonly type: "planned" }
  /** A model planned before it had read a stranger's words, and the plan has no act of this tool. */
  | { readonly type: "outside-plan" }
  /** An argument with the role `content` (or this one) has a link that no trusted source contained. */
  | { readonly type: "unknown-links"; readonly path?: string }
  /** The label of all that the model has seen forbids somebody whom the call's targets name. */
  | { readonly type: "secrecy-exceeds-targets" }
  /** So many calls of the tool have run already. */
  | { readonly type: "calls"; readonly atLeast: number };

/** One rule. Deny stands over ask, ask over allow, whatever their order; no match denies effects and allows what only looks. */
export interface Rule {
  readonly verdict: "allow" | "ask" | "deny";
  /** Names of tools, or `*` for all. */
  readonly tools: readonly string[];
  readonly when?: Condition;
  /** Holds unless this does. */
  readonly unless?: Condition;
  /** For people, and in short for the model. It must say nothing that the model may not know. */
  readonly because?: string;
  /** The arguments that a person is shown first. */
  readonly show?: readonly string[];
  /** Default: made of the verdict, the tools and its place. */
  readonly name?: string;
  /** An allow that stands over rules that ask, and under those that deny: see `exceptions` of a policy. */
  readonly exception?: true;
}

/** A policy's words on a tool beside the tool's own: for tools that others wrote. */
export interface Annotation {
  readonly effect?: Exclude<Effect, "undeclared">;
  /**
   * True if its results are the author's or the user's own data. With a form they are where they hold nothing but values of this type: in a
   * directory where anybody can add a name, a name that is a sentence makes the result a stranger's.
   */
  readonly trusted?: boolean | { readonly of: ValueType };
  /** It only looks, and what it is asked for is told outside: a page's owner reads which address was fetched. */
  readonly reaches?: "outside";
  /** True if its results for bound arguments are bound too: an address book, a directory of the author's. */
  readonly resolves?: boolean;
  readonly secrecy?: "private" | { readonly readers: readonly string[] };
  readonly parameters?: Parameters;
}

/** A policy as JSON. */
export interface PolicyJson {
  readonly name: string;
  /** `guarded`, `strict`: the rules of that name; or a list. */
  readonly rules: readonly Rule[] | "guarded" | "strict";
  /** More rules beside those that were named. */
  readonly extraRules?: readonly Rule[];
  /** Calls that need no question although a rule asks. Each allows; a rule that denies stands over it. */
  readonly exceptions?: readonly Rule[];
  readonly tools?: Readonly<Record<string, Annotation>>;
  /** Values that the author vouches for. */
  readonly constants?: readonly string[];
  /** The tools of each way of working. A skill of an agent that is named here may list no others. */
  readonly skills?: Readonly<Record<string, readonly string[]>>;
}
