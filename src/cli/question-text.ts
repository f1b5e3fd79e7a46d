import type { ApprovalRequest, ApprovalValue } from "../policy/rules/approval-request.ts";
import { sourceText } from "../policy/study/explain.ts";
import { visible } from "../util/visible.ts";
import { oneLine, type Output, printable } from "./output.ts";

/** The question for people: each value, whether the user chose it, and what the model had read. */
export function questionText(request: ApprovalRequest, { style }: Pick<Output, "style">): string {
  const { tool, effect, values, more = 0, reason, rule, label, links } = request;
  const wish = wishText(request);
  const lines = [
    style("yellow", `  ${printable(tool)} (${effect}) ${wish}: ${oneLine(reason, longest)}`),
    ...values.map(valueLine),
    ...(more === 0 ? [] : [`    … and ${more} more, which are not shown`]),
    ...links.map((link) => `    a link that only a stranger named: ${visible(link)}`),
    style("dim", `    rule ${oneLine(rule)}; the model had read: ${readText(label) || "nothing else"}`),
  ];
  return lines.join("\n");
}

function wishText({ unsettled, waitsFor }: ApprovalRequest): string {
  if (unsettled === true) return "is to be settled (writ runs settle)";
  if (waitsFor === undefined) return "needs your approval";
  return waitsFor === "time" ? "sleeps" : "waits for a signal (writ runs signal)";
}

/** True if {@link questionText} shows all arguments. */
export function showsAll({ values, more = 0 }: Pick<ApprovalRequest, "values" | "more">): boolean {
  return more === 0 && values.every(({ value }) => valueText(value).length <= longest);
}

/** All arguments, one line for each part; a line can be longer than a screen. */
export function wholeText({ arguments: args }: Pick<ApprovalRequest, "arguments">): string {
  return JSON.stringify(args, undefined, 2).split("\n").map(visible).join("\n");
}

function readText({ sources }: ApprovalRequest["label"]): string {
  return oneLine(sources.map(sourceText).join(", "), longest);
}

function valueLine(shown: ApprovalValue): string {
  const { path, value } = shown;
  const origin = value === null || value === "" ? "empty" : originText(shown);
  return `    ${visible(path)}: ${bothEnds(valueText(value))}  (${origin})`;
}

function originText({ bound, default: isDefault }: ApprovalValue): string {
  if (isDefault === true) return "the default of the tool's schema";
  return bound ? "you said it" : "you did not say it";
}

function valueText(value: ApprovalValue["value"]): string {
  return visible(JSON.stringify(value));
}

const longest = 4000;

/** A short text as it is; the beginning and the end of a longer one. */
function bothEnds(text: string): string {
  if (text.length <= longest) return text;
  const left = text.length - longest;
  return `${text.slice(0, longest / 2)} … ${left} characters are not shown … ${text.slice(-longest / 2)}`;
}
