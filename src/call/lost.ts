import { trustedLabel } from "../message/label.ts";
import type { ToolResult } from "../message/message.ts";
import type { Reconcile, Reconciled } from "../tool/after-crash.ts";
import type { Tool, ToolContext } from "../tool/tool.ts";
import { after, type Maybe } from "../util/maybe.ts";
import type { CallRecord, Halt, Ready } from "./call.ts";
import { settleGiven } from "./given.ts";
import { runCall } from "./run.ts";
import { settledByPerson } from "./settled-by-person.ts";
import { EndKnown } from "./thrown.ts";

/**
 * The record of a call that an earlier process began and that may not run twice: the answer of the tool's `reconcile` or of a person, otherwise `unknown`.
 *
 * @throws only the error of a journal that failed inside the call
 */
export function runLost(ready: Ready, halt: Halt): Maybe<CallRecord> {
  const { tool } = ready;
  const result = unknownResult(tool.name);
  const given = { ready, startedAt: ready.at.batch.run.host.now(), label: trustedLabel };
  const { reconcile } = tool;
  if (reconcile === "person" && ready.at.batch.run.journal.ask !== undefined)
    return settledByPerson(ready, halt, { unknown: result });
  if (typeof reconcile !== "function") return settleGiven(given, { result });
  return after(runCall({ ...ready, tool: reconciling(tool, reconcile) }, halt), (record) =>
    mayHaveHappened.has(record.result.status) ? { ...record, result } : record,
  );
}

/** Ends that do not tell what the earlier process did. */
const mayHaveHappened: ReadonlySet<ToolResult["status"]> = new Set(["skipped", "cancelled", "timeout"]);

function unknownResult(name: string): ToolResult {
  const text = `Tool '${name}' was at work when the program stopped. Its effect may have happened.`;
  return { status: "unknown", text };
}

type Lookup = Reconcile<unknown, ToolContext>;

/** The tool with a lookup in place of its function: whether it has done its work. */
function reconciling(tool: Tool, reconcile: Lookup): Tool {
  return {
    ...tool,
    async execute(args, context) {
      const known = await lookUp(tool.name, () => reconcile(args, context));
      if (!known.happened) return tool.execute(args, context);
      if (known.value !== undefined) return known.value;
      const text = `Tool '${tool.name}' did this before the program stopped. Its result is not known.`;
      throw new EndKnown({ status: "ok", text });
    },
  };
}

async function lookUp(name: string, look: () => ReturnType<Lookup>): Promise<NonNullable<Reconciled>> {
  let known: unknown;
  try {
    known = await look();
  } catch (cause) {
    throw new EndKnown(unknownResult(name), { cause });
  }
  if (isReconciled(known)) return known;
  throw new EndKnown(unknownResult(name));
}

/** True of a usable answer. Plain JavaScript can return anything: only `true` and `false` say whether it happened. */
function isReconciled(said: unknown): said is NonNullable<Reconciled> {
  return (
    typeof said === "object" && said !== null && "happened" in said && typeof said.happened === "boolean"
  );
}
