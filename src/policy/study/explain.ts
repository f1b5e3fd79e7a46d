import { isPlain, type Label } from "../../message/label.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { object, oneOf, string } from "../../util/shape.ts";
import type { Decision } from "../decision.ts";
import { textLine } from "../rules/code.ts";

const decisionShape = object({ verdict: oneOf("allow", "ask", "deny"), reason: string, rule: string });

const readers = oneOf("model", "people");

/** The reader of an explanation. */
export type Audience = "model" | "people";

/**
 * A decision in words. For the model, one line: the verdict and the reason that the policy's author wrote, without values, sources, other tools or ways
 * around it. For people, everything that the decision rests on, with nothing invisible in it: rule, labels and their sources, values that the user did not
 * choose, strangers' links, the intent, and the smallest change that would have allowed the call. Never throws for a decision.
 *
 * @example
 * ```ts
 * import type { Decision } from "writ";
 * import { explain } from "writ/policy";
 *
 * const decision: Decision = { verdict: "deny", rule: "no-rule", reason: "no rule of the policy allows it" };
 * console.log(explain(decision, "people"));
 * ```
 */
export function explain(decision: Decision, audience: Audience): string {
  checkArguments("explain()", { decision, audience }, { decision: decisionShape, audience: readers });
  const { verdict, reason, rule, remedy, evidence, flags = [] } = decision;
  const first = `${opening[verdict]}: ${textLine(reason)}`;
  if (audience === "model") return first;
  const { matched = [], unbound = [], links = [], show = [], intent = "", planned } = evidence ?? {};
  const others = matched.filter((name) => name !== rule).map(textLine);
  const lines = [
    first,
    `rule: ${textLine(rule)}${others.length === 0 ? "" : ` (also: ${others.join("; ")})`}`,
    ...(evidence === undefined ? [] : [`seen: ${labelText(evidence.label)}`]),
    ...(show.length === 0 ? [] : [`look first at: ${show.map(textLine).join(", ")}`]),
    ...unbound.map(({ path, value, type }) => {
      const kind = type === undefined ? "" : ` (${type})`;
      return `not chosen by the user: ${textLine(path)} = ${textLine(JSON.stringify(value))}${kind}`;
    }),
    ...links.map((link) => `link of a stranger: ${textLine(link)}`),
    ...(planned === undefined ? [] : [`planned: ${plannedBy[planned]}`]),
    ...(intent === "" ? [] : [`intent: ${textLine(intent)}`]),
    ...(remedy === undefined ? [] : [`would have allowed it: ${textLine(remedy)}`]),
    ...(flags.length === 0 ? [] : [`noticed: ${flags.map(textLine).join(", ")}`]),
  ];
  return lines.join("\n");
}

const plannedBy = {
  model: "by the model, before it had read a stranger's words",
  person: "a person agreed to this call in a plan",
} as const;

const opening: Readonly<Record<Decision["verdict"], string>> = {
  allow: "Allowed",
  ask: "A person is asked",
  deny: "Denied",
};

/** A source as people read it: for a server, what the model reads before it calls anything. */
export function sourceText(source: string): string {
  return textLine(source.startsWith("mcp/") ? `${source} (what it says of its tools)` : source);
}

function labelText(label: Label): string {
  if (isPlain(label)) return "nothing but the user's and the author's own words";
  const { integrity, secrecy, sources } = label;
  const readers =
    typeof secrecy === "string" ? secrecy : `for ${secrecy.readers.map(textLine).join(", ")} only`;
  const from = sources.length === 0 ? "" : `; from ${sources.map(sourceText).join(", ")}`;
  return `${integrity}, ${readers}${from}`;
}
