/**
 * The role of an argument in a call: `target` says who, where or which thing it acts on, `id` which record of
 * the author's own, `amount` how much, `content` what is said. A parameter that is not listed counts as
 * `target` where the tool has an effect.
 */
export type ParameterRole = (typeof parameterRoles)[number];

export const parameterRoles = ["target", "content", "amount", "id"] as const;

/** The kind of value that an argument is: values are compared in the canonical form of their type. */
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
 * A place from which a value may come beside the user's own words. Made by `foundIn` and `listedBy`.
 *
 * `found-in`: a result of a tool whose own arguments were chosen holds it, as one of the values that the text says, or with `whole`
 * as all of a field. `listed-by`: the same for an exact item of a directory, whatever that was asked for.
 */
export interface ValueSource {
  readonly type: "found-in" | "listed-by";
  /** The name of the tool that gives it. */
  readonly tool: string;
  /** The value is all that stands in a field: no part of a text. Always so in a directory. */
  readonly whole?: true;
  /** The name of the field, at any depth, or names that it may have. Default: any. */
  readonly field?: string | readonly string[];
  /**
   * The field is one of the only record of that name in all that the tool gave: the user says the name of the record, in quotes or as its identifier, and
   * the name of the field. Needs `whole` and `field`.
   */
  readonly named?: true;
}

/** The words of an author on a parameter. */
export interface ParameterWords {
  readonly role: ParameterRole;
  /** The kind of value, where its form does not say it. */
  readonly type?: ValueType;
  /** Values that the author vouches for, here and nowhere else: a folder for downloads. */
  readonly constants?: readonly string[];
  /** Values from these places count as chosen here; where the tool has an effect, only if the request asks for such an act. */
  readonly from?: readonly ValueSource[];
}

/** A role, or more words. */
export type Parameter = ParameterRole | ParameterWords;

/** Roles of the arguments of a tool, by their names. `passengers.name` is a field within `passengers`, also in a list. */
export type Parameters = Readonly<Record<string, Parameter>>;
