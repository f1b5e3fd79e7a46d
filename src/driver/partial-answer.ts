import type { Json } from "../util/json.ts";
import { partialJson } from "../util/partial-json.ts";
import type { Driver, TurnInput } from "./driver.ts";

/**
 * Follows the answer of a reply while the model writes it. The returned function takes each piece of the reply's text, and returns a snapshot of
 * the answer if the piece added to it, otherwise undefined. Undefined if the answer is held to no schema, or the driver's replies are not JSON.
 */
export function followAnswer(
  driver: Driver,
  { output }: TurnInput,
): ((piece: string) => Json | undefined) | undefined {
  if (output === undefined || driver.partialAnswer === undefined) return undefined;
  const reader = partialJson();
  let last: Json | undefined;
  return (piece) => {
    reader.push(piece);
    const read = reader.value();
    const answer = read === undefined ? undefined : driver.partialAnswer?.(read);
    if (answer === last) return undefined;
    last = answer;
    return answer;
  };
}
