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

/** A role, with the type of the value where its form does not say it. */
export type Parameter = ParameterRole | { readonly role: ParameterRole; readonly type?: ValueType };

/** Roles of the arguments of a tool, by their names. */
export type Parameters = Readonly<Record<string, Parameter>>;
