import { atOnce, checkShape, closed } from "../../error/check-shape.ts";
import { optional } from "../../util/shape.ts";
import { type Composite, composite } from "./composite.ts";
import { inputOfAll, type InputOfAll, membersOf, type OutputOfOne } from "./members.ts";
import type { OneOf, ParallelAgents, ParallelOptions } from "./parallel.ts";
import { together } from "./together.ts";

/**
 * Gives several agents the same input at the same time: the first answer is the output, and the other runs are cancelled. An agent
 * that fails loses; if all fail, the race ends like the last of them. With `{ concurrency: 1 }` each begins when the one before it has
 * failed. One agent may take part more than once. The winner is recorded, so that a replay has the same one.
 *
 * @throws WritError `definition-invalid` for no agents, a value that is not an agent, or a `concurrency` that is no whole number from 1 on
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { race } from "writ/compose";
 *
 * const small = agent({ name: "small", model: "ollama/qwen2.5:0.5b" });
 * const large = agent({ name: "large", model: "ollama/qwen2.5:14b" });
 *
 * console.log(await race([small, large])("What is the capital of Peru?"));
 * ```
 */
export function race<const Agents extends ParallelAgents>(
  agents: Agents & (Agents extends readonly [] ? never : unknown),
  options: ParallelOptions = {},
): Composite<InputOfAll<OneOf<Agents>>, OutputOfOne<OneOf<Agents>>> {
  checkShape("race()", options, shape);
  const { concurrency = Infinity } = options;
  const members = membersOf(agents, "race()");
  return composite({
    name: `race(${members.map(({ name }) => name).join(", ")})`,
    members,
    input: inputOfAll(members),
    outputs: members.flatMap(({ about }) => about.outputs),
    async course(input, run) {
      const [output] = await together({ members, input, until: "answer", concurrency }, run);
      return output;
    },
  });
}

const shape = closed({ concurrency: optional(atOnce) });
