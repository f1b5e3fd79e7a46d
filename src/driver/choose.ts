import type { DriverName } from "../model/driver-names.ts";
import type { Json } from "../util/json.ts";
import { lazy } from "../util/remembered.ts";
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
  return (typeof choice === "string" ? driverNamed(choice) : choice).answers === "json";
}

/** The drivers to try, best first. The next one is tried if the provider says that the model has no native tools. */
export type Drivers = readonly [Driver, ...Driver[]];

/** Each is made when it is first asked for: few programs use more than one. */
const drivers: Readonly<Record<DriverName, () => Driver>> = {
  native: () => nativeDriver,
  json: lazy(() => jsonDriver()),
  inline: lazy(() => jsonDriver({ dialect: "inline" })),
  hermes: lazy(() => jsonDriver({ dialect: "hermes" })),
  react: lazy(() => reactDriver()),
  command: lazy(() => commandDriver()),
  pythonic: lazy(() => pythonicDriver()),
  select: lazy(() => selectDriver()),
  lines: () => linesDriver,
  guided: lazy(() => guidedDriver()),
};

/** The driver of a name, with its default options; the same one each time. */
export function driverNamed(name: DriverName): Driver {
  return drivers[name]();
}
