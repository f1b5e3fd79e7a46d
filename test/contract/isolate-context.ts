import { boxes } from "../../src/adapters/isolate/bubblewrap.ts";
import type { GivenHandles } from "../../src/adapters/isolate/broker.ts";
import type { IsolatedToolDefinition } from "../../src/adapters/isolate/isolate.ts";
import { isolatedTool } from "../../src/adapters/isolate/isolate.ts";
import type { Capability } from "../../src/tool/capability.ts";
import type { ToolContext } from "../../src/tool/tool.ts";
import type { Json } from "../../src/util/json.ts";

/** Whether boxes work here; else the reason is printed, and what needs one is skipped. */
export async function hasBoxes(): Promise<boolean> {
  const found = await boxes();
  if (!found.works) console.log(`isolation is not tested: ${found.reason}`);
  return found.works;
}

/** What the runtime gives to a tool, with these handles. */
export function contextOf(
  handles: GivenHandles = {},
  {
    signal = new AbortController().signal,
    progress = () => undefined,
  }: Partial<Pick<ToolContext, "signal" | "progress">> = {},
): ToolContext {
  const call = { id: "call-1", name: "tool", arguments: {} };
  return {
    callId: "call-1",
    idempotencyKey: "run-1/call-1",
    signal,
    progress,
    call,
    ...handles,
  } as unknown as ToolContext;
}

const modules = new URL("./isolate-modules/", import.meta.url);

type Options = Partial<IsolatedToolDefinition<{ readonly type: "object" }>>;

/** A tool of one function of a module of `isolate-modules`, called as the runtime does. */
export async function toolOf(
  module: "honest" | "hostile",
  name: string,
  options: Options = {},
): Promise<(args?: Json, context?: ToolContext) => Promise<Json>> {
  const made = await isolatedTool({
    name,
    description: name,
    inputSchema: { type: "object" },
    module: new URL(`${module}.ts`, modules),
    export: name,
    idleMs: 2_000,
    ...options,
  });
  return async (args = {}, context = contextOf()) => made.execute(args as never, context);
}

/** A capability, as an author declares it. */
export const need = (kind: Capability["kind"], scope = ""): Capability => ({ kind, scope });
