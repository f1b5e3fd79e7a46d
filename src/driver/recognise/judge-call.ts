import type { WrittenCall } from "./call-expression.ts";
import { hasPlaceholder } from "./placeholder.ts";
import { fitCall } from "./fit.ts";
import type { KnownTools } from "./known-tools.ts";
import { comesFromNowhere, type Said } from "./origin.ts";
import type { KnownTool, RecognisedCall, RecogniserMode, RefusedCall } from "./recognise.ts";
import { spreadCall } from "./spread.ts";

/** What a call is judged by. What had to be mended is added to `repairs`. */
export interface Judging {
  readonly known: KnownTools;
  readonly mode: RecogniserMode;
  readonly repairs: Set<string>;
  readonly said: Said | undefined;
}

/** The calls that a written one means, fitted to their tool, or why they are none. */
export function judgeCall(written: WrittenCall, judging: Judging): readonly (RecognisedCall | RefusedCall)[] {
  const tool = judging.known.find(written.name);
  if (tool === undefined) return [{ name: written.name, reason: "no tool has this name" }];
  if (tool.name !== written.name) judging.repairs.add(`"${written.name}" was taken as "${tool.name}"`);
  const calls = tool.changes === true ? [written] : spreadCall(written, tool, judging.repairs);
  return calls.map((call) => judgeOne(call, tool, judging));
}

function judgeOne(
  call: WrittenCall,
  tool: KnownTool,
  { mode, repairs, said }: Judging,
): RecognisedCall | RefusedCall {
  const { args, faults } = fitCall(call, tool, { mode, repairs });
  const { name } = tool;
  if (faults.length > 0) return { name, reason: faults.join(", ") };
  if (mode === "safe" && hasPlaceholder(args, tool, said))
    return { name, reason: "an argument only holds the place of a value" };
  if (said !== undefined && comesFromNowhere(args, tool, said))
    return { name, reason: "most of its arguments were never said" };
  return { name, arguments: args };
}
