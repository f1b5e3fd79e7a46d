import { checkArguments } from "../error/check-shape.ts";
import { callable } from "../util/shape.ts";
import type { AgentEvent } from "./event.ts";

/** One check of whether a tool may use something of the world. Plain data. */
export interface CapabilityLook {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly runId: string;
  readonly parentRunId?: string;
  readonly agent: string;
  readonly tool: string;
  readonly callId: string;
  readonly turn: number;
  /** `net(api.weather.com)`; never a value. */
  readonly resource: string;
  readonly granted: boolean;
  /** The reason for a denial. */
  readonly reason?: string;
}

/**
 * Makes a listener that records each check of a capability, granted or denied, with the tool and the agent: of a run and of the
 * runs inside it. The checks of a call are told when it ends, the first 100 of each call. If it is the
 * `onEvent` of a run itself, an error of `write` ends the run: nothing goes on unrecorded.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { capabilityAudit, type CapabilityLook } from "writ/policy";
 *
 * const looks: CapabilityLook[] = [];
 * const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b" });
 * await clerk.run("What is new?", { onEvent: capabilityAudit((look) => looks.push(look)) });
 * ```
 */
export function capabilityAudit(write: (look: CapabilityLook) => void): (event: AgentEvent) => void {
  checkArguments("capabilityAudit()", { write }, { write: callable });
  const runs = new Map<string, Map<string, string>>();
  const listener = (event: AgentEvent): void => {
    const { agent, runId, parentRunId } = event;
    if (event.type === "run-start") runs.set(runId, new Map());
    if (event.type === "run-end") runs.delete(runId);
    const tools = runs.get(runId);
    if (event.type === "call-decided" || event.type === "tool-start") tools?.set(event.callId, event.name);
    if (event.type !== "capability-checked") return;
    const { at, callId, turn, resource, granted, reason } = event;
    write({
      at,
      runId,
      ...(parentRunId === undefined ? {} : { parentRunId }),
      agent,
      tool: tools?.get(callId) ?? "",
      callId,
      turn,
      resource,
      granted,
      ...(reason === undefined ? {} : { reason }),
    });
  };
  needed.add(listener);
  return listener;
}

// Register: listeners without which no run goes on.
const needed = new WeakSet<object>();

/** True for a listener that may end its run by what it throws. */
export function isNeeded(listener: object): boolean {
  return needed.has(listener);
}
