import { messageOf } from "../error/writ-error.ts";
import type { Fact } from "../event/event.ts";
import { readOutput } from "../hook/read-output.ts";
import { askHooks, type HookOutcome } from "../hook/run-hooks.ts";
import { bytesOf, sizedResult } from "../message/file-part.ts";
import { freshLabel, joinLabels, type Label, labelledAs, trustedLabel } from "../message/label.ts";
import {
  type FilePart,
  isDefaultLabel,
  labelOf,
  textOf,
  type ToolCall,
  type ToolResult,
} from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import { defaultFileBytes, defaultResultBytes } from "../policy/account/budget.ts";
import { labelOfArguments } from "../policy/knowledge/learned.ts";
import { addedLabel, describedLabel, shownForm } from "../policy/knowledge/result-label.ts";
import type { Ordering } from "../run/context.ts";
import type { Inside } from "../run/inside.ts";
import { addSpending, noSpending } from "../run/powers.ts";
import { withoutSecrets } from "../run/secrets.ts";
import { actsMessage } from "../tool/acts.ts";
import { beginning, isReader, readResult, restText } from "../tool/read-result.ts";
import { toldBy } from "../tool/result.ts";
import type { Tool } from "../tool/tool.ts";
import { untilStopped } from "../util/interrupt.ts";
import { jsonOrNull } from "../util/json.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { sameJson } from "../util/same-json.ts";
import type { Batch, CallRecord, Fate, OngoingCall, Ready, Refused, Settled } from "./call.ts";
import { overtakenResult } from "./refused.ts";

/** Closes a call and makes its record: without secrets, after the author's hooks, within its size, and labelled. */
export function settle(work: OngoingCall, given: Settled, startedAt: number): Maybe<CallRecord> {
  const { run } = work.at.batch;
  work.end();
  work.powers?.close();
  return after(closeScope(work), (inside) => {
    const { fatal, escalated, isOvertaken = false } = given;
    const changed = inside?.acts !== undefined || work.scope?.goesOn === true;
    const result = toldOfChanges(
      isOvertaken ? overtakenResult(work.ready.tool, given.result, changed) : given.result,
      inside,
    );
    const ended = { result, fatal, escalated };
    const settled = run.host.powers?.holdsSecrets === true ? withoutSecrets(ended, run.host) : ended;
    if (run.hooks.afterToolCall === undefined) return recordOf(work, settled, { startedAt, inside });
    return askAfter(work, settled.result).then((changed) =>
      recordOf(work, { ...settled, ...withoutSecrets(changed, run.host) }, { startedAt, inside }),
    );
  });
}

/** Ends the runs inside a call; the cost of its own questions to the model is added to theirs. */
function closeScope({ scope, powers, around }: OngoingCall): Maybe<Inside | undefined> {
  return after(scope?.close(), (inside) =>
    after(powers?.spent(), (spent) => {
      if (spent === undefined) return inside;
      const { delegations = [], spending = noSpending } = inside ?? {};
      const { usage, costUsd } = spent;
      const all = addSpending(spending, spent);
      return { ...inside, delegations, spending: all, asked: { usage, costUsd }, label: around.seen };
    }),
  );
}

/** The result of a call that did not end well, with the changes that runs inside it made: the model would make them again. */
export function toldOfChanges(result: ToolResult, inside: Inside | undefined): ToolResult {
  const note = result.status === "ok" ? undefined : actsMessage(inside?.acts ?? []);
  if (note === undefined || inside === undefined) return result;
  const label = joinLabels(result.label ?? trustedLabel, joinLabels(inside.label, labelOf(note)));
  return labelledAs({ ...result, text: `${result.text}\n${textOf(note)}` }, label);
}

/** A result as hooks left it, and the hooks that changed it. */
type Changed = Pick<CallRecord, "result" | "by">;

/**
 * Asks the author's hooks about a result, as part of the call's own step: a replay does not ask them. A hook that fails makes the call fail. A stopped run
 * does not wait for hooks, and tells nothing that they have not seen.
 */
async function askAfter({ at, ready }: OngoingCall, result: ToolResult): Promise<Changed> {
  const { run, turn } = at.batch;
  const { id: callId, name: tool, arguments: args } = ready.call;
  const question = { turn, callId, tool, arguments: args, result };
  const asking = askHooks(run.hooks.afterToolCall ?? [], "afterToolCall", question);
  const changing = asking.then((outcome) => changedBy(outcome, { result, tool: ready.tool }));
  try {
    const changed = await untilStopped(changing, run.stop);
    return changed === "stopped" ? { result: unseenResult(tool, result) } : changed;
  } catch (error) {
    run.onThrow(callId, error);
    return { result: { status: "error", text: `Tool '${tool}' failed: ${messageOf(error)}` } };
  }
}

/** The statuses for which the runtime writes the text itself. */
const ownWords: ReadonlySet<ToolResult["status"]> = new Set(["cancelled", "skipped", "timeout", "unknown"]);

/** The result of a call whose run was stopped before hooks had seen it: they might have masked what its tool returned. */
function unseenResult(tool: string, result: ToolResult): ToolResult {
  const { status } = result;
  if (ownWords.has(status)) return result;
  return {
    status,
    text: `Tool '${tool}' ended. What it gave is left out: the run was stopped before the author's hooks had seen it.`,
  };
}

/** The result as hooks changed it. One that changed only the text has masked something: the old value must not stay. A new value is held to the output schema. */
async function changedBy(
  { answer: { result: changed }, by }: HookOutcome<"afterToolCall">,
  { result: before, tool: { output } }: { readonly result: ToolResult; readonly tool: Tool },
): Promise<Changed> {
  if (changed === undefined) return { result: before };
  const { value, ...rest } = changed;
  const isOld = value !== undefined && before.value !== undefined && sameJson(value, before.value);
  if (isOld && changed.text !== before.text) return { result: rest, by };
  if (value === undefined || isOld || changed.status !== "ok") return { result: changed, by };
  const about = { hook: by["result"] ?? "", place: "afterToolCall", field: "result" } as const;
  const read = await readOutput(value, output, about);
  return { result: { ...changed, value: jsonOrNull(read.value) }, by };
}

interface ClosedCall {
  readonly startedAt: number;
  readonly inside: Inside | undefined;
}

function recordOf(
  work: OngoingCall,
  { result: clean, fatal, escalated, by }: Settled & Changed,
  { startedAt, inside }: ClosedCall,
): CallRecord {
  const { run } = work.at.batch;
  const isWhole = clean.files === undefined && clean.text.length * 3 <= run.limits.resultBytes;
  const cut = isWhole ? undefined : cutResult(clean, work);
  const result = withLabel(cut?.result ?? clean, work, by !== undefined);
  const access = work.powers?.access.length === 0 ? undefined : work.powers?.access;
  const record = { result, startedAt, endedAt: run.host.now(), fatal, escalated, inside, by, access };
  return cut?.cut === undefined ? record : { ...record, cut: cut.cut };
}

/**
 * Labels a result. A result with a label keeps it, and a text of the runtime has the runtime's own. The label of a tool's result is joined with those
 * of its arguments and of everything read inside the call. A result from a hook is labelled as the tool's, whatever its status: the hook saw the tool's result.
 */
function withLabel(result: ToolResult, work: OngoingCall, isHooked: boolean): ToolResult {
  const { status } = result;
  const isOfTool = status === "ok" || status === "error";
  if (result.label !== undefined || (!isOfTool && !isHooked)) return result;
  const { tool } = work.ready;
  if (status === "ok" && tool.name === readResult && isReader(tool))
    return { ...result, label: { ...trustedLabel, ...work.label } }; // the label of what it reads
  const isFresh = tool.isFresh === true && work.isMended !== true && !isHooked && status === "ok";
  const own = ownLabel(work, result);
  const label = joinLabels(own, isFresh ? freshLabel(work.around.seen) : work.around.seen);
  return isOfTool && isDefaultLabel(label, tool.name) ? result : { ...result, label };
}

/** The label of a tool's own result, with what the tool says of it. The arguments are looked at only if they can change it. */
function ownLabel({ at, ready, label }: OngoingCall, result: ToolResult): Label {
  const { call } = ready;
  const tool = ready.tool.trustedForm === undefined ? ready.tool : shownForm(ready.tool, result);
  const said = label === undefined ? undefined : withoutSecrets(label, at.batch.run.host);
  const added = addedLabel(said === undefined ? tool : { ...tool, ...aboutOf(said) });
  const isSettled = joinLabels(added, at.learned.label) === added;
  const own = isSettled ? added : joinLabels(labelOfArguments(at.learned, call.arguments, tool), added);
  return said?.sources === undefined ? own : joinLabels(own, { ...trustedLabel, sources: said.sources });
}

function aboutOf({ integrity, secrecy }: Partial<Label>): Partial<Tool> {
  return {
    ...(integrity === undefined ? {} : { trusted: integrity === "trusted" }),
    ...(secrecy === undefined ? {} : { secrecy }),
  };
}

/** The record of a call that does not run. A message about wrong arguments repeats the schema: its label is that of the schema's author. */
export function notRun({ call, fatal, escalated, inside, ...fate }: Refused): CallRecord {
  const label = fate.wrong === undefined ? trustedLabel : describedLabel(fate.wrong.tool);
  const result = labelledAs(fate.result, label);
  const record = { result, startedAt: 0, endedAt: 0, escalated: escalated === true };
  return toldOfMending(call, inside, fatal === undefined ? record : { ...record, fatal });
}

/** The record as the model is told of it: with arguments that are not the model's, and the label of what was read to mend the call. */
export function asTold({ call, at, isEdited = false, inside }: Ready, record: CallRecord): CallRecord {
  const mended = toldOfMending(call, inside, record);
  const { arguments: args } = call;
  const asked = at.batch.calls[at.index]?.arguments;
  if (asked === args || sameJson(args, asked)) return mended;
  const { result } = mended;
  const person = isEdited ? `(A person changed the arguments to ${JSON.stringify(args)}.)\n` : "";
  return { ...mended, result: { ...result, arguments: args, text: `${person}${result.text}` } };
}

/**
 * Labels the name and the result of a call whose arguments an agent mended. They are no better than what that
 * agent has seen, since it may repeat that in any words.
 */
function toldOfMending({ id, name }: ToolCall, inside: Inside | undefined, record: CallRecord): CallRecord {
  if (inside === undefined) return record;
  const { result } = record;
  const own = labelOf({ role: "tool", callId: id, name, ...result });
  return { ...record, result: { ...result, label: joinLabels(own, inside.label) } };
}

const failures: ReadonlySet<ToolResult["status"]> = new Set(["error", "invalid", "timeout", "unknown"]);

/** Tells whether a call failed and nobody chose to tell the model. */
export function isFailure({ result, escalated = false }: Pick<CallRecord, "result" | "escalated">): boolean {
  return failures.has(result.status) && !escalated;
}

/** The reason why a call that ended this way keeps later calls from beginning; undefined if it does not. */
export function haltedBy(
  ended: Pick<CallRecord, "result" | "escalated" | "fatal">,
  { endOn }: Ordering,
): string | undefined {
  if (ended.fatal !== undefined) return "an earlier call ended the run";
  return endOn.includes("tool-failure") && isFailure(ended) ? "an earlier call failed" : undefined;
}

/** Tells the end of a call, after the events inside it. */
export function tellEnd({ run, turn }: Batch, fate: Fate, record: CallRecord): void {
  const { tell } = run;
  if (tell === undefined) return;
  const { id: callId } = fate.call;
  const { by, access = [] } = record;
  for (const inside of [fate.inside, record.inside])
    for (const delegation of inside?.delegations ?? [])
      tell({ type: "delegation-end", turn, callId, delegation });
  for (const look of access) tell({ type: "capability-checked", turn, callId, ...look });
  if (by !== undefined) tell({ type: "hook-end", turn, place: "afterToolCall", by, callId });
  tell(endFact(fate, record, { turn, runStartedAt: run.startedAt }));
}

/** Tells the end of a call that was neither begun nor fully decided about. */
export function tellNotBegun(
  { run, turn }: Pick<Batch, "run" | "turn">,
  { id: callId, name, arguments: args }: ToolCall,
  result: ToolResult,
): void {
  const about = { turn, callId, name, arguments: args, result };
  run.tell?.({ type: "tool-end", ...about, durationMs: 0, startedMs: 0 });
}

function endFact(
  fate: Fate,
  { result, startedAt, endedAt, inside }: CallRecord,
  { turn, runStartedAt }: { readonly turn: number; readonly runStartedAt: number },
): Fact {
  const { id: callId, name, arguments: args } = fate.call;
  const told = sizedResult(result);
  const durationMs = endedAt - startedAt;
  const about = { turn, callId, name, arguments: args, result: told, durationMs, ...spentIn(inside?.asked) };
  if (fate.type === "ready" && fate.tool.kind === "knowledge") return { type: "knowledge-used", ...about };
  return { type: "tool-end", ...about, startedMs: endedAt === 0 ? 0 : startedAt - runStartedAt };
}

/** The cost of a call's own questions to the model. An unknown price is left out: JSON has no infinity. */
function spentIn(asked: Inside["asked"]): { readonly usage?: Usage; readonly costUsd?: number } {
  if (asked === undefined) return {};
  const { usage, costUsd } = asked;
  return Number.isFinite(costUsd) ? { usage, costUsd } : { usage };
}

/** A result as a model sees it, and the number of bytes after which it was cut, if the model can read on. */
type Cut = Pick<CallRecord, "result" | "cut">;

/**
 * A result within its bytes: as much of its text as fits, then the files that fit. By default files have a limit of their own.
 */
function cutResult(result: ToolResult, work: OngoingCall): Cut {
  const { resultBytes } = work.at.batch.run.limits;
  const { files, text } = result;
  const shown: Cut = text.length * 3 <= resultBytes ? { result } : cutText(result, work);
  if (files === undefined) return shown;
  const fileBytes = resultBytes === defaultResultBytes ? defaultFileBytes : resultBytes;
  return { ...shown, result: cutFiles(shown.result, files, fileBytes) };
}

/** Cuts the text. The value stays whole, or is the whole text where there was none: the model reads the rest from it. */
function cutText(result: ToolResult, { at, ready }: OngoingCall): Cut {
  const { run, gate } = at.batch;
  const { resultBytes } = run.limits;
  const { text } = result;
  if (isReader(ready.tool)) return { result };
  const { text: shown, bytes } = beginning(text, resultBytes);
  if (shown.length >= text.length) return { result };
  const cut = `${shown}\n[cut off: the first ${bytes} bytes of a longer result]`;
  const { tools, before = tools } = gate.allowed;
  const own = before.get(readResult);
  const isNobodys = run.isProgram === true || run.executor !== undefined;
  const isAnothers = own !== undefined && !isReader(own);
  const told = isNobodys || isAnothers ? undefined : toldBy(result);
  if (told === undefined || shown.length >= told.length) return { result: { ...result, text: cut } };
  const rest = restText(ready.call.id, { from: shown.length, length: told.length });
  return { result: { ...result, value: told.value, text: `${cut}\n${rest}` }, cut: resultBytes };
}

function cutFiles(result: ToolResult, files: readonly FilePart[], maxBytes: number): ToolResult {
  let room = maxBytes;
  const kept = files.filter((file) => {
    const bytes = bytesOf(file) ?? 0;
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  if (kept.length === files.length) return result;
  const { files: _files, ...rest } = result;
  const told = {
    ...rest,
    text: `${rest.text}\n[left out: ${files.length - kept.length} of ${files.length} files, too long]`,
  };
  return kept.length === 0 ? told : { ...told, files: kept };
}
