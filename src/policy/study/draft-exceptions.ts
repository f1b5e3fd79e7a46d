import {
  absent,
  all,
  any,
  arg,
  boundToIntent,
  not,
  outsidePlan,
  requested,
  roles,
  secrecyExceedsTargets,
  unknownLinks,
} from "../rules/conditions.ts";
import type { Rule } from "../rules/rule.ts";
import { singular, wordsOf } from "../values/verbs.ts";
import type { DraftedParameter } from "./draft-parameters.ts";

/** A tool, with the words for the people whom it also notifies. */
interface DraftedAct {
  readonly tool: { readonly name: string };
  readonly tells?: readonly string[];
  readonly parameters: readonly DraftedParameter[];
}

/**
 * The exception for a call that notifies nobody, of a tool that only cannot be undone because it notifies people: the user asks for this very act,
 * and chose everything else that it acts on. Undefined if no parameter names those people.
 */
export function draftException({ tool, tells = [], parameters }: DraftedAct): Rule | undefined {
  const told = parameters
    .filter(({ name, role }) => role === "target" && tells.includes(singular(wordsOf(name).at(-1) ?? "")))
    .map(({ name }) => name);
  if (told.length === 0) return undefined;
  const without = `without ${told.join(" and ")}`;
  return {
    verdict: "allow",
    tools: [tool.name],
    when: all(
      ...told.map((name) => arg(name).is(absent())),
      roles("target", "amount", "id").are(boundToIntent()),
      requested({ exactly: true }),
      not(any(unknownLinks(), secrecyExceedsTargets(), outsidePlan())),
    ),
    because: `${without} it tells nobody`,
    name: `${tool.name} ${without}`,
  };
}
