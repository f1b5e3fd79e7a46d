import type { Runnable } from "../agent/runnable.ts";
import { checkArguments, checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { type Tool, toolOfOthers } from "../tool/tool.ts";
import { list, optional, record, string } from "../util/shape.ts";

/**
 * A tool that the caller who began the run carries out. Its calls are judged like any other, and then wait for a signal with the result:
 * {@link callerSignal} of the call. Its effect is undeclared, and its result counts as a stranger's.
 *
 * @example
 * ```ts
 * import type { CallerTool } from "writ/durable";
 *
 * export const open: CallerTool = { name: "open_page", description: "Opens a page", inputSchema: { type: "object", properties: { path: { type: "string" } } } };
 * ```
 */
export interface CallerTool {
  readonly name: string;
  readonly description?: string;
  /** The JSON Schema of its arguments. Default: any object. */
  readonly inputSchema?: JsonSchema;
}

const shape = list(
  closed({ name: string, description: optional(string), inputSchema: optional(record) }),
  "a list of tools as data",
);

const beginning = "caller/";

/**
 * The name of the signal that brings the result of a call of a caller's tool: `runs.signal(run, { name: callerSignal(callId), value })`.
 *
 * @example
 * ```ts
 * import { callerSignal, type DurableRuns } from "writ/durable";
 *
 * export const done = (runs: DurableRuns, run: string, callId: string) => runs.signal(run, { name: callerSignal(callId), value: "opened" });
 * ```
 */
export function callerSignal(callId: string): string {
  checkArguments("callerSignal()", { callId }, { callId: string });
  return beginning + callId;
}

/** The signal that the call of a question waits for, if it is a call of a caller's tool. */
export function callerSignalOf({ waitsFor }: ApprovalRequest): string | undefined {
  if (waitsFor === undefined || waitsFor === "time") return undefined;
  return waitsFor.signal.startsWith(beginning) ? waitsFor.signal : undefined;
}

/** The agent with tools of its caller added to those of each of its skills. @throws WritError `definition-invalid`, `name-taken`, `name-invalid`, `schema-invalid` */
export function withCallerTools(agent: Runnable, given: unknown): Runnable {
  checkShape("The tools of the caller", given, shape);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has this shape
  const tools = (given as readonly CallerTool[]).map(callerTool);
  if (tools.length === 0) return agent;
  if (canChange(agent) && agent.skills.some(({ type }) => type === "agentic"))
    return agent.with(({ autoTools: own = [] }) => ({ autoTools: [...own, ...tools] }));
  const reason = "its caller has tools for it, and it calls none itself.";
  throw new WritError("definition-invalid", { where: `"${agent.name}"`, reason });
}

function callerTool({ name, description = "", inputSchema = { type: "object" } }: CallerTool): Tool {
  return toolOfOthers({
    name,
    description,
    inputSchema,
    retry: "always", // it does nothing but wait
    execute: (_args, { callId, waitFor }) => waitFor(callerSignal(callId)),
  });
}

/** An agent that can be copied with changed parts: one that calls tools itself. */
type Changeable = Runnable & {
  readonly skills: readonly { readonly type: string }[];
  readonly with: (
    changes:
      | object
      | ((definition: { readonly autoTools?: readonly unknown[] }) => {
          readonly autoTools: readonly unknown[];
        }),
  ) => Runnable;
};

/** True of an agent, false of a composition. */
export function canChange(agent: Runnable): agent is Changeable {
  return "with" in agent && typeof agent.with === "function" && "skills" in agent;
}
