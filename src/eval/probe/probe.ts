import { isWritError } from "../../error/writ-error.ts";
import { chatWith } from "../../model/chat.ts";
import type { DriverName } from "../../model/driver-names.ts";
import { driverNamed } from "../../driver/choose.ts";
import type { Model } from "../../model/model.ts";
import type { ProbeCase } from "./probe-case.ts";
import { type CaseResult, runCase } from "./run-case.ts";

/** The runs of a driver: held to a grammar or schema, free, or both in this order. */
export type GrammarChoice = "both" | "on" | "off";

/**
 * A way to use a model: the driver, and whether its replies were held to a format while the model
 * wrote them. `never`: nothing holds this driver with this model, so it is always free.
 */
export interface Way {
  readonly driver: DriverName;
  readonly held: "on" | "off" | "never";
}

/** News of a probe. */
export type ProbeEvent =
  | ({ readonly type: "case" } & Way & { readonly result: CaseResult })
  | { readonly type: "skipped"; readonly driver: DriverName; readonly reason: string };

export interface ProbeOptions {
  readonly model: Model;
  readonly drivers: readonly DriverName[];
  readonly grammar: GrammarChoice;
  readonly cases: readonly ProbeCase[];
  /** The time after which a case ends as wrong. */
  readonly caseTimeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs every case with every driver, and yields each result as soon as it is there. It asks the model once before, so that the time to load it
 * counts for no case. A case that fails is a result; an aborted signal ends the probe without an error, after the last whole case.
 *
 * @throws WritError if the provider fails: `provider-unreachable`, `provider-refused-key`, `model-rate-limited`, `model-not-found`, `model-file-missing`,
 * `model-file-invalid`, `peer-missing`
 */
export async function* probe(options: ProbeOptions): AsyncGenerator<ProbeEvent, void> {
  const { model, drivers, grammar, signal } = options;
  try {
    await chatWith(model, { messages: "Hello", settings: { maxOutputTokens: 16, temperature: 0 }, signal });
    for (const driver of drivers) {
      if (driver === "native" && model.features.tools === false) {
        yield { type: "skipped", driver, reason: "the model says that it has no tools" };
        continue;
      }
      const never = grammar !== "off" && !(yield* runHeld(driver, options));
      if (!never && grammar !== "on") yield* runFree(driver, options);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Runs a driver held to its format; false if none of its requests turns out to have a format, so that it ran free. */
async function* runHeld(driver: DriverName, options: ProbeOptions): AsyncGenerator<ProbeEvent, boolean> {
  // A driver that decides by itself asks only if it has to; its requests are held wherever that is possible.
  const seen = {
    format: driverNamed(driver).decide !== undefined && options.model.features.format !== undefined,
  };
  const model = watchFormat(options.model, seen);
  for (const probeCase of options.cases) {
    const result = yield* attempt(probeCase, { ...options, model, driver });
    if (result === undefined) return false;
    yield { type: "case", driver, held: seen.format ? "on" : "never", result };
  }
  return seen.format;
}

async function* runFree(driver: DriverName, options: ProbeOptions): AsyncGenerator<ProbeEvent, void> {
  const held = options.model.features.format === undefined || driver === "native" ? "never" : "off";
  const model = withoutFormat(options.model);
  for (const probeCase of options.cases) {
    const result = yield* attempt(probeCase, { ...options, model, driver });
    if (result === undefined) return;
    yield { type: "case", driver, held, result };
  }
}

/** Runs one case; undefined, and the driver is skipped, if the provider says that the model lacks what the driver needs. */
async function* attempt(
  probeCase: ProbeCase,
  { caseTimeoutMs, driver, model, signal }: ProbeOptions & { readonly driver: DriverName },
): AsyncGenerator<ProbeEvent, CaseResult | undefined> {
  try {
    return await runCase(probeCase, { model, driver, timeoutMs: caseTimeoutMs, signal });
  } catch (error) {
    if (!isWritError(error, "model-without-tools")) throw error;
    yield { type: "skipped", driver, reason: "the provider says that the model has no tools" };
    return undefined;
  }
}

/** The same model, without formats. */
function withoutFormat(model: Model): Model {
  const { format: _format, ...features } = model.features;
  return { ...model, features, stream: (request, options) => model.stream(request, options) };
}

/** The same model; notices when a request has a format. */
function watchFormat(model: Model, seen: { format: boolean }): Model {
  return {
    ...model,
    features: model.features,
    stream(request, options) {
      if (request.format !== undefined) seen.format = true;
      return model.stream(request, options);
    },
  };
}
