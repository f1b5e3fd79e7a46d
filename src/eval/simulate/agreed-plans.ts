import { actsOf } from "../../tool/plan-tool.ts";
import type { PlannedAct } from "../../tool/planned-act.ts";
import { isJsonObject } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import type { Evidence } from "./evidence.ts";
import type { Execution } from "./execution.ts";

/** True of an execution that no person agreed to by itself, and that is an act of a plan that a person agreed to: each act lets one call run. */
export function isPlanned(execution: Execution, evidence: Pick<Evidence, "world" | "subject">): boolean {
  const { executions } = evidence.world;
  const acts = agreedActs(execution, evidence).filter((act) => isActOf(act, execution));
  if (acts.length === 0) return false;
  const alike = executions.filter(
    (one) =>
      one.runId === execution.runId &&
      acts.some((act) => isActOf(act, one)) &&
      !isAnswered(one, evidence.world.answers),
  );
  return new Set(alike.map(({ key }) => key)).size <= acts.length;
}

/** True of an execution that a person agreed to. */
export function isAnswered({ callId }: Execution, answers: Evidence["world"]["answers"]): boolean {
  return answers.some((one) => one.callId === callId && one.isYes && one.isTaken);
}

/** The acts of the plans of its run that a person agreed to. */
function agreedActs(
  { runId }: Execution,
  { world, subject }: Pick<Evidence, "world" | "subject">,
): readonly PlannedAct[] {
  return world.answers.flatMap((answer) => {
    const { tool, isYes, isTaken, edited, asked } = answer;
    const isOfRun = runId === answer.runId || runId.startsWith(`${answer.runId}/`);
    return isOfRun && isYes && isTaken && subject.tools.get(tool)?.plans === true
      ? actsOf(edited ?? asked)
      : [];
  });
}

function isActOf({ tool, arguments: planned, free = [] }: PlannedAct, execution: Execution): boolean {
  const { arguments: args } = execution;
  if (tool !== execution.tool || planned === undefined || !isJsonObject(args)) return false;
  return Object.entries(planned).every(
    ([name, value]) => free.includes(name) || sameJson(args[name] ?? null, value),
  );
}
