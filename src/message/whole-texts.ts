import { remembered } from "../util/remembered.ts";
import type { Message } from "./message.ts";

/**
 * The value with U+FFFD for each half of a character in its texts and the names of its fields: a tool leaves one that cuts a text anywhere. JSON has a word for a half;
 * providers refuse a request with one, and so each later request of the conversation too. The same value where all is whole.
 */
export function wholeTexts<Value extends object>(value: Value): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same value, but for letters of its texts
  return made(value) as Value;
}

// Depends on: the message.
const wholeMessage = remembered(wholeTexts<Message>);

/** The messages as {@link wholeTexts} gives them; the same object for the same message. */
export function withWholeTexts(messages: readonly Message[]): readonly Message[] {
  return messages.map(wholeMessage);
}

function made(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries<unknown>({ ...value });
  const whole = fields.map(([name, field]): [string, unknown] => [name.toWellFormed(), made(field)]);
  if (whole.every(([name, field], index) => name === fields[index]?.[0] && field === fields[index]?.[1]))
    return value;
  return Array.isArray(value) ? whole.map(([, field]) => field) : Object.fromEntries(whole);
}
