import { deltasOf, type PlainReply } from "./function-model.ts";
import type { Delta, Model, ModelFeatures, ModelRequest } from "./model.ts";
import { checkShape, closed, checkArguments } from "../error/check-shape.ts";
import { modelFeatures } from "./setting-shapes.ts";
import {
  anything,
  list,
  oneOf,
  optional,
  record,
  type Shape,
  shapeOf,
  shownValue,
  string,
} from "../util/shape.ts";

/** One reply of a script: text, a reply, an error to throw, deltas, or a function of the request that returns one. */
export type ScriptStep =
  | string
  | PlainReply
  | Error
  | readonly Delta[]
  | ((request: ModelRequest) => string | PlainReply | Promise<string | PlainReply>);

/** The behaviour at the end of a script, and the id and features of its model. */
export interface ScriptOptions {
  /** After the last step the model repeats it (default) or throws. */
  readonly whenDone?: "repeat" | "throw";
  readonly id?: string;
  readonly features?: ModelFeatures;
}

/** A model that follows a script, for tests. */
export interface ScriptedModel extends Model {
  /** Every request so far, as it was at the time. */
  readonly requests: readonly ModelRequest[];
  /** The number of steps left. */
  remaining(): number;
  /** @throws Error if steps are left */
  assertComplete(): void;
}

/** The fields of a reply in a script. */
export const plainReply: { readonly [Field in keyof Required<PlainReply>]: Shape<unknown> } = {
  text: optional(string),
  reasoning: optional(string),
  calls: optional(list(closed({ id: anything, name: anything, arguments: anything }), "a list of calls")),
  files: anything,
  usage: optional(record),
  finishReason: optional(oneOf("stop", "length", "tool-calls", "content-filter", "pause", "error", "other")),
};
const replyShape = closed(plainReply);
const stepShape = shapeOf(
  "a text, a reply like { calls }, a list of deltas, an Error or a function",
  (step) => typeof step === "string" || typeof step === "function" || Object(step) === step,
  shownValue,
);
const optionsShape = closed({
  whenDone: optional(oneOf("repeat", "throw")),
  id: optional(string),
  features: optional(modelFeatures),
});

/**
 * Makes a model that answers with the given steps, one per request, whoever asks. When they are used up the last one repeats; an empty script
 * answers `ok`.
 *
 * @throws WritError `definition-invalid` for an unknown option or field of a reply
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { fakeTool, scripted } from "writ/testing";
 *
 * const model = scripted([{ calls: [{ name: "search", arguments: { query: "writ" } }] }, "Found it."]);
 * const searcher = agent({ name: "searcher", model, tools: [fakeTool("search", "a result")] });
 * const answer = await searcher("Find writ."); // "Found it."
 * ```
 */
export function scripted(steps: readonly ScriptStep[], options: ScriptOptions = {}): ScriptedModel {
  checkArguments("scripted()", { steps }, { steps: list(anything, "a list of replies") });
  checkShape("scripted()", options, optionsShape);
  for (const [index, step] of steps.entries())
    checkShape(`Step ${index + 1} of scripted()`, step, isReply(step) ? replyShape : stepShape);
  const { whenDone = "repeat", id = "scripted", features = { tools: true } } = options;
  const requests: ModelRequest[] = [];
  async function nextDeltas(request: ModelRequest): Promise<readonly Delta[]> {
    const index = requests.length;
    requests.push({ ...request, messages: [...request.messages] });
    if (index >= steps.length && whenDone === "throw")
      throw new Error(`the script has ${steps.length} steps and was asked once more`);
    const step = steps[Math.min(index, steps.length - 1)] ?? "ok";
    if (step instanceof Error) throw step;
    if (isDeltas(step)) return step;
    const reply = typeof step === "function" ? await step(request) : step;
    return deltasOf(typeof reply === "string" ? { text: reply } : reply, id);
  }
  return {
    id,
    features,
    price: () => 0,
    requests,
    remaining: () => Math.max(0, steps.length - requests.length),
    assertComplete() {
      const left = steps.length - requests.length;
      if (left > 0) throw new Error(`${left} of ${steps.length} steps of the script were not asked for`);
    },
    async *stream(request) {
      yield* await nextDeltas(request);
    },
  };
}

function isReply(step: ScriptStep): step is PlainReply {
  return typeof step === "object" && step !== null && !isDeltas(step) && !(step instanceof Error);
}

function isDeltas(step: ScriptStep): step is readonly Delta[] {
  return Array.isArray(step);
}
