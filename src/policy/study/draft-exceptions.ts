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

/** A tool with the words for those whom it tells besides what it does. */
interface DraftedAct {
  readonly tool: { readonly name: string };
  readonly tells?: readonly string[];
  readonly parameters: readonly DraftedParameter[];
}

/**
 * The exception for a call that tells nobody, of a tool that can be taken back but for those whom it tells besides: the user asks for this very act,
 * and chose what else it acts on. Undefined where no parameter names those who are told.
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
