/**
 * The named drivers. This list is used everywhere: in agents, definition files, the command line, and
 * models' cards.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { driverNames } from "writ/drivers";
 *
 * export const one = driverNames.map((driver) => agent({ name: driver, model: "ollama/qwen2.5:3b", driver }));
 * ```
 */
export const driverNames = [
  "native",
  "json",
  "inline",
  "hermes",
  "react",
  "command",
  "pythonic",
  "select",
  "lines",
  "guided",
] as const;

/** The name of a driver. */
export type DriverName = (typeof driverNames)[number];

/** The values that choose a driver: `auto` chooses by itself. */
export const driverChoices: readonly ("auto" | DriverName)[] = ["auto", ...driverNames];
