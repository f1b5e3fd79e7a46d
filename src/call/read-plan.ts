import type { Issue, ParseResult } from "../schema/schema.ts";
import type { PlannedAct } from "../tool/planned-act.ts";
import { actsOf } from "../tool/plan-tool.ts";
import { copyOfPlain } from "../util/json.ts";
import { after, inOrder, type Maybe } from "../util/maybe.ts";
import type { Call } from "./call.ts";

/** Holds the arguments of each planned act against the schema of its tool, but for those that it leaves open: a person would agree to a call that cannot run. */
export function readPlan(parsed: ParseResult<unknown>, { batch, before }: Call): Maybe<ParseResult<unknown>> {
  if (!parsed.ok || before !== undefined) return parsed;
  const { tools } = batch.gate.allowed;
  const issues: Issue[] = [];
  const hold = ({ tool, arguments: args, free = [] }: PlannedAct, index: number): Maybe<unknown> => {
    const input = tools.get(tool)?.input;
    if (args === undefined || input === undefined) return undefined;
    return after(input.parse(copyOfPlain(args)), (read) => {
      if (read.ok) return;
      const told = read.issues.filter(({ path: [first] }) =>
        first === undefined ? free.length === 0 : !free.includes(String(first)),
      );
      issues.push(...told.map((issue) => ({ ...issue, path: ["acts", index, "arguments", ...issue.path] })));
    });
  };
  return after(inOrder(actsOf(parsed.value), hold), () =>
    issues.length === 0 ? parsed : { ok: false, issues },
  );
}
