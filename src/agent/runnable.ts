import { WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import type { AnsweredOutcome, UnansweredOutcome } from "../event/outcome.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { Label } from "../message/label.ts";
import { callsMade, type MadeCall } from "../message/made-calls.ts";
import { contentText, type FilePart } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import { RunAccounts } from "../run/accounts.ts";
import type { Approve, TermsInRun } from "../run/approval.ts";
import { callAround, levelAround, type RunPowers, surrounded, surroundingRun } from "../run/around.ts";
import type { Checkpoint } from "../run/checkpoint.ts";
import { EventReader } from "../run/event-reader.ts";
import { type LoopResult, withRun } from "../run/finished.ts";
import type { Framed } from "../run/frame.ts";
import { type Scope, scopeOf } from "../run/scope.ts";
import { StepsOfRun } from "../run/steps-of-run.ts";
import type { OpenQuestion } from "../run/waits.ts";
import type { Schema } from "../schema/schema.ts";
import type { Capability } from "../tool/capability.ts";
import type { CallAround, Level } from "../tool/power-port.ts";
import type { OnWait } from "../tool/waits.ts";
import { drain } from "../util/drain.ts";
import type { Maybe } from "../util/maybe.ts";
import { checkAccount, checkRunOptions } from "./check-definition.ts";
import type { AgentInside } from "./describe/manifest-origin.ts";
import { beginningOf, leavingOf, placeOf } from "./kept-beginning.ts";
import { listenerOf } from "./observers.ts";
import type { AccountChoice, RunOptions } from "./run-options.ts";

/** The part of a run's result that every end has. */
interface CommonResult {
  /** The id of the run: that of the option `runId`, or a random one. */
  readonly runId: string;
  /** The answer as text; empty if there is none. */
  readonly text: string;
  /** The files in the answer: what the model drew or spoke. */
  readonly files: readonly FilePart[];
  /** The messages of the run, in order; with a session, those of its conversation too. */
  readonly transcript: ReadyTranscript;
  /** The calls of this run with their ends, including those that did not run; made on first read. Calls of runs inside are in the results of those. */
  readonly calls: readonly MadeCall[];
  /** Tokens of this run and of the runs inside it. */
  readonly usage: Usage;
  /** Dollars of this run and of the runs inside it, as the budget counts them. Left out if a price is unknown. */
  readonly costUsd?: number;
  /** The number of turns, without those of runs inside. */
  readonly turns: number;
  /** The label of the answer: the join of the labels of everything read for it. */
  readonly label: Label;
}

/** The result of a run that answered. */
interface AnsweredRun<Output> extends CommonResult {
  readonly outcome: AnsweredOutcome;
  /** The answer, as the `output` of the agent has it. */
  readonly output: Output;
  readonly error?: undefined;
  readonly checkpoint?: undefined;
  readonly questions?: undefined;
}

/** The result of a run without an answer. */
interface UnansweredRun extends CommonResult {
  /** The end of the run: `failed`, `exhausted`, ... */
  readonly outcome: UnansweredOutcome;
  readonly output?: undefined;
  /** Says why the run has no answer. The agent called as a function throws it. */
  readonly error: WritError;
  /** Present if the outcome is `suspended`: `agent.resume()` continues from it. */
  readonly checkpoint?: Checkpoint;
  /** Present if the outcome is `suspended` for want of answers: once they are given, another run with the same journal and id goes on. */
  readonly questions?: readonly OpenQuestion[];
}

/**
 * The result of a run, whatever its end. It has an `output` or an `error`: a check of `error` tells TypeScript which.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { scripted } from "writ/testing";
 * import { z } from "zod";
 *
 * const namer = agent({ name: "namer", model: scripted(['{"city":"Lima"}']), output: z.object({ city: z.string() }) });
 * const { output, error } = await namer.run("Which city?");
 * if (error !== undefined) throw error;
 * console.log(output.city);
 * ```
 */
export type RunResult<Output> = AnsweredRun<Output> | UnansweredRun;

/** Anything that can be run: an agent or a composition. */
export interface Runnable<Input = never, Output = unknown> {
  /**
   * Runs and returns the output.
   *
   * @throws WritError for anything but an answer; its code says what happened
   */
  (input: Input, options?: RunOptions): Promise<Output>;
  /** The name in events and errors: that of the agent, or of a composition, such as `pipe(a, b)`. */
  readonly name: string;
  /** Says what it is for, to people and to the model that may call it as a tool. Empty if none was given. */
  readonly description: string;
  /**
   * Runs to the end, and returns the end as data. It throws only if the world fails (a provider, the journal, a session's store), or the
   * caller made a mistake: a wrong input, or a skill that does not exist or that nothing chooses.
   */
  run(input: Input, options?: RunOptions): Promise<RunResult<Output>>;
  /** The same run, event by event; the generator returns what `run` returns. Leaving it early cancels the run. */
  stream(input: Input, options?: RunOptions): AsyncGenerator<AgentEvent, RunResult<Output>>;
}

/** The frame of every run, including the powers that it inherits from the run around it. */
export interface RunFrame extends RunPowers {
  readonly runId: string;
  readonly host: Host;
  readonly journal: Journal;
  readonly signal?: AbortSignal;
  readonly approve?: Approve;
  readonly onWait?: OnWait;
  /** The terms of questions, from the run around it. */
  readonly approvals: TermsInRun;
  /** Aborted when the run is to be handed over. */
  readonly leaving?: AbortSignal;
  readonly sessionId?: string;
  readonly parent?: Scope;
  /** The level of the run: its depth inside other runs, and the bound on it. */
  readonly level: Level;
  readonly accounts?: RunAccounts;
  /** The call in whose code the run is begun, whether or not it was handed over as `parent`; its label is that of the run's input. */
  readonly around?: CallAround;
  readonly watched: boolean;
}

/** A run that has not begun. */
export interface Begun {
  readonly runId: string;
  readonly framed: Framed;
}

/** Begins a run; throws the faults of its input and options. */
export type Begin<Input> = (input: Input, options: RunOptions, watched: boolean) => Maybe<Begun>;

/** The facts about a runnable that are known without running it. */
export interface About {
  readonly host: Host;
  /**
   * The schema of its input. Undefined for text; `various` if agents with different schemas get the
   * same input.
   */
  readonly input?: Schema | "various";
  /** The schemas of its answers, one for each way to an answer. Undefined for text. */
  readonly outputs: readonly (Schema | undefined)[];
  /** The names of all tools that may be called in it. */
  readonly tools: readonly string[];
  /** The names of its skills. Left out for a composition: each member has its own. */
  readonly skills?: readonly string[];
  /** The capabilities that it grants its tools. */
  readonly grants?: readonly Capability[];
  /** The agents that run in it, as far as they are known. */
  readonly inside?: readonly AgentInside[];
  /** True for a composition: it takes no session, and its durable runs are only grouped by one. */
  readonly keepsNoConversation?: true;
}

export interface RunnableParts<Input> {
  readonly name: string;
  readonly description: string;
  readonly begin: Begin<Input>;
  readonly about: About;
}

// Register: the facts about each runnable, from when it was made.
const known = new WeakMap<object, About>();

/** The facts about a runnable. Undefined for a value that this package did not make. */
export function aboutOf(value: unknown): About | undefined {
  return typeof value === "function" ? known.get(value) : undefined;
}

/** The options of a run without any. */
const noOptions: RunOptions = Object.freeze({});

/** The three ways to run, made from one. */
export function runnable<Input, Output>({
  name,
  description,
  begin,
  about,
}: RunnableParts<Input>): Runnable<Input, Output> {
  async function run(input: Input, options: RunOptions = noOptions): Promise<RunResult<Output>> {
    const { onEvent }: RunOptions = Object(options); // null is reported where the run begins
    const listen = onEvent && listenerOf(onEvent, name, about.host);
    const begun = begin(input, options, listen !== undefined);
    const { runId, framed } = begun instanceof Promise ? await begun : begun;
    return listen === undefined
      ? resultOf(runId, await framed.end())
      : endOf<Output>({ runId, framed }, listen);
  }
  function stream(input: Input, options: RunOptions = {}): AsyncGenerator<AgentEvent, RunResult<Output>> {
    const reader = readerOf<Output>(
      () => begin(input, options, true),
      () => unreadSign(name, about.host),
    );
    return surrounded(about.host, reader);
  }
  async function call(input: Input, options?: RunOptions): Promise<Output> {
    const result = await run(input, options);
    tellCut(result, name, about.host);
    return outputOf(result);
  }
  known.set(call, about);
  Object.defineProperty(call, "name", { value: name }); // a function has a name of its own, which cannot be assigned
  return Object.assign(call, { description, run, stream });
}

/** Warns of an answer that was cut off: a caller that only gets the answer cannot see it. */
function tellCut({ outcome, output }: RunResult<unknown>, name: string, { warn }: Host): void {
  if (outcome.type !== "answered" || outcome.finishReason !== "length" || typeof output !== "string") return;
  const text =
    `An answer of "${name}" was cut at the token limit and may end in the middle. Raise \`maxOutputTokens\`, ` +
    'or end such runs with `endOn: ["length"]`; `run()` says it in `outcome.finishReason`.';
  warn?.({ code: "WRIT_ANSWER_CUT", text, isDeprecation: false });
}

/** The output of a run that answered. @throws WritError for any other end */
function outputOf<Output>(result: RunResult<Output>): Output {
  if (result.error === undefined) return result.output;
  throw withRun(result.error, result);
}

/** Runs to the end, and passes on each event. */
export async function endOf<Output>(
  { runId, framed }: Begun,
  listen?: (event: AgentEvent) => unknown,
): Promise<RunResult<Output>> {
  if (listen === undefined) return resultOf(runId, await framed.end());
  const reader = new EventReader(() => ({ framed, finish: (result) => resultOf<Output>(runId, result) }));
  return drain(reader, listen);
}

/** The reader of a run's events; the run begins with the first. */
export function readerOf<Output>(
  begin: () => Maybe<Begun>,
  onAwaited?: () => () => void,
): EventReader<RunResult<Output>> {
  return new EventReader(async () => {
    const { runId, framed } = await begin();
    return { framed, finish: (result) => resultOf<Output>(runId, result) };
  }, onAwaited);
}

/** The files of the last reply. */
function filesOf(transcript: ReadyTranscript): readonly FilePart[] {
  const [reply] = transcript.since(transcript.length - 1);
  return reply?.role === "assistant" ? reply.parts.filter((part) => part.type === "file") : [];
}

/** The result of a loop as the result of a run. */
function resultOf<Output>(runId: string, result: LoopResult): RunResult<Output> {
  const { outcome } = result;
  const text = outcome.type === "answered" ? contentText(outcome.content) : "";
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output schema of the runnable made it
  const ended = { runId, text, ...result, output: result.output as Output | undefined };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that it lacks are those that are added
  return Object.defineProperties(ended, madeWhenRead) as RunResult<Output>;
}

/** The calls and files of a result, which its transcript has: they are made on first read, and left out of copies and of JSON. */
const madeWhenRead: PropertyDescriptorMap & ThisType<LoopResult> = {
  calls: {
    get() {
      return callsMade(this.transcript);
    },
  },
  files: {
    get() {
      return this.outcome.type === "answered" ? filesOf(this.transcript) : [];
    },
  },
};

const noTerms = {};

/**
 * Makes the frame of a run of `name` from its own options, and the powers that it inherits from the run around it.
 *
 * @throws WritError `definition-invalid`, `tool-unknown` for the options, `delegation-too-deep` if agents call agents deeper than the outermost one allows
 */
export function frameOf(name: string, options: RunOptions, around: Surrounding): RunFrame {
  const { host, watched, tools } = around;
  if (options !== noOptions) checkRunOptions(options, name, tools);
  const parent = options.parent === undefined ? undefined : scopeOf(options.parent);
  const { runId, leaving, steps } = stepsOf(name, parent, { ...around, options });
  const { powers, scope } = surroundingRun(host, { name, call: parent, ceiling: options.ceiling });
  return {
    runId,
    host: host.ofRun?.() ?? host,
    watched,
    parent,
    level: levelOf(name, parent, levelAround(host)),
    accounts: accountsOf(name, options, { ...around, outer: parent?.accounts }),
    around: asOfNow(parent?.around ?? callAround(host)),
    journal: steps,
    leaving,
    signal: options.signal,
    sessionId: options.session?.id,
    approve: options.approve ?? parent?.approve,
    onWait: options.onWait ?? parent?.onWait,
    approvals: parent?.approvals ?? { terms: noTerms, runId },
    powers,
    scope,
  };
}

interface Stepping {
  readonly runId: string;
  readonly steps: Journal;
  /** The signal that hands it over. */
  readonly leaving: AbortSignal | undefined;
}

/** The id of a run, and its steps in its journal. @throws WritError `run-option-unusable` */
function stepsOf(
  name: string,
  parent: Scope | undefined,
  { host, input, options }: Surrounding & { readonly options: RunOptions },
): Stepping {
  const place = parent?.nextRun(placeOf(name, input));
  const runId = options.runId ?? place?.runId ?? host.randomId();
  const journal = options.journal ?? place?.journal ?? directJournal;
  if (journal === directJournal && options.handOver === undefined)
    return { runId, steps: journal, leaving: undefined };
  const leaving = leavingOf(options, { name, journal }) ?? parent?.leaving;
  const { accept } = options;
  const outer = parent?.stop;
  const beginning = outer !== undefined ? undefined : () => beginningOf(name, input, { options, host });
  return {
    runId,
    leaving,
    steps: new StepsOfRun({ journal, runId, host, accept, outer, leaving, beginning }),
  };
}

/** The facts of a run's beginning that are not options. */
interface Surrounding {
  readonly host: Host;
  readonly watched: boolean;
  /** The input as the caller passed it. */
  readonly input: unknown;
  /** The names of the tools that may be called in it. */
  readonly tools: ReadonlySet<string>;
  readonly account?: AccountChoice;
}

interface Paid {
  readonly host: Host;
  readonly account?: AccountChoice;
  readonly outer?: RunAccounts;
}

function accountsOf(
  agent: string,
  options: RunOptions,
  { host, account, outer }: Paid,
): RunAccounts | undefined {
  const own = typeof account === "function" ? account(options) : account;
  if (own === undefined && options.account === undefined && outer === undefined) return undefined;
  if (own !== undefined) checkAccount(own, agent);
  const given = [own, options.account].filter((each) => each !== undefined);
  return new RunAccounts(outer, given, { agent, host });
}

/** The surroundings as they are now, without the labels that other runs inside the call add later. */
function asOfNow(around: CallAround | undefined): CallAround | undefined {
  if (around === undefined) return undefined;
  const { intent, label, saw, depth, maxDepth } = around;
  return { intent, label, saw, depth, maxDepth };
}

const outermost: Level = { depth: 0, maxDepth: Infinity };

/** The level of a run inside these: the deeper one counts, so that no `parent` leads out. @throws WritError `delegation-too-deep` */
function levelOf(name: string, ...around: readonly (Level | undefined)[]): Level {
  const known = around.filter((each) => each !== undefined);
  if (known.length === 0) return outermost;
  const depth = Math.max(-1, ...known.map((each) => each.depth)) + 1;
  const maxDepth = Math.min(...known.map((each) => each.maxDepth));
  if (depth > maxDepth) throw new WritError("delegation-too-deep", { name, depth, limit: maxDepth });
  return { depth, maxDepth };
}

/** The milliseconds, after a stream was awaited, within which somebody should read it. */
const unreadMs = 1000;

/** Warns of a stream that was awaited and that nobody reads. Returns a function that cancels the warning. */
function unreadSign(name: string, host: Host): () => void {
  const text = `\`await ${name}.stream(...)\` has begun no run: a stream runs while it is read. Write \`for await (const event of ${name}.stream(...))\`, or \`await ${name}.run(...)\`.`;
  return host.timer(unreadMs, () => host.warn?.({ code: "WRIT_STREAM_UNREAD", text, isDeprecation: false }));
}
