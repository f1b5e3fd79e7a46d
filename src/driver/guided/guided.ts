import { boolean } from "../../util/shape.ts";
import { decidingDriver } from "../deciding.ts";
import type { Driver } from "../driver.ts";
import { checkOptions, type TextDriverOptions } from "../text-options.ts";

/** Options of {@link guidedDriver}. */
export interface GuidedDriverOptions extends Pick<TextDriverOptions, "maxRetries"> {
  /**
   * After a call another one is due as long as a tool has words and values of the request that no call used, and a call is made for each
   * member of a list. Costs no question to the model; its price is a call too many where words of the request fit a tool that was not meant
   * (1 of 100 cases, docs/small-models.md). False: one call for a request. Default true.
   */
  readonly cover?: boolean;
}

/**
 * Makes the driver for very small models: the program chooses what can be chosen by words, and the model writes the rest, one value at a time,
 * held to a grammar. Its code is loaded with its first turn.
 *
 * @throws WritError `definition-invalid` for options that are none.
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { guidedDriver } from "writ/drivers";
 *
 * export const small = agent({ name: "small", model: "llama-cpp/smollm2-135m", driver: guidedDriver({ cover: false }) });
 * ```
 */
export function guidedDriver(options: GuidedDriverOptions = {}): Driver {
  checkOptions("guidedDriver()", options, { cover: boolean });
  const { cover = true, maxRetries = 1 } = options;
  const driver = decidingDriver({
    name: "guided",
    plainResults: true,
    maxViolations: maxRetries + 1,
    decide: async (turn, ask) =>
      (await import("./decide-guided.ts")).decideGuided(turn, ask, { driver, cover }),
  });
  return driver;
}
