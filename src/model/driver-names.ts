/**
 * The drivers that have a name. The names of all other places come from here: what an agent, a definition file and the command line take, what
 * a model's card can say.
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

/** Every word that chooses a driver: `auto` chooses by itself. */
export const driverChoices: readonly ("auto" | DriverName)[] = ["auto", ...driverNames];
