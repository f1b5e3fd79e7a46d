import { checkArguments, checkShape, closed } from "../../error/check-shape.ts";
import type { ValueSource } from "../../tool/parameters.ts";
import { boolean, either, filled, list, optional, refined, string } from "../../util/shape.ts";

const field = optional(
  refined(either(string, list(string)), "must name a field", ({ length }) => length > 0),
);
const foundOptions = refined(
  closed({ whole: optional(boolean), field, named: optional(boolean) }),
  "has `named`, which needs a `field` and `whole` not to be false",
  ({ whole, field: name, named }) => named !== true || (name !== undefined && whole !== false),
);
const listedOptions = closed({ field });

/** The name of a field, or its possible names. */
type Field = string | readonly string[];

/**
 * A value from a lookup, for `from` of a parameter. It counts as chosen there if the lookup's own arguments were (by the user, or found in
 * the same way; those with the role `content` are not judged). With `whole` it must be the whole content of a field: a stranger who
 * can write a text in the result then contributes nothing. Use it for fields whose whole content no stranger can write. With `field` alone the value may
 * stand in a text of the field.
 *
 * With `named` (which implies `whole`) the field must belong to the only record with that name in all results of the tool in the run, and the request must have
 * that name, in quotes or as an identifier, and the name of the field: "the same participants as 'Kick-off'". If a second record has that name, neither counts.
 *
 * @throws WritError `definition-invalid`
 * @example
 * ```ts
 * import { guarded } from "writ";
 * import { foundIn } from "writ/policy";
 *
 * const seat = { role: "id", type: "identifier", from: [foundIn("get_booking", { whole: true, field: "seat_id" })] } as const;
 * export const travel = guarded({ tools: { change_seat: { effect: "write", parameters: { booking: "id", seat } } } });
 * ```
 */
export function foundIn(
  tool: string,
  options: { readonly whole?: boolean; readonly field?: Field; readonly named?: boolean } = {},
): ValueSource {
  checkArguments("foundIn()", { tool }, { tool: filled });
  checkShape("foundIn()", options, foundOptions);
  const { named = false, whole = named, field } = options;
  return Object.freeze({
    type: "found-in",
    tool,
    ...(whole ? { whole } : {}),
    ...(field === undefined ? {} : { field }),
    ...(named ? { named } : {}),
  });
}

/**
 * An exact item of a directory of yours, for `from` of a parameter: it counts as chosen there, whatever the arguments of the lookup were.
 *
 * @throws WritError `definition-invalid`
 * @example
 * ```ts
 * import { guarded } from "writ";
 * import { listedBy } from "writ/policy";
 *
 * const room = { role: "target", type: "text", from: [listedBy("list_rooms")] } as const;
 * export const post = guarded({ tools: { post_message: { effect: "write", parameters: { room, text: "content" } } } });
 * ```
 */
export function listedBy(tool: string, options: { readonly field?: Field } = {}): ValueSource {
  checkArguments("listedBy()", { tool }, { tool: filled });
  checkShape("listedBy()", options, listedOptions);
  const { field } = options;
  return Object.freeze({ type: "listed-by", tool, ...(field === undefined ? {} : { field }) });
}
