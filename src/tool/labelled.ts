import { WritError } from "../error/writ-error.ts";
import { isLabel, type Label } from "../message/label.ts";

/** The mark of labelled values. JSON cannot have a symbol, so a stranger's data never carries it. */
const byAnyCopy = Symbol.for("writ.labelled");

/**
 * A result with a label of its own, made with {@link labelled}.
 *
 * @example
 * ```ts
 * import { labelled, type Labelled } from "writ/tools";
 *
 * export const own = (text: string): Labelled<string> => labelled(text, { integrity: "trusted" });
 * ```
 */
export class Labelled<Value> {
  /** True also for a value from another copy of the package: a tool of a library has its own copy, and its label must not be lost. */
  static [Symbol.hasInstance](value: unknown): value is Labelled<unknown> {
    return typeof value === "object" && value !== null && byAnyCopy in value;
  }

  readonly value: Value;
  readonly label: Partial<Label>;

  constructor(value: Value, label: Partial<Label>) {
    Object.defineProperty(this, byAnyCopy, { value: true });
    this.value = value;
    this.label = label;
  }

  /** Inside of a result its label would be lost. @throws TypeError always */
  toJSON(): never {
    throw new TypeError("`labelled()` stands inside of it: label the whole result");
  }
}

/**
 * Gives a tool's result a label of its own, for a tool whose results differ in trust or secrecy. For fields that the label leaves out, the tool's own
 * declaration counts. The label is joined with the label of the arguments, and cannot raise that.
 *
 * @throws WritError `definition-invalid` for an invalid label: the call fails
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { labelled } from "writ/tools";
 *
 * export const readNote = tool({
 *   name: "read_note",
 *   description: "Read a note",
 *   inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
 *   effect: "read",
 *   execute: ({ name }) =>
 *     name === "own" ? labelled("Call Ada.", { integrity: "trusted" }) : labelled("Shared text", { integrity: "untrusted" }),
 * });
 * ```
 */
export function labelled<Value>(value: Value, label: Partial<Label>): Labelled<Value> {
  const whole = { integrity: "trusted", secrecy: "public", sources: [], ...label };
  if (!isLabel(whole) || Object.keys(whole).length > 3)
    throw new WritError("definition-invalid", {
      where: "labelled()",
      reason:
        'a label has `integrity` ("trusted" or "untrusted"), `secrecy` ("public", "private" or { readers: [...] }) and `sources`, a list of texts.',
    });
  return new Labelled(value, label);
}
