import { WritError } from "../../error/writ-error.ts";
import { didYouMean } from "../../util/nearest.ts";
import type { ScriptReply } from "./stand-in-model.ts";

/** The invariants of the runtime that other files check, beside those of `runtimeInvariants`. */
export const checkedElsewhere = {
  replay: "a replay tells the same",
  standIns: "the stand-ins work",
  schedule: "the schedule is played",
  seed: "the seed plays the same again",
} as const;

/** The beginning of the names under which a script calls, on purpose, a tool that is not there. */
const noSuchTool = "no_such_tool";

/** The names that the options of a simulation use. */
interface NamesGiven {
  readonly agent: string;
  readonly standIns: object;
  readonly script: readonly ScriptReply[];
}

/** @throws WritError `definition-invalid` for a stand-in or a call of a tool that the agent does not have */
export function checkToolNames({ agent, standIns, script }: NamesGiven, known: ReadonlySet<string>): void {
  const there = [...known].join(", ") || "no tools";
  const refuse = (reason: string): never => {
    throw new WritError("definition-invalid", { where: `simulate() of "${agent}"`, reason });
  };
  for (const name of Object.keys(standIns))
    if (!known.has(name)) refuse(`\`tools\` has "${name}", and the agent has ${there}.`);
  for (const [place, reply] of script.entries())
    for (const [at, { name }] of (typeof reply === "string" ? [] : reply.calls).entries())
      if (!known.has(name) && !name.startsWith(noSuchTool))
        refuse(
          `\`script[${place}].calls[${at}]\` calls "${name}", which the agent does not have${didYouMean(name, known) || "."} It has: ${there}. A call of a tool that is not there on purpose is \`${noSuchTool}\`.`,
        );
}
