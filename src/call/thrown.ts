import { causesOf } from "../error/causes.ts";
import { isWritError, messageOf } from "../error/writ-error.ts";
import { joinLabels, untrustedFrom } from "../message/label.ts";
import type { ToolResult } from "../message/message.ts";
import { isBuiltin } from "../tool/builtins.ts";
import { fatalOf, type OngoingCall, type Settled } from "./call.ts";

/** Thrown in place of a tool's value: the call has this result, whatever the author's recovery says. */
export class EndKnown extends Error {
  readonly result: ToolResult;

  constructor(result: ToolResult, options?: ErrorOptions) {
    super(result.text, options);
    this.result = result;
  }
}

/** The end of a call whose tool threw. */
export function thrownResult({ at, ready, around }: OngoingCall, error: unknown): Settled {
  const { call, tool } = ready;
  if (error instanceof EndKnown) return { result: error.result };
  at.batch.run.onThrow(call.id, error);
  const denied = capabilityDenied(error);
  if (denied !== undefined)
    return {
      result: {
        status: "denied",
        text: `Tool '${tool.name}' was denied: ${denied}`,
        note: "capability",
        label: joinLabels(untrustedFrom(`tool/${tool.name}`), around.label), // a stranger may have chosen the thing to be reached, and its name tells what the tool knew
      },
    };
  const result: ToolResult = { status: "error", text: `Tool '${tool.name}' failed: ${messageOf(error)}` };
  const fatal = fatalOf(error);
  // Escalating is for fixers: an agent inside a tool that escalates is a failure of that tool.
  const isSoft = fatal?.type === "failed" && fatal.code === "tool-escalated" && !isBuiltin(tool);
  return fatal === undefined || isSoft ? { result } : { result, fatal };
}

/** The capability that was missing, if that is why a tool failed. It looks into causes, since code in between wraps the errors that it catches. */
function capabilityDenied(thrown: unknown): string | undefined {
  return causesOf(thrown).find((error) => isWritError(error, "capability-denied"))?.message;
}
