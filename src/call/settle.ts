import type { Host } from "../journal/host.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import type { ToolResult } from "../message/message.ts";
import type { Limits } from "../policy/budget.ts";
import { labelOfArguments, type Learned } from "../policy/learned.ts";
import { isDefaultLabel, resultLabel } from "../policy/result-label.ts";
import type { Tool } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";
import { withoutSecrets } from "../run/secrets.ts";

/** What the label of a result is made of. */
export interface Origin {
  readonly tool: Tool;
  readonly arguments: Json;
  /** What the tool itself said of it. */
  readonly said?: Partial<Label>;
  /** The join of what runs inside the call have seen. */
  readonly inside: Label;
  /** It says so little that `inside` ends here. */
  readonly isFresh: boolean;
}

/** The run that a result comes into. */
interface Into {
  readonly run: { readonly host: Host; readonly limits: Pick<Limits, "resultBytes"> };
  readonly learned: Learned;
}

/** A result as the transcript takes it: without secrets, not too long, and labelled. */
export function finishResult(result: ToolResult, origin: Origin, { run, learned }: Into): ToolResult {
  const clean = withoutSecrets(result, run.host);
  return withLabel(cutResult(clean, run.limits.resultBytes), origin, learned);
}

/** What the runtime or a hook made of a result has a label already; that of a tool stands beside those of its arguments and of all that was read inside. */
function withLabel(result: ToolResult, origin: Origin, learned: Learned): ToolResult {
  const { status, label: own, ...rest } = result;
  if (own !== undefined || (status !== "ok" && status !== "error")) return result;
  const label = labelFor({ ...origin, isFresh: origin.isFresh && status === "ok" }, learned);
  return isDefaultLabel(label, origin.tool.name) ? { status, ...rest } : { status, ...rest, label };
}

function labelFor({ tool, arguments: args, said, inside, isFresh }: Origin, learned: Learned): Label {
  const about = said === undefined ? tool : { ...tool, ...aboutOf(said) };
  const own = resultLabel(about, labelOfArguments(learned, args, tool.input.jsonSchema));
  const named =
    said?.sources === undefined ? own : joinLabels(own, { ...trustedLabel, sources: said.sources });
  return isFresh ? named : joinLabels(named, inside);
}

function aboutOf({ integrity, secrecy }: Partial<Label>): Partial<Tool> {
  return {
    ...(integrity === undefined ? {} : { trusted: integrity === "trusted" }),
    ...(secrecy === undefined ? {} : { secrecy }),
  };
}

function cutResult(result: ToolResult, maxBytes: number): ToolResult {
  if (result.text.length * 3 <= maxBytes) return result;
  const { read, written } = new TextEncoder().encodeInto(
    result.text,
    new Uint8Array(Math.min(maxBytes, result.text.length * 3)),
  );
  if (read >= result.text.length) return result;
  const note = `[cut off: the first ${written} bytes of a longer result]`;
  return { ...result, text: `${result.text.slice(0, read)}\n${note}` };
}
