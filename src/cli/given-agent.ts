import { modelNamed } from "../adapters/model/resolve.ts";
import { driverChoices } from "../model/driver-names.ts";
import { type AnyAgent, loadAgent } from "./load-agent.ts";
import { countOf, wordOf } from "./options.ts";

/** The options of every command that changes the agent of a file for its own run. */
export interface AgentFlags {
  readonly model?: string;
  readonly driver?: string;
  readonly maxTurns?: string;
  readonly tools?: string;
}

/**
 * Checks the options, and returns the function that loads the agent with them.
 *
 * @throws WritError `option-invalid`, `model-name-invalid`; the function throws the errors of {@link loadAgent}
 */
export function agentLoader(file: string, flags: AgentFlags): () => Promise<AnyAgent> {
  const { driver, maxTurns, tools } = flags;
  const model = flags.model === undefined ? undefined : modelNamed(flags.model);
  const changes: Parameters<AnyAgent["with"]>[0] = {
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { budget: { turns: countOf("--max-turns", maxTurns) } }),
    ...(driver === undefined ? {} : { driver: wordOf("--driver", driver, driverChoices) }),
  };
  return async () => {
    const agent = await loadAgent(file, { tools, model });
    return Object.keys(changes).length === 0 ? agent : agent.with(changes);
  };
}
