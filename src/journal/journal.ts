import type { Interrupt } from "../util/interrupt.ts";
import type { Json } from "../util/json.ts";

/**
 * One effect on the world (a model call, a tool call, a look at the clock) that has not started yet. `key` is its place in the run, such as
 * `turn/3/call/2`. `run` does it. `fingerprint` names its request, so that a record of another request is noticed; only
 * journals that keep records call it.
 */
export interface Step<Result> {
  readonly key: string;
  readonly run: () => Promise<Result>;
  readonly fingerprint?: () => string;
  /**
   * For an effect that may not happen twice: called in place of `run` if an earlier process began the step and left no result. A journal that
   * keeps records writes that such a step begins before it calls `run`. Left out if the step may be repeated.
   */
  readonly lost?: () => Promise<Result>;
  /** The run that asks, and the parts of the fingerprint that may differ from the record. */
  readonly terms?: StepTerms;
  /** True if the result must be on disk before the run goes on: a person's answer, the end of the run. */
  readonly mustLast?: true;
  /** True if the step begins no effect of its own: its effects are steps inside it, or began before. A replay does its work even without a record. */
  readonly isOuter?: true;
  /**
   * For an agent inside a call: runs it again for its events, until it is stopped. Called if a replay tells the events of runs inside and the step has its
   * record, or may still get it.
   */
  readonly retell?: (stop: Interrupt<unknown>) => Promise<void>;
}

/** The terms of a run for all of its steps. */
export interface StepTerms {
  readonly run: string;
  readonly accept: ReadonlySet<string>;
}

/**
 * The port through which every effect of a run goes. A step whose result is recorded is not run again; its recorded result is returned.
 * Results are plain JSON. A step that throws is not recorded.
 */
export interface Journal {
  /**
   * `replay`: nothing new may happen. Models, tools, hooks and people are not asked; a step without a record throws `journal-ended`, and the journal
   * writes nothing. Default: a step without a record is carried out.
   */
  readonly mode?: "replay";
  step<Result>(step: Step<Result>): Promise<Result>;
  /**
   * The only concurrency of a run: steps of one effect each are given in call order and all started; results come in the same order.
   * If a step cannot be recorded, the others end and are recorded first, and then it throws.
   */
  all<Result>(steps: readonly Step<Result>[]): Promise<Result[]>;
  /**
   * Looks for the answer to a question. If there is none yet, keeps the question for whoever answers it, in any process. Left out by
   * journals in which a run cannot wait.
   */
  readonly ask?: <Answer>(question: JournalQuestion) => Promise<Asked<Answer>>;
  /**
   * The result recorded under a key, without a promise; undefined without a record. It keeps an ended run ended, and a decision
   * about a call from being made again. A wrapper passes it on, like `mode`.
   */
  readonly find?: (key: string) => Json | undefined;
  /**
   * The recorded results of steps, without a promise: what `all` would return if every step has a record. Undefined if `all` has to be asked.
   * Replaying a long run takes a quarter less time with it. A wrapper that changes steps changes these too; a wrapper that must see each step leaves it out.
   *
   * @throws the error of `all` for a record of another request
   */
  readonly recorded?: <Result>(steps: readonly Step<Result>[]) => Result[] | undefined;
  /**
   * The end of a call that is not made, as the record of a call: in a fork, taken from the original run. Undefined if the call is made.
   * Asked about each call, in the same order at each replay. A wrapper passes it on.
   */
  readonly recall?: (
    key: string,
    call: { readonly tool: string; readonly fingerprint: string },
  ) => Json | undefined;
  /** Tells whether an earlier process began a step that may not happen twice and left no result. */
  readonly hasBegun?: (key: string) => boolean;
  /** For a replay that follows a run which may go on: waits until a step has its record or will never have one. A wrapper passes it on. */
  readonly arrived?: (key: string) => Promise<void>;
  /** For a replay: stops the run if it was stopped in this step. A run inside that was stopped there with it asks first. A wrapper passes it on. */
  readonly stopAt?: (key: string) => void;
  /** For a replay: true if the facts of agents inside calls are told too. A wrapper passes it on. */
  readonly tellsInside?: true;
}

/** A question to a person or system that may answer days later. */
export interface JournalQuestion extends Pick<Step<unknown>, "key" | "fingerprint" | "terms">, AnswerBounds {
  readonly request: Json;
}

/** The bounds of an answer. */
export interface AnswerBounds {
  /** The time that the question stands, counted from when it was first asked, and the answer that it gets then. */
  readonly atLast?: { readonly afterMs: number; readonly answer: Json };
  /** The people who may answer. Default: anybody. */
  readonly by?: readonly string[];
  /** The name of the signal that answers it, even one sent earlier. Left out if a person answers. */
  readonly signal?: string;
}

/** The answer, or the key of the open question in the journal of the outermost run. */
export type Asked<Answer> = { readonly answer: Answer } | { readonly waitsAt: string };

/** The same step with its work wrapped: `run` as well as `lost`. */
export function withWork<Result>(
  step: Step<Result>,
  around: (work: () => Promise<Result>) => Promise<Result>,
): Step<Result> {
  const { run, lost } = step;
  const wrapped = { ...step, run: () => around(run) };
  return lost === undefined ? wrapped : { ...wrapped, lost: () => around(lost) };
}

/** A step on the terms of a run. A step of a run inside keeps its own, and accepts the differences that the run around it accepts as well. */
export function onTerms<Given extends Pick<Step<unknown>, "terms">>(given: Given, terms: StepTerms): Given {
  if (given.terms === undefined) return { ...given, terms };
  if (terms.accept.size === 0) return given;
  const { run, accept } = given.terms;
  return { ...given, terms: { run, accept: accept.union(terms.accept) } };
}
