import { atOnce, checkShape, closed } from "../../error/check-shape.ts";
import { wholeJson } from "../../util/json.ts";
import { callable, optional } from "../../util/shape.ts";
import type { Runnable } from "../runnable.ts";
import { type Composite, composite } from "./composite.ts";
import { askAuthor } from "./course.ts";
import { memberOf } from "./members.ts";
import { together } from "./together.ts";

/** Options of one agent that runs once for each item. */
export interface EachOptions<Input, Item> {
  /** Makes the items of the input. A replay calls it again: it must decide by its argument alone. */
  readonly each: (input: Input) => readonly Item[];
  /** The number of items at a time. Default: all. */
  readonly concurrency?: number;
}

/** One agent, run once for each item that a function makes of the input. @throws WritError `definition-invalid` for anything but an agent and `each` */
export function forEachItem(agent: Runnable, options: Partial<EachOptions<never, unknown>>): Composite {
  checkShape("parallel()", options, shape);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was checked
  const { each, concurrency = Infinity } = options as EachOptions<never, unknown>;
  const member = memberOf(agent, "parallel()");
  return composite({
    name: `each(${member.name})`,
    members: [member],
    input: "various",
    outputs: [undefined],
    async course(input, run) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the signature holds the author's function to this input
      const ask = (): readonly unknown[] => itemsOf(each(input as never));
      const items = await askAuthor({ place: "each", name: "each", ask }, run);
      const members = items.map(() => member);
      return together({ members, input: items, inputs: items, until: "failure", concurrency }, run);
    },
  });
}

const shape = closed({ each: callable, concurrency: optional(atOnce) });

/** The list that an author's function made. @throws TypeError for anything else, and for a value of which an agent would be told nothing */
function itemsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError("its result is not a list");
  const json = wholeJson(value);
  if (!json.ok) throw new TypeError(`its result is not JSON: ${json.reason}`);
  return value;
}
