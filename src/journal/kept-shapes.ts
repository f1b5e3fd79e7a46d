import {
  boolean,
  list,
  misfitText,
  number,
  object,
  optional,
  record,
  type Shape,
  shapeOf,
  string,
} from "../util/shape.ts";

/** The shapes of results by their keys. Each has the fields that every version wrote. */
const shapes: readonly (readonly [key: RegExp, shape: Shape<unknown>])[] = [
  [/\/call\/\d+$/, object({ result: object({ status: string, text: string }) })],
  [/\/approval\/\d+$/, object({ approved: boolean })],
  [/\/settle\/\d+$/, object({ happened: shapeOf('true, false or "unknown"', isFate) })],
  [/(?:^|\/)start$/, object({ now: optional(number), runId: optional(string), form: optional(number) })],
  [/(?:^|\/)end(?:\/\d+)?$/, object({ outcome: object({ type: string }), open: list(string) })],
];

/** Keys with a text of the author's or of another run, which may look like any other. */
const free = /^(?:signal|after)\/|\/wait\//;

const reply = object({
  message: object({ parts: list(record) }),
  usage: object({ inputTokens: number, outputTokens: number }),
});
const model = /(?:^|\/)turn\/\d+\/model(?:\/shorter)?$/;

function isFate(value: unknown): boolean {
  return typeof value === "boolean" || value === "unknown";
}

/** The reason why the result under a key is not one that a step of this key wrote: somebody has changed it in the store. Undefined if it fits. */
export function misfitAt(key: string, value: unknown): string | undefined {
  if (free.test(key)) return undefined;
  if (model.test(key)) return misfitText(isFailed(value) ? record : reply, value);
  const shape = shapes.find(([of]) => of.test(key))?.[1];
  return shape && misfitText(shape, value);
}

/** True of a turn's record that has an error in place of a reply. */
function isFailed(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("failed" in value || "tooLong" in value);
}
