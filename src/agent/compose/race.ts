import type { Runnable } from "../runnable.ts";
import { type Composite, composite } from "./composite.ts";
import { inputOfAll, type InputOfAll, membersOf, type OutputOfOne } from "./members.ts";
import { together } from "./together.ts";

/**
 * Gives several agents the same input at the same time: the first answer is the output, and the runs of the others are cancelled. An agent
 * that fails loses; when all do, the race ends as the last of them did. One agent may stand in it more than once. Who won is recorded, so
 * that a replay has the same winner.
 *
 * @throws WritError `definition-invalid` for no agents, or what is no agent
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
export function race<const Agents extends readonly [Runnable, ...Runnable[]]>(
  agents: Agents,
): Composite<InputOfAll<Agents[number]>, OutputOfOne<Agents[number]>> {
  const members = membersOf(agents, "race()");
  return composite({
    name: `race(${members.map(({ name }) => name).join(", ")})`,
    members,
    input: inputOfAll(members),
    outputs: members.flatMap(({ about }) => about.outputs),
    async course(input, run) {
      const [output] = await together({ members, input, until: "answer", concurrency: Infinity }, run);
      return output;
    },
  });
}
