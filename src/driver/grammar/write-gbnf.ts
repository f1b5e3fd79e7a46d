import { assertNever } from "../../util/assert-never.ts";
import type { CharacterRange, Expression } from "./expression.ts";

/** The expression in GBNF (llama.cpp's `grammars/README.md`), as a part of a rule: a choice stands in brackets. */
export function writeGbnf(expression: Expression): string {
  switch (expression.type) {
    case "never":
      throw new RangeError("GBNF has no word for what cannot be written");
    case "text":
      return terminal(expression.text);
    case "set":
      return `[${expression.ranges.map(writeRange).join("")}]`;
    case "rule":
      return expression.name;
    case "sequence":
      return expression.parts.length === 0 ? '""' : expression.parts.map(writeGbnf).join(" ");
    case "choice":
      return `(${expression.options.map(writeGbnf).join(" | ")})`;
    case "repeat":
      return `${writeAtom(expression.of)}${writeCount(expression.least, expression.most)}`;
    default:
      return assertNever(expression);
  }
}

/** The expression of a text as it stands. */
export function terminal(value: string): string {
  return `"${value.replaceAll(/["\\\p{Cc}]/gu, escaped)}"`;
}

function escaped(character: string): string {
  if (character === "\n") return String.raw`\n`;
  return character === '"' || character === "\\" ? `\\${character}` : writeCode(character.charCodeAt(0));
}

function writeAtom(expression: Expression): string {
  const isOne = expression.type === "text" && expression.text.length === 1;
  const isAtom =
    isOne || expression.type === "set" || expression.type === "rule" || expression.type === "choice";
  return isAtom ? writeGbnf(expression) : `(${writeGbnf(expression)})`;
}

function writeCount(least: number, most: number): string {
  if (least === 0 && most === 1) return "?";
  if (most === Infinity) return least === 0 ? "*" : least === 1 ? "+" : `{${least},}`;
  return least === most ? `{${least}}` : `{${least},${most}}`;
}

function writeRange([from, to]: CharacterRange): string {
  return from === to ? writeClassCharacter(from) : `${writeClassCharacter(from)}-${writeClassCharacter(to)}`;
}

/** Signs that mean something in a class are written by their number, for which all versions of llama.cpp have the same rule. */
function writeClassCharacter(code: number): string {
  const character = String.fromCodePoint(code);
  return /[\dA-Za-z]/.test(character) ? character : writeCode(code);
}

function writeCode(code: number): string {
  const hex = code.toString(16).toUpperCase();
  if (code < 0x100) return String.raw`\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? String.raw`\u${hex.padStart(4, "0")}` : String.raw`\U${hex.padStart(8, "0")}`;
}
