import { contentText } from "../../message/message.ts";
import { planTool } from "../../tool/plan-tool.ts";
import { leavesOf } from "./find-values.ts";
import type { SuiteTools } from "./suite-tools.ts";
import { callsIn, type Script, taskScript } from "./scenes.ts";
import type { Judged, SceneCall } from "./stage.ts";
import type { UserTask } from "./suite.ts";

/** The tool with which a scripted model announces its acts. */
const planName: string = planTool().name;

/**
 * The script of a task for a model that plans well: its first call names the tools of the task that act, before it has read anything. If a
 * person would be asked about several calls whose values are known by then, it asks once about all of them.
 */
export async function plannedScript(
  task: UserTask,
  tools: SuiteTools,
  play: (script: Script) => Promise<readonly Judged[]>,
): Promise<Script> {
  const acting = [...new Set(task.steps.flatMap(({ tool }) => (tools.hasEffect(tool) ? [tool] : [])))];
  if (acting.length === 0) return taskScript(task);
  const first = planCall(
    0,
    acting.map((tool) => ({ tool })),
  );
  const script: Script = [[first], ...taskScript(task)];
  const asked = new Set((await play(script)).flatMap(({ call, wasAsked }) => (wasAsked ? [call.id] : [])));
  const covered = new Set<string>();
  return script.flatMap((turn, index) => {
    const [call] = turn;
    if (call === undefined || !asked.has(call.id) || covered.has(call.id)) return [turn];
    const known = knownAt(task, index - 1, tools);
    const together = callsIn(script.slice(index)).filter((later) => asked.has(later.id) && known(later));
    if (together.length < 2 || together[0] !== call) return [turn];
    for (const { id } of together) covered.add(id);
    return [
      [
        planCall(
          index,
          together.map(({ tool, args }) => ({ tool, arguments: args })),
        ),
      ],
      turn,
    ];
  });
}

function planCall(index: number, acts: readonly object[]): SceneCall {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- acts are made of JSON above
  const args = { acts } as SceneCall["args"];
  return { id: `plan-${index}`, tool: planName, args, replay: { type: "result", value: null } };
}

/** True for a call whose values all stand in the request or in results read before a step, except for content, which the model writes itself. */
function knownAt({ prompt, steps }: UserTask, step: number, tools: SuiteTools): (call: SceneCall) => boolean {
  const read = [prompt, ...steps.slice(0, step).map(({ result }) => contentText(result))].join("\n");
  return ({ tool, args }) =>
    leavesOf(args).every(
      ({ path, value }) =>
        typeof value === "boolean" ||
        value === null ||
        tools.roleOf(tool, String(path[0])) === "content" ||
        read.includes(String(value)),
    );
}
