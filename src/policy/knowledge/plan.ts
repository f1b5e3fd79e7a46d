import type { AgreedAct } from "../../tool/planned-act.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import { isJsonObject } from "../../util/json.ts";
import { lazy } from "../../util/remembered.ts";
import { sameJson } from "../../util/same-json.ts";

/** The planned acts of a run, and the places of those that were carried out. */
export interface Plan {
  readonly acts: readonly AgreedAct[];
  readonly spent: readonly number[];
}

/** A plan as policies see it at one call. */
export interface PlanAtCall {
  /** The names of the tools in the plan. */
  readonly tools: ReadonlySet<string>;
  /** True if a model planned before it had read a stranger's words: any act outside of the plan came up later. */
  readonly isFrozen: boolean;
  /** The planned act that this very call is, with its place; undefined if it is none, or was carried out already. */
  readonly act: { readonly by: AgreedAct["by"]; readonly at: number } | undefined;
}

/** The call as the model wrote it, and the arguments that may have any value if the plan leaves them open. */
export interface PlannedCall {
  readonly tool: string;
  readonly arguments: Json;
  readonly isOpenable: (argument: string) => boolean;
}

/** The plan at a call. The act is looked up on first use. */
export function planAt(plan: Plan, call: PlannedCall): PlanAtCall {
  return new LookedUpPlan(plan, call);
}

class LookedUpPlan implements PlanAtCall {
  readonly tools: PlanAtCall["tools"];
  readonly isFrozen: boolean;
  readonly #act: () => PlanAtCall["act"];

  constructor({ acts, spent }: Plan, call: PlannedCall) {
    this.tools = new Set(acts.map(({ tool }) => tool));
    this.isFrozen = acts.some(({ by }) => by === "model");
    this.#act = lazy(() => actIn(acts, spent, call));
  }

  get act(): PlanAtCall["act"] {
    return this.#act();
  }
}

function actIn(acts: Plan["acts"], spent: Plan["spent"], call: PlannedCall): PlanAtCall["act"] {
  const { arguments: args } = call;
  if (!isJsonObject(args)) return undefined;
  const at = acts.findIndex(
    ({ tool, arguments: planned, free = [] }, index) =>
      tool === call.tool &&
      planned !== undefined &&
      !spent.includes(index) &&
      sameJson(without(planned, free), without(args, free)) &&
      free.every((name) => call.isOpenable(name)),
  );
  const by = acts[at]?.by;
  return by === undefined ? undefined : { by, at };
}

function without(args: JsonObject, names: readonly string[]): JsonObject {
  return names.length === 0
    ? args
    : Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}
