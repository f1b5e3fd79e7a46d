import type { Driver, TurnInput } from "../driver/driver.ts";
import { followAnswer } from "../driver/partial-answer.ts";
import { thinkingFilter, type Told } from "../driver/thinking.ts";
import type { RunEvent } from "../event/event.ts";
import { textOf } from "../message/message.ts";
import type { Reply } from "../model/assemble.ts";
import type { Delta } from "../model/model.ts";

interface Teller {
  push(delta: Delta): void;
  /** Tells what was held back, once the reply is whole. */
  end(reply: Reply): void;
}

/**
 * Tells live what a delta adds to the answer, and to what can be shown of the reply. The model's thoughts in
 * its text belong to neither. The end of an answer may be held back because it might become a call; it is
 * told last, so that the pieces add up to the answer.
 */
export function teller(driver: Driver, input: TurnInput, telling: Telling): Teller {
  const { turn, emit } = telling;
  const begin = () => ({
    follow: followAnswer(driver, input),
    show: driver.passthrough ? (driver.visibleText?.(input) ?? asItIs) : shownBy(driver, input),
  });
  let { follow, show } = begin();
  const thinking = thinkingFilter();
  let shown = "";
  let saidLength = 0;
  const tell = (type: "text-delta" | "reasoning-delta", text: string): void => {
    if (text !== "") emit({ type, turn, text });
  };
  const add = ({ text, thought, wasThought }: Told): void => {
    if (driver.passthrough) tell("reasoning-delta", thought);
    if (wasThought === true) {
      [shown, saidLength] = ["", 0];
      ({ follow, show } = begin());
    }
    const partial = follow?.(text);
    if (partial !== undefined) emit({ type: "output-delta", turn, partial });
    const visible = show?.(text) ?? "";
    shown += visible;
    saidLength += text.length;
    tell("text-delta", visible);
  };
  return {
    push(delta) {
      if (delta.type === "text-delta") add(thinking.push(delta.text));
      else if (driver.passthrough) emitDelta(delta, telling);
    },
    end(reply) {
      add(thinking.end());
      const isAllShown = driver.passthrough && shown.length === saidLength;
      if (isAllShown || show === undefined) return;
      const reading = driver.read(reply, input);
      const answer = reading.type === "final" ? textOf(reading.message) : "";
      if (answer.startsWith(shown)) tell("text-delta", answer.slice(shown.length));
    },
  };
}

const asItIs = (text: string): string => text;

/**
 * The part of a reply's text that can be shown: the text in its frame, or the text without the blanks around it, which are not part of an
 * answer.
 */
function shownBy(driver: Driver, input: TurnInput): ((text: string) => string) | undefined {
  if (driver.answerText !== undefined) return driver.answerText(input);
  const visible = driver.visibleText?.(input);
  if (visible === undefined) return undefined;
  let held = "";
  let hasBegun = false;
  return (piece) => {
    const text = held + visible(piece);
    const said = hasBegun ? text : text.trimStart();
    const kept = said.trimEnd();
    hasBegun ||= kept !== "";
    held = said.slice(kept.length);
    return kept;
  };
}

interface Telling {
  readonly turn: number;
  /** The id and name of a call in the transcript, by the id that the provider gave it. */
  readonly names: { of(proposed: string): { readonly id: string; readonly name: string } };
  readonly emit: (event: RunEvent) => void;
  /** The one tool through which others are called: a call is not told before it is whole and names its tool. */
  readonly caller?: string;
}

function emitDelta(delta: Delta, { turn, names, emit, caller }: Telling): void {
  if (delta.type === "reasoning-delta") emit({ type: delta.type, turn, text: delta.text });
  else if (delta.type === "call-delta") {
    const { id: callId, name } = names.of(delta.id);
    if (name === caller) return;
    emit({ type: "call-delta", turn, callId, name, text: delta.text });
  }
}
