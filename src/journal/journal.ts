import type { Json } from "../util/json.ts";

/**
 * One effect on the world (a model call, a tool call, a look at the clock), not started yet. `key` is its place in the run, like
 * `turn/3/call/2`; `run` does it; `fingerprint` names what it was asked, so that a record made from another request is noticed. It is only
 * called by journals that keep records.
 */
export interface Step<Result> {
  readonly key: string;
  readonly run: () => Promise<Result>;
  readonly fingerprint?: () => string;
  /**
   * Of an effect that may not happen twice: done in place of `run` where an earlier process began the step and left no result. A journal that
   * keeps records writes down that such a step begins before it calls `run`. Left out where the step may be repeated.
   */
  readonly lost?: () => Promise<Result>;
  /** The run that asks, and the parts of the fingerprint that may differ from what they were. */
  readonly terms?: StepTerms;
  /** Its result must be on the disk before the run goes on: a person's answer, the end of the run. */
  readonly mustLast?: true;
  /** It begins no effect of its own: its effects are steps inside it, or began before. A replay does its work where it has no record. */
  readonly isOuter?: true;
  /** Of an agent inside a call: does its run again for what that tells. Asked where a replay tells of runs inside and the step has its record already. */
  readonly retell?: () => Promise<void>;
}

/** The terms of a run for all its steps. */
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
   * `replay`: nothing may happen any more. No model, tool, hook or person is asked; a step without a record throws `journal-ended`, and the journal
   * writes nothing. Default: what is not recorded is done.
   */
  readonly mode?: "replay";
  step<Result>(step: Step<Result>): Promise<Result>;
  /**
   * The only concurrency of a run: steps that are made of one effect each, given in call order, all started, results in the same order.
   * A step that cannot be recorded lets the others end and be recorded first; then it throws.
   */
  all<Result>(steps: readonly Step<Result>[]): Promise<Result[]>;
  /**
   * Looks for the answer to a question, and keeps the question for whoever answers it, in whatever process, where there is none yet. Left out by
   * journals in which a run cannot wait.
   */
  readonly ask?: <Answer>(question: Question) => Promise<Asked<Answer>>;
  /**
   * The result that is recorded under a key, at once; undefined where there is none. With it a run that has ended stays ended, and what was decided
   * about a call is not decided again. A wrapper hands it on, as it does `mode`.
   */
  readonly find?: (key: string) => Json | undefined;
  /**
   * The recorded results of steps, at once: what `all` would give of steps that all have one, without a promise. Undefined where `all` has to be asked.
   * A long run is gone through again in three quarters of the time with it. A wrapper that changes steps changes these too, and one that has to see each leaves it out.
   *
   * @throws what `all` throws of a record that was made from another request
   */
  readonly recorded?: <Result>(steps: readonly Step<Result>[]) => Result[] | undefined;
  /**
   * The end that a call has without being made, as the record of a call: in a fork, from the run that it comes from. Undefined where the call is made.
   * Asked about each call, in the same order at each replay. A wrapper hands it on.
   */
  readonly recall?: (
    key: string,
    call: { readonly tool: string; readonly fingerprint: string },
  ) => Json | undefined;
  /** Tells whether an earlier process began a step that may not happen twice, and left no result. */
  readonly hasBegun?: (key: string) => boolean;
  /** Of a replay that follows a run which may go on: waits until a step has its record, or will have none. A wrapper hands it on. */
  readonly arrived?: (key: string) => Promise<void>;
  /** Of a replay: the facts of agents inside calls are told too. A wrapper hands it on. */
  readonly tellsInside?: true;
}

/** A question to somebody who may answer days later. */
export interface Question extends Pick<Step<unknown>, "key" | "fingerprint" | "terms">, AnswerBounds {
  readonly request: Json;
}

/** The bounds of an answer. */
export interface AnswerBounds {
  /** The time for which the question stands, from when it was first asked, and the answer that it has then. */
  readonly atLast?: { readonly afterMs: number; readonly answer: Json };
  /** Those who may answer. Default: anybody. */
  readonly by?: readonly string[];
  /** The name of the signal that answers it, also one that was sent before. Left out where a person does. */
  readonly signal?: string;
}

/** The answer, or the place of the question in the journal of the outermost run: it waits there. */
export type Asked<Answer> = { readonly answer: Answer } | { readonly waitsAt: string };

/** The same step, with its work wrapped, whichever of the two a journal does. */
export function withWork<Result>(
  step: Step<Result>,
  around: (work: () => Promise<Result>) => Promise<Result>,
): Step<Result> {
  const { run, lost } = step;
  const wrapped = { ...step, run: () => around(run) };
  return lost === undefined ? wrapped : { ...wrapped, lost: () => around(lost) };
}
