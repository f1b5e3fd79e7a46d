import type { JsonObject } from "../../util/json.ts";
import type { Runnable } from "../runnable.ts";
import { type Composite, composite } from "./composite.ts";
import { runMember } from "./course.ts";
import { checkCount, membersOf, type OutputOfOne } from "./members.ts";

/** An agent that takes the output of the one before it: as it is, or, for an object or a list, as any JSON object. */
type Next<Before, Output> = unknown extends Before
  ? Runnable<never, Output>
  : Runnable<Before extends object ? Before & JsonObject : Before, Output>;

/** Agents of which the first takes this output, and each other one that of the one before it. */
type Chain<Before, Agents extends readonly Runnable[]> = {
  readonly [Place in keyof Agents]: Next<
    OutputOfOne<Led<Before, Agents>[Place & keyof Led<Before, Agents>]>,
    unknown
  >;
};

/** Agents behind one with this output. */
type Led<Before, Agents extends readonly Runnable[]> = [Runnable<never, Before>, ...Agents];

type Seven = [Runnable, Runnable, Runnable, Runnable, Runnable, Runnable, Runnable];

type Last<Agents> = Agents extends readonly [...unknown[], infer Agent] ? Agent : never;

/**
 * Runs agents one after another: the output of one is the input of the next, text as it is, everything else as JSON. The output is that of the
 * last. An agent that does not answer ends the pipe with its outcome; the error names it, and has its error as cause.
 *
 * @throws WritError `definition-invalid` for fewer than two agents, or a value that is not an agent
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { pipe } from "writ/compose";
 *
 * const research = agent({ name: "research", model: "ollama/qwen2.5:7b", instructions: "Collect what is known." });
 * const write = agent({ name: "write", model: "ollama/qwen2.5:7b", instructions: "Make a paragraph of the notes." });
 *
 * const report = pipe(research, write);
 * console.log(await report("Why is the sea salty?"));
 * ```
 */
export function pipe<In, A, Out>(first: Runnable<In, A>, second: Next<NoInfer<A>, Out>): Composite<In, Out>;
export function pipe<In, A, B, Out>(
  ...agents: [Runnable<In, A>, Next<NoInfer<A>, B>, Next<NoInfer<B>, Out>]
): Composite<In, Out>;
export function pipe<In, A, B, C, Out>(
  ...agents: [Runnable<In, A>, Next<NoInfer<A>, B>, Next<NoInfer<B>, C>, Next<NoInfer<C>, Out>]
): Composite<In, Out>;
export function pipe<In, A, B, C, D, Out>(
  ...agents: [
    Runnable<In, A>,
    Next<NoInfer<A>, B>,
    Next<NoInfer<B>, C>,
    Next<NoInfer<C>, D>,
    Next<NoInfer<D>, Out>,
  ]
): Composite<In, Out>;
export function pipe<In, A, B, C, D, E, Out>(
  ...agents: [
    Runnable<In, A>,
    Next<NoInfer<A>, B>,
    Next<NoInfer<B>, C>,
    Next<NoInfer<C>, D>,
    Next<NoInfer<D>, E>,
    Next<NoInfer<E>, Out>,
  ]
): Composite<In, Out>;
export function pipe<In, A, B, C, D, E, F, G, const More extends readonly Runnable[]>(
  ...agents: [
    Runnable<In, A>,
    Next<NoInfer<A>, B>,
    Next<NoInfer<B>, C>,
    Next<NoInfer<C>, D>,
    Next<NoInfer<D>, E>,
    Next<NoInfer<E>, F>,
    Next<NoInfer<F>, G>,
    ...More,
  ] &
    [...Seven, ...Chain<NoInfer<G>, More>]
): Composite<In, OutputOfOne<Last<Led<G, More>>>>;
/** Of a list: each agent takes the output of every one. */
export function pipe<In, Out extends In, Length extends number>(
  ...agents: readonly Runnable<In, Out>[] & { readonly length: number extends Length ? Length : never }
): Composite<In, Out>;
export function pipe(...agents: readonly Runnable[]): Composite {
  const members = membersOf(agents, "pipe()");
  checkCount(members.length - 1, "the number of agents after the first", "pipe()");
  const [first] = members;
  return composite({
    name: `pipe(${members.map(({ name }) => name).join(", ")})`,
    members,
    input: first.about.input,
    outputs: members.at(-1)?.about.outputs ?? [],
    async course(input, run) {
      let value = input;
      for (const [index, member] of members.entries())
        value = await runMember(
          { member, place: String(index), input: value, isMade: index > 0 || undefined },
          run,
        );
      return value;
    },
  });
}
