import type { JsonAnswering } from "./driver.ts";
import { actionProtocol, mendAction } from "./json-action.ts";
import { hermesProtocol } from "./json-hermes.ts";
import { inlineProtocol } from "./json-inline.ts";
import { type JsonDriverOptions, jsonSettings } from "./json-settings.ts";
import { readBeyond } from "./read-beyond.ts";
import { textDriver } from "./text-driver.ts";

/**
 * Makes the driver for models without native calls: calls are JSON in the text of a reply, enforced by a grammar or a schema if the model can be
 * constrained while it writes.
 *
 * A refused reply goes back to the model with its fault; after `maxRetries` retries the run fails with
 * `protocol-violated`. A call in a reply that was cut off at the token limit never runs.
 *
 * @throws WritError `definition-invalid` for an unknown option, and for counts that are not whole numbers of at least 0
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
export function jsonDriver(options: JsonDriverOptions = {}): JsonAnswering {
  const settings = jsonSettings(options);
  const { dialect, mode } = settings;
  const protocol = {
    action: () => readBeyond(actionProtocol(settings), mode, mendAction(settings)),
    inline: () => readBeyond(inlineProtocol(settings), mode),
    hermes: () => readBeyond(hermesProtocol(settings), mode),
  }[dialect]();
  return { ...textDriver(protocol), answers: "json" };
}
