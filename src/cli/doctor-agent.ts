import type { Check } from "./doctor-check.ts";
import { loadAgent } from "./load-agent.ts";

/** The dangers in the definition of an agent, as its audit finds them: effects that nobody declared among them. @throws WritError as `loadAgent` does */
export async function agentChecks(file: string): Promise<readonly Check[]> {
  const agent = await loadAgent(file);
  const { findings } = agent.audit();
  if (findings.length === 0)
    return [{ name: "agent", state: "ok", text: `the audit of ${agent.name} finds nothing` }];
  return findings.map(({ severity, rule, message, advice }) => {
    return { name: `agent-${rule}`, state: "note", text: `${severity} ${rule}: ${message}`, advice };
  });
}
