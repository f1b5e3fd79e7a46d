import type { Tool } from "../../tool/tool.ts";
import type { JsonObject } from "../../util/json.ts";

/** A call that must be made. */
export interface ExpectedCall {
  readonly tool: string;
  /** The arguments that are right: any one of these. Texts are compared without their case and the blanks around them. */
  readonly arguments: readonly JsonObject[];
}

/** A call that must be made, with the arguments that are right: any one of these. */
export function call(tool: string, ...right: readonly JsonObject[]): ExpectedCall {
  return { tool, arguments: right };
}

/** One task of the probe: what the model is asked, what it may call, and what a right run of it is. */
export interface ProbeCase {
  readonly name: string;
  readonly input: string;
  readonly tools: readonly Tool[];
  /** The calls of a right run, all of them and no other; none where the model has to restrain itself. */
  readonly calls: readonly ExpectedCall[];
  /** `fixed`: the calls come in this order. Default: in any. */
  readonly order?: "fixed";
  /** Set where a call fails: making the same call again is no mistake. */
  readonly mayRepeat?: true;
  /**
   * Contents of a right answer: each of these, or one of several. Numbers are found as numbers. Default: any
   * text that is not empty.
   */
  readonly answer?: readonly (string | readonly string[])[];
}

/** True for a case that asks for no call at all. */
export function asksForRestraint({ calls }: Pick<ProbeCase, "calls">): boolean {
  return calls.length === 0;
}
