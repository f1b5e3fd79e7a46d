import { setTimeout } from "node:timers/promises";
import type { ModelSource } from "../agent/definition.ts";
import { checkArguments, closed } from "../error/check-shape.ts";
import { anything, count, list, optional, string, variants } from "../util/shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { Delta, Model, ModelRequest, StreamOptions } from "../model/model.ts";
import { resolveModel } from "./model/resolve.ts";
import { waitMs } from "./wait-ms.ts";

/** A way in which a request to a model goes wrong. */
export type ModelFault =
  /** The first piece comes later by this much. */
  | { readonly type: "slow"; readonly ms: number }
  /** The connection breaks after this many pieces. */
  | { readonly type: "cut"; readonly after: number }
  /** The provider refuses because of too many requests. With `retryAfterMs` it asks for a wait. */
  | { readonly type: "rate-limited"; readonly retryAfterMs?: number }
  /** The arguments of each call lack their last character, so they are not JSON. */
  | { readonly type: "malformed" }
  /** Each call names another tool: `name`, or by default its own name followed by `_2`. */
  | { readonly type: "wrong-tool"; readonly name?: string };

const aFault = variants(
  "type",
  {
    slow: closed({ type: anything, ms: count }),
    cut: closed({ type: anything, after: count }),
    "rate-limited": closed({ type: anything, retryAfterMs: optional(count) }),
    malformed: closed({ type: anything }),
    "wrong-tool": closed({ type: anything, name: optional(string) }),
  },
  "a fault",
);

/**
 * Makes a model whose requests fail as the list says: the first request with the first fault, and so on. A request for which the list has `undefined`,
 * or nothing, does not fail. Use it to test how an agent handles failures of its provider: whether it asks again, what it tells the user, and that
 * a call in a cut reply does not run.
 *
 * @throws WritError `definition-invalid` for an unknown fault; from a request `model-rate-limited`, `provider-failed` if the stream is cut, and the model's
 * errors
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { faulty, scripted } from "writ/testing";
 *
 * const model = faulty(scripted(["Hello."]), [{ type: "rate-limited", retryAfterMs: 10 }, { type: "cut", after: 1 }]);
 * const greeter = agent({ name: "greeter", model, retry: { firstDelayMs: 10 } });
 * console.log(await greeter("Hi")); // Hello.
 * ```
 */
export function faulty(model: ModelSource, faults: readonly (ModelFault | undefined)[]): Model {
  const sound = resolveModel(model, "faulty");
  checkArguments("faulty()", { faults }, { faults: list(optional(aFault), "a list of faults") });
  let requests = 0;
  return {
    id: sound.id,
    get features() {
      return sound.features;
    },
    price: (usage) => sound.price?.(usage),
    stream(request, options) {
      const fault = faults[requests];
      requests += 1;
      return fault === undefined
        ? sound.stream(request, options)
        : withFault(fault, { model: sound, request, options });
    },
  };
}

interface Asked {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly options: StreamOptions;
}

async function* withFault(fault: ModelFault, { model, request, options }: Asked): AsyncGenerator<Delta> {
  if (fault.type === "rate-limited") throw rateLimited(model, fault.retryAfterMs);
  if (fault.type === "slow") await setTimeout(waitMs(fault.ms), undefined, { signal: options.signal });
  let pieces = 0;
  for await (const delta of model.stream(request, options)) {
    if (fault.type === "cut" && pieces === fault.after) throw broken(model);
    pieces += 1;
    yield changed(delta, fault);
  }
}

function changed(delta: Delta, fault: ModelFault): Delta {
  if (fault.type === "wrong-tool" && delta.type === "call-start")
    return { ...delta, name: fault.name ?? `${delta.name}_2` };
  return fault.type === "malformed" && delta.type === "call-end" ? cutArguments(delta) : delta;
}

type CallEnd = Extract<Delta, { type: "call-end" }>;

/** The arguments without their last character. If they came in pieces, these contradict them, which makes them malformed too. */
function cutArguments(end: CallEnd): CallEnd {
  const { arguments: whole } = end;
  const text = typeof whole === "string" ? whole : JSON.stringify(whole ?? {});
  return { ...end, arguments: text.slice(0, -1) };
}

function rateLimited({ id }: Model, retryAfterMs: number | undefined): WritError {
  const said = { provider: "faulty", model: id, reason: "too many requests (made by the test)" };
  return new WritError("model-rate-limited", said, retryAfterMs === undefined ? {} : { retryAfterMs });
}

function broken({ id }: Model): WritError {
  const reason = "the connection broke in the middle of the reply (made by the test)";
  return new WritError("provider-failed", { provider: "faulty", model: id, reason });
}
