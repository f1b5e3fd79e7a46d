import { isWritError } from "../error/writ-error.ts";
import { WholeReply } from "./function-model.ts";
import type { Delta, Model, ModelRequest, StreamOptions } from "./model.ts";

/**
 * The model, which is asked again without `maxOutputTokens` if its provider refuses the number as more than the model can write: then the provider's own limit
 * is the smaller one. The tokens that a budget leaves are often such a number.
 */
export function withoutRefusedBound(model: Model): Model {
  const { id, features, price, retries } = model;
  return {
    id,
    features,
    ...(price === undefined ? {} : { price }),
    ...(retries === undefined ? {} : { retries }),
    stream: (request, options) => repliesTo(model, request, options),
  };
}

/** Register: the largest bound that the provider of each model may take, once it refused a larger one. Depends on: the model, whose limit stays. */
const largest = new WeakMap<Model, number>();

function repliesTo(model: Model, request: ModelRequest, options: StreamOptions): AsyncIterable<Delta> {
  const { maxOutputTokens: bound } = request.settings;
  if (bound === undefined) return model.stream(request, options);
  if (bound > (largest.get(model) ?? Infinity)) return model.stream(withoutBound(request), options);
  const deltas = model.stream(request, options);
  if (deltas instanceof WholeReply) return deltas;
  return againIfRefused(deltas, (refusal) => {
    largest.set(model, largestIn(refusal, bound));
    return model.stream(withoutBound(request), options);
  });
}

async function* againIfRefused(
  deltas: AsyncIterable<Delta>,
  again: (refusal: string) => AsyncIterable<Delta>,
): AsyncGenerator<Delta> {
  let hasBegun = false;
  try {
    for await (const delta of deltas) {
      hasBegun = true;
      yield delta;
    }
  } catch (error) {
    const refusal = hasBegun ? undefined : refusalIn(error);
    if (refusal === undefined) throw error;
    yield* again(refusal);
  }
}

function withoutBound(request: ModelRequest): ModelRequest {
  const { maxOutputTokens: _, ...settings } = request.settings;
  return { ...request, settings };
}

const boundWords =
  /max[ _]?(?:completion|output|new)?[ _]?tokens|\d+ (?:of [^,)]*)?in the (?:completion|output)\b/i;
const tooLargeWords =
  /too large|above maximum|at most|less than or equal|<=|\brange\b|maximum (?:allowed|value|context)|exceed/i;

/** The text in which a provider says that the bound of a reply is too large, for the model or beside the prompt; undefined for another error. */
function refusalIn(error: unknown): string | undefined {
  if (!isWritError(error, "provider-failed") && !isWritError(error, "context-exceeded")) return undefined;
  const said = String(error.data.reason).replace(/ \(HTTP \d+\)/, "");
  return !error.retryable && boundWords.test(said) && tooLargeWords.test(said) ? said : undefined;
}

/** The limit that a refusal names: that of the model's context, or the largest number below the refused bound. Without one, anything below that bound. */
function largestIn(refusal: string, bound: number): number {
  const ofContext = /context (?:length|window|size|limit)[^.\d]*(\d+)/i.exec(refusal)?.[1];
  const named = ofContext === undefined ? (refusal.match(/\d+/g) ?? []) : [ofContext];
  const below = named.map(Number).filter((number) => number > 0 && number < bound);
  return Math.max(...below, ...(below.length === 0 ? [bound - 1] : []));
}
