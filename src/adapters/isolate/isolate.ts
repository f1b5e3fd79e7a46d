import type { Enforcement } from "../../tool/enforcement.ts";
import { isWritError, messageOf } from "../../error/writ-error.ts";
import { boxes } from "./bubblewrap.ts";
import { interpreter } from "./quickjs.ts";

export { codeTool, type CodeArguments, type CodeToolDefinition } from "./code-tool.ts";
export { isolatedTool, type IsolatedContext, type IsolatedToolDefinition } from "./isolated-tool.ts";

/** A means to isolate code on this machine, with the results of trying to escape from it. */
export interface Isolator extends Enforcement {
  /** The reason for the level `none`. */
  readonly reason?: string;
}

/**
 * Finds out what can isolate code on this machine: bubblewrap for tools of others, QuickJS for code written by a model. Each is tried once per process,
 * which takes some tenths of a second. Never throws: a means that does not work has the level `none`, with the reason.
 *
 *
 * @example
 * ```ts
 * import { enforcement } from "writ/isolate";
 *
 * for (const { mechanism, level, reason } of await enforcement()) console.log(mechanism, level, reason ?? "");
 * ```
 */
export async function enforcement(): Promise<readonly Isolator[]> {
  const platform = `${process.platform}-${process.arch}`;
  const box = await boxes();
  const bubblewrap: Isolator = box.works
    ? { level: "isolated", mechanism: "linux-bwrap", platform, probes: box.probes }
    : { level: "none", mechanism: "linux-bwrap", platform, probes: box.probes, reason: box.reason };
  return [bubblewrap, await quickjs(platform)];
}

async function quickjs(platform: string): Promise<Isolator> {
  const mechanism = "quickjs";
  try {
    const { probes } = await interpreter();
    const open = probes.filter(({ held }) => !held).map(({ name }) => name);
    if (open.length === 0) return { level: "isolated", mechanism, platform, probes };
    return { level: "none", mechanism, platform, probes, reason: `it does not hold: ${open.join(", ")}` };
  } catch (error) {
    const reason = isWritError(error, "peer-missing")
      ? "quickjs-emscripten is not installed"
      : messageOf(error);
    return { level: "none", mechanism, platform, probes: [], reason };
  }
}
