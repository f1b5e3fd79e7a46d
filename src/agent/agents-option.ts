import { WritError } from "../error/writ-error.ts";

/** The error for an option of a single agent that was given to a composition. */
export function agentsOption(name: string, option: "skill" | "session"): WritError<"run-option-unusable"> {
  const reason = `it is a composition of agents and has no ${option} of its own.`;
  return new WritError("run-option-unusable", { name, option, reason });
}
