import { resolveModel } from "../../adapters/model/resolve.ts";
import type { ModelSource } from "../../agent/definition.ts";
import type { RunOptions } from "../../agent/run-options.ts";
import type { RunResult } from "../../agent/runnable.ts";
import { isWritError, messageOf } from "../../error/writ-error.ts";
import { type Message, userMessage } from "../../message/message.ts";
import type { Model } from "../../model/model.ts";
import { scripted } from "../../model/scripted.ts";
import type { Executor } from "../../run/executor.ts";
import { inMemorySessions } from "../../session/in-memory-sessions.ts";
import { memoryBank } from "../../session/memory-bank.ts";
import { session } from "../../session/session.ts";
import type { Tool, ToolContext } from "../../tool/tool.ts";
import { type Json, toJson } from "../../util/json.ts";
import { callMatcher } from "./call-checks.ts";
import { type Check, shown } from "./check.ts";
import type { CaseMessage, FixedResult, RecordedModel, RecordedRun } from "./eval-case.ts";
import type { EvaluatedRun, Failure, JudgeVerdict, RunReport } from "./eval-report.ts";
import { type Evaluable, withTools } from "./evaluable.ts";
import type { FullCase } from "./expanded.ts";
import { type CastInside, recordInside, replayInside, withCastInside } from "./cast-inside.ts";
import { judgeRun } from "./judge.ts";
import type { PreparedCase } from "./prepare.ts";
import { recordingModel, type RecordingModel, replayingModel } from "./record-model.ts";
import { changeSince, snapshotOf } from "./snapshot.ts";
import { type Trace, traceRun } from "./trace.ts";

/** Options of the runs of an evaluation. */
export interface PlayOptions {
  readonly agent: Evaluable;
  /** The model that replaces the agent's own. */
  readonly model: Model | undefined;
  readonly allowEffects: boolean;
  /** Keeps the replies of the models. */
  readonly record: boolean;
  readonly signal: AbortSignal | undefined;
}

/** A model for one run, with its recording. */
interface Cast extends Partial<Pick<RecordingModel, "recorded">> {
  readonly model: ModelSource | undefined;
}

type Recorded = ReturnType<RecordingModel["recorded"]>;

/**
 * Runs a case once and compares the run with the expectations. Does not throw for a run that
 * fails.
 */
export async function playOnce(
  prepared: PreparedCase,
  index: number,
  options: PlayOptions,
): Promise<RunReport> {
  const { fields, checks } = prepared;
  const missing: Failure[] = [];
  const told = { outdated: false };
  const replay = fields.recorded?.[index];
  const onOther = (): void => void (told.outdated = true);
  const cast = castAgent(fields, replay?.agent, { ...options, onOther });
  const inside = castInside(replay, options.record, onOther);
  const onMissing = (one: Failure): void => void missing.push(one);
  const run = await runCase(fields, { ...options, model: cast.model, inside, onMissing });
  const failures = [...missing, ...(await failuresOf(run, checks)), ...changes(fields, replay, run)];
  const judged = await judge(prepared, run, { ...options, replay: replay?.judge, onOther });
  failures.push(...judged.failures);
  const recorded = options.record
    ? recordedRun(run, { agent: cast.recorded?.(), inside: inside?.recorded(), judge: judged.recorded })
    : undefined;
  return {
    passed: failures.length === 0,
    ...run,
    failures,
    ...(judged.verdict === undefined ? {} : { verdict: judged.verdict }),
    ...(recorded === undefined ? {} : { recorded }),
    ...(told.outdated ? { outdated: true } : {}),
  };
}

/** The checks that do not hold. If an expected answer is missing, only that is reported. */
async function failuresOf(run: EvaluatedRun, checks: readonly Check[]): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const { path, fault } of checks) {
    const [field] = path;
    if (field === "answer" && failures.some(({ expectation }) => expectation === "outcome")) continue;
    const message = await fault(run);
    if (message !== undefined) failures.push({ expectation: placeText(path), message });
  }
  return failures;
}

/** The difference from the recorded run, if the case allows none. */
function changes(
  { expect }: FullCase,
  replay: RecordedRun | undefined,
  run: EvaluatedRun,
): readonly Failure[] {
  if (expect.snapshot !== true || replay?.snapshot === undefined) return [];
  const message = changeSince(replay.snapshot, run);
  return message === undefined ? [] : [{ expectation: "snapshot", message }];
}

interface RecordedParts {
  readonly agent: Recorded | undefined;
  readonly inside: ReturnType<CastInside["recorded"]> | undefined;
  readonly judge: Recorded | undefined;
}

/** A run in a form that can be played again; undefined if a model gave no answer, for example because its provider was down. */
function recordedRun(
  run: EvaluatedRun,
  { agent, inside = {}, judge }: RecordedParts,
): RecordedRun | undefined {
  if (agent === "broken" || inside === "broken" || judge === "broken") return undefined;
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(Object.keys(inside).length === 0 ? {} : { inside }),
    ...(judge === undefined ? {} : { judge }),
    snapshot: snapshotOf(run),
  };
}

/** The model that plays a case: its script, its recording, or a model that is asked. */
function castAgent(
  { replies }: FullCase,
  replay: RecordedModel | undefined,
  { agent, model, record, onOther }: PlayOptions & { readonly onOther: () => void },
): Cast {
  if (replies !== undefined) return { model: scripted(replies, { whenDone: "throw", id: "script" }) };
  if (replay !== undefined) return { model: replayingModel(replay, onOther) };
  const source = model ?? agent.own?.definition.model;
  if (!record || source === undefined) return { model };
  return recordingModel(resolveModel(source, agent.name));
}

/** The models of the agents inside, if they are recorded or replayed. */
function castInside(
  replay: RecordedRun | undefined,
  record: boolean,
  onOther: () => void,
): CastInside | undefined {
  if (replay !== undefined) return replayInside(replay.inside ?? {}, onOther);
  return record ? recordInside() : undefined;
}

interface CaseRun extends Pick<PlayOptions, "agent" | "allowEffects" | "signal">, Pick<Cast, "model"> {
  readonly inside: CastInside | undefined;
  readonly onMissing: (failure: Failure) => void;
}

async function runCase(fields: FullCase, options: CaseRun): Promise<EvaluatedRun> {
  const { approve = false } = fields;
  const trace = traceRun();
  const startedAt = performance.now();
  let result: RunResult<unknown> | undefined;
  let thrown: unknown;
  try {
    const { input, session } = await asked(fields);
    const run = runOf(fields, options);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each agent checks its input itself
    result = await run(input as never, {
      onEvent: trace.see,
      approve: ({ tool }) => approve === true || (approve !== false && approve.includes(tool)),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(session === undefined ? {} : { session }),
    });
  } catch (error) {
    thrown = error;
  }
  return evaluatedRun(trace, { result, thrown, durationMs: Math.round(performance.now() - startedAt) });
}

/**
 * A function that runs the agent with the model, the tools and the memory of a case. The memory is discarded
 * after the run.
 */
function runOf(
  { results }: FullCase,
  { agent, model, inside, allowEffects, onMissing }: CaseRun,
): Evaluable["run"] {
  const { own } = agent;
  if (own === undefined) return agent.run;
  const { definition } = own;
  const { executor } = definition;
  const stoodIn = new Set<string>();
  const standIn = standIns({ results, allowEffects, onMissing });
  const replace = (tool: Tool): Tool => {
    const made = standIn(tool);
    if (made === tool) return inside === undefined ? tool : withCastInside(tool, inside);
    stoodIn.add(tool.name);
    return made;
  };
  return own.with({
    ...withTools(definition, replace),
    ...(executor === undefined ? {} : { executor: besideStandIns(executor, stoodIn) }),
    ...(model === undefined ? {} : { model }),
    ...(definition.memory === undefined ? {} : { memory: memoryBank() }),
  }).run;
}

/** The question to the agent; the messages before it are in a session of their own. */
async function asked({ input }: FullCase): Promise<{ input: Json } & Pick<RunOptions, "session">> {
  if (!isConversation(input)) return { input };
  const store = inMemorySessions();
  await store.create("case", { messages: input.slice(0, -1).map(messageIn) });
  return { input: input.at(-1)?.text ?? "", session: session(store, "case") };
}

function isConversation(input: FullCase["input"]): input is readonly CaseMessage[] {
  return Array.isArray(input);
}

function messageIn({ role, text }: CaseMessage): Message {
  return role === "user" ? userMessage(text) : { role, parts: [{ type: "text", text }] };
}

interface RunEnd {
  readonly result: RunResult<unknown> | undefined;
  readonly thrown: unknown;
  readonly durationMs: number;
}

function evaluatedRun(trace: Trace, { result, thrown, durationMs }: RunEnd): EvaluatedRun {
  const error = result?.error ?? thrown;
  const output = toJson(result?.output);
  return {
    ...trace.told(),
    ...(error === undefined ? {} : { error: errorOf(error) }),
    answer: result?.text ?? "",
    ...(output.ok && output.value !== null && typeof output.value !== "string"
      ? { output: output.value }
      : {}),
    durationMs,
  };
}

function errorOf(error: unknown): EvaluatedRun["error"] {
  return { code: isWritError(error) ? error.code : "unexpected", message: messageOf(error) };
}

interface JudgeOptions extends Pick<PlayOptions, "record" | "signal"> {
  readonly replay: RecordedModel | undefined;
  readonly onOther: () => void;
}

interface Judgement {
  readonly failures: readonly Failure[];
  readonly verdict?: JudgeVerdict;
  readonly recorded?: Recorded;
}

/** Has a run judged, if the case wants that and there is an answer to judge. */
async function judge(
  { fields, judge }: PreparedCase,
  run: EvaluatedRun,
  options: JudgeOptions,
): Promise<Judgement> {
  if (judge === undefined || run.outcome !== "answered") return { failures: [] };
  const { rubric, advisory = false } = judge;
  const { model, recorded } = castJudge({ fields, judge }, options);
  const judged =
    model === undefined
      ? { fault: "no verdict was recorded of such a run: record it again with --record" }
      : await judgeRun({ run, fields, rubric }, model, options.signal);
  const kept = recorded === undefined ? {} : { recorded: recorded() };
  const fault = "fault" in judged ? judged.fault : judged.passes ? undefined : judged.reason;
  const failures = fault === undefined || advisory ? [] : [{ expectation: "judge", message: fault }];
  if ("fault" in judged) return { failures, ...kept };
  return { failures, verdict: { passes: judged.passes, reason: judged.reason, advisory }, ...kept };
}

/** The model that judges: its recording if there is one, none if a recorded case lacks it, otherwise a model that is asked. */
function castJudge(
  { fields, judge }: Pick<PreparedCase, "fields" | "judge">,
  { record, replay, onOther }: JudgeOptions,
): Cast {
  if (replay !== undefined) return { model: replayingModel(replay, onOther) };
  if (fields.recorded !== undefined || judge?.by === undefined) return { model: undefined };
  return record ? recordingModel(judge.by) : { model: judge.by };
}

function placeText(path: readonly (string | number)[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .slice(1);
}

/** Options of the stand-ins of tools in a run. */
interface StandInOptions {
  readonly results: readonly FixedResult[];
  /** Carries out calls of tools that change something if there is no result for them. */
  readonly allowEffects: boolean;
  /** Called for each call that the case has no result for. */
  readonly onMissing: (failure: Failure) => void;
}

/**
 * Gives tools the results of a case. Everything else of a tool stays: name, schemas, effect, roles, recovery, so the
 * policy, the check of arguments and the labels see the same tool. A tool that changes
 * something and has no result here does not run: a call of it fails the run.
 */
function standIns({ results, allowEffects, onMissing }: StandInOptions): (tool: Tool) => Tool {
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

/** The agent's executor, for all tools except the ones with stand-ins, whose calls are run here. */
function besideStandIns(executor: Executor, names: ReadonlySet<string>): Executor {
  return {
    async execute(calls, context) {
      const running = calls.filter(({ name }) => names.has(name)).map((call) => context.run(call));
      const others = calls.filter(({ name }) => !names.has(name));
      const given = others.length === 0 ? [] : await executor.execute(others, context);
      return [...(await Promise.all(running)), ...given];
    },
  };
}
