import { isEffectful } from "../../policy/rules/condition/sight.ts";
import { addedLabel } from "../../policy/knowledge/result-label.ts";
import { capabilityText } from "../../tool/capability.ts";
import type { Tool } from "../../tool/tool.ts";
import { boundFields, type Sentence } from "./sentence.ts";
import { countedPlaces } from "./suspects.ts";
import type { ProvenAgent, Way } from "./subject.ts";

/** The sentences that people ask about such an agent: bounds, values that nobody gave, acts without a person, secrets, capabilities. */
export function proposed(subject: ProvenAgent): readonly Sentence[] {
  const { ways, limits } = subject;
  const bounds = boundFields.flatMap((of): readonly Sentence[] =>
    limits[of] === Infinity ? [] : [{ type: "bound", of, most: limits[of] }],
  );
  const acts = ways.flatMap(actsOf);
  const seen = new Set<string>();
  const calls = acts.filter((sentence) => {
    const text = JSON.stringify(sentence);
    return seen.size < seen.add(text).size;
  });
  return [...bounds, ...calls, ...powersOf(subject)];
}

/** The sentences about the tools of one skill that change something. */
function actsOf(way: Way): readonly Sentence[] {
  const tools = [...way.tools.values()];
  const strangers = tools
    .filter((tool) => addedLabel(tool).integrity === "untrusted")
    .map(({ name }) => name);
  const secret = tools.filter((tool) => addedLabel(tool).secrecy !== "public").map(({ name }) => name);
  return tools.filter(isAct).flatMap((tool): readonly Sentence[] => {
    const { name, effect } = tool;
    const others = strangers.filter((source) => source !== name);
    const given = { type: "given", tools: [name] } as const;
    const hasPlaces = countedPlaces(given, way, tool).length > 0;
    return [
      ...(hasPlaces ? [others.length === 0 ? given : { ...given, after: others }] : []),
      ...(effect === "irreversible" ? [{ type: "never", tools: [name], without: "person" } as const] : []),
      ...(secret.length === 0 ? [] : [{ type: "apart", from: secret, tools: [name] } as const]),
    ];
  });
}

function isAct({ effect, kind }: Tool): boolean {
  return isEffectful(effect) && kind === undefined;
}

function powersOf({ ways }: ProvenAgent): readonly Sentence[] {
  const needs = ways.flatMap(({ tools }) => [...tools.values()].map((tool) => tool.needs));
  if (needs.every((each) => each === undefined)) return [];
  const grants = ways.flatMap((way) => way.grants.map(capabilityText));
  return [{ type: "powers", within: [...new Set(grants)] }];
}
