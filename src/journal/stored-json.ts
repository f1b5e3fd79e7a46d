import { messageOf, WritError } from "../error/writ-error.ts";
import { misfitAt } from "./kept-shapes.ts";

/** The value of JSON text that a store kept, as it was written. `what` names its place: `The record "start"`. @throws WritError `stored-unreadable` */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what was written there
export function storedJson<Value>(text: string, what: string): Value {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
    return JSON.parse(text) as Value;
  } catch (cause) {
    throw new WritError("stored-unreadable", { what, reason: messageOf(cause) }, { cause });
  }
}

/** The result of a record, as a step of its key wrote it. @throws WritError `stored-unreadable`, also for a result that such a step could not write */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the same
export function storedResult<Value>(key: string, json: string): Value {
  const what = `The record "${key}"`;
  const value = storedJson<Value>(json, what);
  const reason = misfitAt(key, value);
  if (reason !== undefined) throw new WritError("stored-unreadable", { what, reason });
  return value;
}
