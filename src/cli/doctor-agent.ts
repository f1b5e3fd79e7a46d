import { definitionOf } from "../adapters/agent-definition.ts";
import type { Check } from "./doctor-check.ts";
import { nameChecks } from "./doctor-hosted.ts";
import { type AnyAgent, isSingle, loadAgent } from "./load-agent.ts";

/**
 * Reports the model that the agent of a file asks, and the dangers in its definition that its audit finds, such as undeclared effects.
 *
 * @throws WritError the errors of `loadAgent`
 */
export async function agentChecks(file: string): Promise<readonly Check[]> {
  const agent = await loadAgent(file);
  if (!isSingle(agent)) {
    const text = `${agent.name} is a composition of agents, which are checked one by one`;
    return [{ name: "agent", state: "note", text, advice: "name the file of one of them" }];
  }
  return [...modelChecks(agent), ...auditChecks(agent)];
}

/** The checks of the models. A model that is given as a value has its key and its address with it. */
function modelChecks(agent: AnyAgent): readonly Check[] {
  const { model } = definitionOf(agent) ?? {};
  if (typeof model !== "string") return [];
  return nameChecks(model).map((check) => ({ ...check, text: `${agent.name}: ${check.text}` }));
}

function auditChecks(agent: AnyAgent): readonly Check[] {
  const { findings } = agent.audit();
  if (findings.length === 0)
    return [{ name: "agent", state: "ok", text: `the audit of ${agent.name} finds nothing` }];
  return findings.map(({ severity, rule, message, advice }) => {
    return { name: `agent-${rule}`, state: "note", text: `${severity} ${rule}: ${message}`, advice };
  });
}
