/**
 * What an argument is to a call: `target` says who, where or which thing it acts on, `id` which record of the author's own, `amount` how much,
 * `content` what is said. A parameter that is not listed counts as `target` where the tool has an effect.
 */
export type ParameterRole = (typeof parameterRoles)[number];

export const parameterRoles = ["target", "content", "amount", "id"] as const;

/** What kind of value an argument is: values are compared in the one canonical form of their type, never as pieces of text. */
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

/** What the arguments of a tool are to its calls, by their names. */
export type Parameters = Readonly<Record<string, Parameter>>;
