import { isJsonObject } from "../util/json.ts";
import type { Driver } from "./driver.ts";
import { actionProtocol, mendAction } from "./json-action.ts";
import { hermesProtocol } from "./json-hermes.ts";
import { inlineProtocol } from "./json-inline.ts";
import { type JsonDriverOptions, type JsonSettings, jsonSettings } from "./json-settings.ts";
import { readBeyond } from "./read-beyond.ts";
import { textDriver, type TextProtocol } from "./text-driver.ts";

/**
 * Makes the driver for models without native calls: calls are JSON in the text of a reply, held by a grammar or a schema where the model can be
 * constrained while it writes.
 *
 * A reply that is not accepted goes back to the model with what is wrong with it; after `maxRetries` more the run fails with
 * `protocol-violated`. A call in a reply that was cut off at the token limit never runs.
 *
 * @throws WritError `definition-invalid` for an option that there is not, and for counts that are no whole numbers from 0 on.
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { jsonDriver } from "writ/drivers";
 *
 * export const plain = agent({
 *   name: "plain",
 *   instructions: "Answer briefly.",
 *   model: () => '{"final": {"content": "hello"}}',
 *   driver: jsonDriver({ mode: "safe", resultRole: "tool" }),
 * });
 * ```
 */
export function jsonDriver(options: JsonDriverOptions = {}): Driver {
  const settings = jsonSettings(options);
  if (settings.dialect === "inline") return inAnswers(inlineProtocol(settings), settings);
  if (settings.dialect === "hermes") return inAnswers(hermesProtocol(settings), settings);
  const strict = actionProtocol(settings);
  return {
    ...textDriver(readBeyond(strict, settings.mode, mendAction(settings))),
    partialAnswer(partial) {
      const final = isJsonObject(partial) ? partial["final"] : undefined;
      return isJsonObject(final) ? final["content"] : undefined;
    },
  };
}

/** An answer of these dialects stands in the reply as it is; what only may become a call is no part of one. */
function inAnswers(protocol: TextProtocol, { mode }: JsonSettings): Driver {
  return {
    ...textDriver(readBeyond(protocol, mode)),
    partialAnswer: (partial) =>
      isJsonObject(partial) && (Object.keys(partial).length === 0 || Object.hasOwn(partial, "tool"))
        ? undefined
        : partial,
  };
}
