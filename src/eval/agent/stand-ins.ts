import type { Executor } from "../../run/executor.ts";
import type { Tool, ToolContext } from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";
import { callMatcher } from "./call-checks.ts";
import type { FixedResult } from "./eval-case.ts";
import type { Failure } from "./eval-report.ts";
import { shown } from "./shown.ts";

/** Options of the tools that stand in for others in a run. */
export interface StandInOptions {
  readonly results: readonly FixedResult[];
  /** Calls of tools that change something are carried out where there is no result for them. */
  readonly allowEffects: boolean;
  /** Told of each call that the case has no result for. */
  readonly onMissing: (failure: Failure) => void;
}

/**
 * Gives tools the results of a case. All else of a tool stays: name, schemas, effect, roles, recovery; so the
 * policy, the judge of arguments and the labels see the tool that they would see. A tool that changes
 * something and has no result here does not run: that it was called fails the run.
 */
export function standIns({ results, allowEffects, onMissing }: StandInOptions): (tool: Tool) => Tool {
  return (tool) => {
    const { name, effect } = tool;
    const own = results.filter((result) => result.tool === name);
    const changes = effect === "write" || effect === "irreversible";
    if (own.length === 0 && (allowEffects || !changes)) return tool;
    const matchers = own.map((fixed) => ({ fixed, fault: callMatcher({ ...fixed, status: "any" }).fault }));
    const execute = async (_args: unknown, { call }: ToolContext): Promise<Json> => {
      const made = { tool: name, arguments: call.arguments, status: "ok" as const, result: "" };
      for (const { fixed, fault } of matchers) {
        if ((await fault(made)) !== undefined) continue;
        if (fixed.error !== undefined) throw new Error(fixed.error);
        return fixed.result ?? null;
      }
      onMissing({ expectation: `results.${name}`, message: missing(name, call.arguments, own.length > 0) });
      throw new Error("there is no result for this call here");
    };
    return { ...tool, execute };
  };
}

function missing(name: string, args: Json, hasOthers: boolean): string {
  const call = `${name} ${shown(args)}`;
  if (hasOthers) return `none of the results fits ${call}`;
  return `${call} would have changed something, and was not carried out: give it a result, or use --allow-effects`;
}

/** The executor of an agent for all tools but these, for which others stand in: their calls are run here. */
export function besideStandIns(executor: Executor, names: ReadonlySet<string>): Executor {
  return {
    async execute(calls, context) {
      const running = calls.filter(({ name }) => names.has(name)).map((call) => context.run(call));
      const others = calls.filter(({ name }) => !names.has(name));
      const given = others.length === 0 ? [] : await executor.execute(others, context);
      return [...(await Promise.all(running)), ...given];
    },
  };
}
