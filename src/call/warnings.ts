import type { Warning } from "../journal/host.ts";
import type { CallRequest, Decision } from "../policy/decision.ts";

/** The warning of a broken policy. Each denial tells the model; this tells the author. */
export function brokenPolicy({ agent, tool }: CallRequest, { reason }: Decision): Warning {
  const text = `Agent "${agent}" was denied the call of "${tool}": ${reason}`;
  return { code: "WRIT_POLICY_FAILED", text, isDeprecation: false };
}

/** The warning of an undeclared effect, which spares a question: the author has to know that. */
export function unguarded({ agent, tool }: CallRequest): Warning {
  const text = `Agent "${agent}" ran "${tool}", which declares no effect, after it had read data of strangers, and nobody was asked. Declare it: \`effect: "none"\` or \`"read"\` for a tool that changes nothing, else \`"write"\` or \`"irreversible"\`, for which a person is asked.`;
  return { code: "WRIT_EFFECT_UNDECLARED", text, isDeprecation: false };
}
