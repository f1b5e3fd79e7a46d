/**
 * The role of an argument in its call: `target` says whom, where or which thing the call acts on, `id` which record of
 * the author's own, `amount` how much, `content` what is said. If the tool has an effect, an unlisted parameter counts as
 * `target`.
 */
export type ParameterRole = (typeof parameterRoles)[number];

export const parameterRoles = ["target", "content", "amount", "id"] as const;

/** The type of an argument's values, which are compared in the canonical form of that type. */
export type ValueType = (typeof valueTypes)[number];

export const valueTypes = [
  "email",
  "url",
  "host",
  "path",
  "iban",
  "phone",
  "date",
  "identifier",
  "number",
  "text",
] as const;

/**
 * A place, other than the user's own words, from which a value may come. Made by `foundIn` and `listedBy`.
 *
 * `found-in`: the result of a tool whose own arguments were chosen contains it, as one of the values in the text, or with `whole`
 * as the whole content of a field. `listed-by`: the same for an exact item of a directory, whatever the arguments were.
 */
export interface ValueSource {
  readonly type: "found-in" | "listed-by";
  /** The name of the tool that returns it. */
  readonly tool: string;
  /** True if the value must be the whole content of a field, not a part of a text. Always true for a directory. */
  readonly whole?: true;
  /** The name of the field, at any depth, or its possible names. Default: any. */
  readonly field?: string | readonly string[];
  /**
   * True if the field must belong to the only record of its name in all results of the tool. The user says the name of the record, in quotes or as its
   * identifier, and the name of the field. Needs `whole` and `field`.
   */
  readonly named?: true;
}

/** An author's words on a parameter. */
export interface ParameterWords {
  readonly role: ParameterRole;
  /** The type of its values, if their form does not show it. */
  readonly type?: ValueType;
  /** Values that the author vouches for in this parameter only: a folder for downloads. */
  readonly constants?: readonly string[];
  /** Values from these places count as chosen here; if the tool has an effect, only if the request asks for such an act. */
  readonly from?: readonly ValueSource[];
}

/** A role, or more words on the parameter. */
export type Parameter = ParameterRole | ParameterWords;

/** The roles of a tool's arguments, by name. `passengers.name` is a field inside `passengers`, which may be a list. */
export type Parameters = Readonly<Record<string, Parameter>>;
