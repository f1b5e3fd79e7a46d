import { WritError } from "../../error/writ-error.ts";
import type { Runnable } from "../runnable.ts";
import type { CompositeRun } from "./composite-run.ts";
import { type Composite, composite } from "./composite.ts";
import { askAuthor, type RunInside, runMember, unanswered } from "./course.ts";
import { checkCount, memberOf } from "./members.ts";
import { checkShape, closed } from "../../error/check-shape.ts";
import { anything, callable, optional } from "../../util/shape.ts";

/** The round that an author's function is asked about, and the options with which it runs agents: `judge(output, round)`. */
export interface Round extends RunInside {
  /** The number of the round, from 1. */
  readonly round: number;
}

/** The condition that ends the rounds, and their bound. */
export interface UntilOptions<Output> {
  /**
   * True: this output ends the rounds. A replay calls it again: its questions to the world must go through an
   * agent that it runs with the round.
   */
  readonly until: (output: Output, round: Round) => boolean | Promise<boolean>;
  /** The most rounds. Default 5. */
  readonly max?: number;
}

/** The condition that ends the rounds, and the input of each. */
export interface RepeatOptions<Input, Output> extends UntilOptions<Output> {
  /**
   * Makes the input of the next round: feedback on the output, for example. `undefined` ends the rounds with
   * that output.
   */
  readonly next: (output: Output, round: Round) => Input | undefined | Promise<Input | undefined>;
}

const defaultMax = 5;

/**
 * Runs an agent again until its output is good, and returns that output. The next round gets what `next` makes of the output; without `next`,
 * the output itself. After `max` rounds without a good output the run fails with `rounds-used-up`.
 *
 * @throws WritError `definition-invalid` for a `max` below 1, or a value that is not an agent
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { repeat } from "writ/compose";
 * import { z } from "zod";
 *
 * const write = agent({ name: "write", model: "ollama/qwen2.5:7b" });
 * const judge = agent({
 *   name: "judge",
 *   model: "ollama/qwen2.5:7b",
 *   output: z.object({ good: z.boolean(), criticism: z.string() }),
 * });
 *
 * const polished = repeat(write, {
 *   until: async (draft, round) => round.round === 3 || (await judge(draft, round)).good,
 *   next: async (draft, round) => `Improve this. ${(await judge(draft, round)).criticism}\n\n${draft}`,
 *   max: 3,
 * });
 * console.log(await polished("Write a haiku about the sea."));
 * ```
 */
export function repeat<Input, Output>(
  agent: Runnable<Input, Output>,
  options: RepeatOptions<NoInfer<Input>, NoInfer<Output>>,
): Composite<Input, Output>;
export function repeat<Input, Output extends Input>(
  agent: Runnable<Input, Output>,
  options: UntilOptions<NoInfer<Output>>,
): Composite<Input, Output>;
export function repeat(
  agent: Runnable,
  options: UntilOptions<never> & Partial<RepeatOptions<unknown, never>>,
): Composite {
  checkShape("repeat()", options, shape);
  const { until, next, max = defaultMax } = options;
  const member = memberOf(agent, "repeat()");
  checkCount(max, "`max`", "repeat()");
  const { input, outputs } = member.about;
  async function course(given: unknown, run: CompositeRun): Promise<unknown> {
    let value = given;
    for (let round = 1; round <= max; round += 1) {
      const isMade = round === 1 ? undefined : next === undefined;
      const output = await runMember({ member, place: `0/${round}`, input: value, isMade }, run);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the signatures hold the author's functions to this output
      const asked = output as never;
      const ask = (inside: RunInside): boolean | Promise<boolean> => until(asked, { ...inside, round });
      if (await askAuthor({ place: `until/${round}`, name: "until", ask }, run)) return output;
      if (round === max) break;
      value =
        next === undefined
          ? output
          : await askAuthor(
              { place: `next/${round}`, name: "next", ask: (inside) => next(asked, { ...inside, round }) },
              run,
            );
      if (value === undefined) return output;
    }
    throw unanswered(new WritError("rounds-used-up", { name: run.name, max }));
  }
  const name = `repeat(${member.name})`;
  return composite({ name, members: [member], input, outputs, hasOthers: true, course });
}

const shape = closed({ until: callable, next: optional(callable), max: anything });
