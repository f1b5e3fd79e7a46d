import { textOf } from "../message/message.ts";
import type { AllowList } from "../policy/allow-list.ts";
import { remembered } from "../util/remembered.ts";
import type { TurnInput } from "./driver.ts";
import { recogniser } from "./recognise/recogniser.ts";
import { describeType } from "./describe-type.ts";
import { matchTool } from "./match-tool.ts";
import { shapeOf } from "./reply-shape.ts";
import type { RecogniserMode, Recognition, RefusedCall } from "./recognise/recognise.ts";
import { type TextProtocol, type TextReading, violation } from "./text-protocol.ts";

/**
 * The protocol, read leniently: a reply that its own reading refuses, or takes for a plain-text answer, is searched for calls in other
 * formats, in a mode of the recogniser. `mend` reads the rest of a refused reply without any. Repairs are reported.
 */
export function readBeyond(
  protocol: TextProtocol,
  mode: RecogniserMode,
  mend: (text: string, turn: TurnInput) => TextReading | undefined = () => undefined,
): TextProtocol {
  if (mode === "strict") return protocol;
  const finderOf = remembered(({ tools }: AllowList) => recogniser([...tools.values()], mode));
  return {
    ...protocol,
    read(text, turn) {
      const strict = protocol.read(text, turn);
      if (strict.type === "calls" || (strict.type === "final" && strict.plain !== true)) return strict;
      const found = readingOf(
        finderOf(turn.allowed).read(text, mode === "safe" ? { said: saidBefore(turn) } : {}),
        turn,
      );
      if (found !== undefined) return found;
      return strict.type === "final" ? strict : (mend(text, turn) ?? strict);
    },
  };
}

/** The words of people, tools and instructions: the model's own words are not a source of arguments. */
function saidBefore({ transcript }: TurnInput): string {
  const texts = transcript.messages.flatMap((message) => {
    if (message.role === "assistant") return [];
    return message.role === "user" ? [textOf(message)] : [message.text];
  });
  return texts.join("\n");
}

function readingOf(
  { calls, refused, layer, repairs }: Recognition,
  turn: TurnInput,
): TextReading | undefined {
  const { allowed } = turn;
  if (calls.length > 0)
    return {
      type: "calls",
      calls,
      repairs: [
        `the calls were found in the form "${layer ?? "?"}"`,
        ...repairs,
        ...refused.map(({ name, reason }) => `a call of ${JSON.stringify(name)} was left out: ${reason}`),
      ],
    };
  const [first] = refused;
  if (first === undefined) return undefined;
  const isKnown = allowed.tools.has(matchTool(first.name, allowed));
  const mayBeAnswer = !isKnown && shapeOf(turn).mayAnswer; // an answer in JSON has names too
  const isMeant = layer === "tagged" || (layer === "whole" && !mayBeAnswer); // in other forms an answer may quote it
  return isMeant ? refusal(first, allowed) : undefined;
}

/** Refuses a call that cannot be one; an answer would not begin like this. */
function refusal({ name, reason }: RefusedCall, allowed: AllowList): TextReading {
  const tool = allowed.tools.get(matchTool(name, allowed));
  const types =
    tool === undefined ? "" : `. The arguments of ${tool.name}: ${describeType(tool.input.jsonSchema)}`;
  return violation(`the call of ${JSON.stringify(name)} cannot be taken: ${reason}${types}`);
}
