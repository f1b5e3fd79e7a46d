import type { Tool } from "../../tool/tool.ts";
import type { JsonObject } from "../../util/json.ts";

/** A call that must be made. */
export interface ExpectedCall {
  readonly tool: string;
  /** The right arguments: any one of these. Texts are compared without case and surrounding blanks. */
  readonly arguments: readonly JsonObject[];
}

/** A call that must be made, with its right arguments: any one of these. */
export function call(tool: string, ...right: readonly JsonObject[]): ExpectedCall {
  return { tool, arguments: right };
}

/** One task of the probe: its question, its tools, and the calls and answer of a right run. */
export interface ProbeCase {
  readonly name: string;
  readonly input: string;
  readonly tools: readonly Tool[];
  /** The calls of a right run, all of them and no other; none if the model must not call. */
  readonly calls: readonly ExpectedCall[];
  /** `fixed`: the calls come in this order. Default: in any. */
  readonly order?: "fixed";
  /** Set if a call fails: the same call again is not a mistake. */
  readonly mayRepeat?: true;
  /**
   * The contents of a right answer: each of these, or one of several. Numbers are found as numbers. Default: any
   * text that is not empty.
   */
  readonly answer?: readonly (string | readonly string[])[];
}

/** True for a case that asks for no call. */
export function asksForRestraint({ calls }: Pick<ProbeCase, "calls">): boolean {
  return calls.length === 0;
}
