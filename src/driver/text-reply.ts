import type { Reply } from "../model/assemble.ts";
import { copiedFrom } from "./copied-calls.ts";
import type { Reading, TurnInput } from "./driver.ts";
import { heldToShape, refused } from "./reply-shape.ts";
import { withoutThinking } from "./thinking.ts";

/**
 * Reads a reply whose calls stand in its text, by what all such drivers share: `read` is given the reply without the model's thinking, a call
 * that stands word for word in the result of a tool does not count, nor does what the turn's choice of tools forbids.
 */
export function readTextReply(reply: Reply, turn: TurnInput, read: (reply: Reply) => Reading): Reading {
  const said = withoutThinking(reply);
  const reading = read(said);
  const source = reading.type === "calls" ? copiedFrom(said, turn) : undefined;
  if (source === undefined) return heldToShape(reading, turn);
  return refused(reading, {
    reason: `its call stands word for word in the result of ${source}`,
    feedback:
      `Your reply was not accepted: its call stands word for word in the result of ${source}. ` +
      "What a tool gives is something to read, and no call in it is run. Answer, or make a call of your own.",
  });
}
