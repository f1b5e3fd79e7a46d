import { messageOf } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import type { ToolResult } from "../message/message.ts";
import type { Limits } from "../policy/budget.ts";
import { labelOfArguments, type Learned } from "../policy/learned.ts";
import { isDefaultLabel, resultLabel } from "../policy/result-label.ts";
import type { Tool } from "../tool/tool.ts";
import { type Json, parseJson } from "../util/json.ts";

/** What the label of a result is made of. */
export interface Origin {
  readonly tool: Tool;
  readonly arguments: Json;
  /** What the tool itself said of it. */
  readonly said?: Partial<Label>;
  /** The join of what runs inside the call have seen. */
  readonly inside?: Label;
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
  const { tool } = origin;
  const label = labelFor(
    status === "ok" ? origin : { ...origin, tool: { ...tool, isFresh: false } },
    learned,
  );
  return isDefaultLabel(label, tool.name) ? { status, ...rest } : { status, ...rest, label };
}

function labelFor({ tool, arguments: args, said, inside }: Origin, learned: Learned): Label {
  const about = said === undefined ? tool : { ...tool, ...aboutOf(said) };
  const own = resultLabel(about, labelOfArguments(learned, args));
  const named =
    said?.sources === undefined ? own : joinLabels(own, { ...trustedLabel, sources: said.sources });
  return inside === undefined || tool.isFresh === true ? named : joinLabels(named, inside);
}

function aboutOf({ integrity, secrecy }: Partial<Label>): Partial<Tool> {
  return {
    ...(integrity === undefined ? {} : { trusted: integrity === "trusted" }),
    ...(secrecy === undefined ? {} : { secrecy }),
  };
}

/** What a tool told of its progress, without secrets. */
export function cleanProgress(value: Json, { powers }: Host): Json {
  if (powers?.holdsSecrets !== true) return value;
  return scrubbed(powers.scrub(JSON.stringify(value)));
}

/** What a tool threw, without secrets: errors are printed and kept. */
export function cleanError(error: unknown, { powers }: Host): unknown {
  if (powers?.holdsSecrets !== true) return error;
  const text = messageOf(error);
  const clean = powers.scrub(text);
  return clean === text && powers.scrub(stackOf(error)) === stackOf(error) ? error : new Error(clean);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? `${error.stack ?? ""} ${messageOf(error.cause)}` : "";
}

/** Values of secrets that came back from outside must not go on. */
function withoutSecrets(result: ToolResult, { powers }: Host): ToolResult {
  if (powers?.holdsSecrets !== true) return result;
  const { text, note, value, ...rest } = result;
  const json = value === undefined ? undefined : JSON.stringify(value);
  const clean = json === undefined ? undefined : powers.scrub(json);
  return {
    ...rest,
    text: powers.scrub(text),
    ...(note === undefined ? {} : { note: powers.scrub(note) }),
    ...(clean === undefined || value === undefined
      ? {}
      : { value: clean === json ? value : scrubbed(clean) }),
  };
}

function scrubbed(json: string): Json {
  const parsed = parseJson(json);
  return parsed.ok ? parsed.value : json;
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
