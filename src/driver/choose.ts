import type { DriverName } from "../model/driver-names.ts";
import type { Json } from "../util/json.ts";
import { commandDriver } from "./command.ts";
import type { Driver, JsonAnswering } from "./driver.ts";
import { guidedDriver } from "./guided/guided.ts";
import { jsonDriver } from "./json.ts";
import { linesDriver } from "./lines.ts";
import { nativeDriver } from "./native.ts";
import { pythonicDriver } from "./pythonic.ts";
import { reactDriver } from "./react.ts";
import { selectDriver } from "./select.ts";

/** The author's choice of a driver: its name, the driver itself, or `auto`. */
export type DriverChoice = "auto" | DriverName | Driver;

/**
 * The answer of an agent without a schema: any JSON if its program chose a driver with JSON answers,
 * otherwise text. A choice that TypeScript does not know counts as the default.
 */
export type AnswerIn<Choice> = DriverChoice extends Choice
  ? string
  : Choice extends "json" | "inline" | "react" | "select" | JsonAnswering
    ? Json
    : string;

/**
 * True if a program chose a driver with JSON answers. With `auto` an agent returns text, whichever driver
 * its model gets.
 */
export function answersJson(choice: DriverChoice = "auto"): boolean {
  if (choice === "auto") return false;
  return (typeof choice === "string" ? driversByName[choice] : choice).answers === "json";
}

/** The drivers to try, best first. The next one is tried if the provider says that the model has no native tools. */
export type Drivers = readonly [Driver, ...Driver[]];

/** The drivers by name, with their default options. */
export const driversByName: Readonly<Record<DriverName, Driver>> = {
  native: nativeDriver,
  json: jsonDriver(),
  inline: jsonDriver({ dialect: "inline" }),
  hermes: jsonDriver({ dialect: "hermes" }),
  react: reactDriver(),
  command: commandDriver(),
  pythonic: pythonicDriver(),
  select: selectDriver(),
  lines: linesDriver,
  guided: guidedDriver(),
};
