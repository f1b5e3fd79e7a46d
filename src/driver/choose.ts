import type { DriverName } from "../model/driver-names.ts";
import type { Model } from "../model/model.ts";
import type { Json } from "../util/json.ts";
import { commandDriver } from "./command.ts";
import type { Driver, JsonAnswering } from "./driver.ts";
import { jsonDriver } from "./json.ts";
import { linesDriver } from "./lines.ts";
import { nativeDriver } from "./native.ts";
import { pythonicDriver } from "./pythonic.ts";
import { reactDriver } from "./react.ts";
import { selectDriver } from "./select.ts";

/** An author's word for a driver: its name, the driver itself, or `auto`. */
export type DriverChoice = "auto" | DriverName | Driver;

/**
 * The answer of an agent without a schema: any JSON if its program chose a driver whose answers are JSON,
 * else text. A choice that TypeScript does not know counts as the default.
 */
export type AnswerIn<Choice> = DriverChoice extends Choice
  ? string
  : Choice extends "json" | "inline" | "react" | "select" | JsonAnswering
    ? Json
    : string;

/**
 * True if a program chose a driver whose answers are JSON. With `auto` an agent gives text, whichever driver
 * its model gets.
 */
export function answersJson(choice: DriverChoice = "auto"): boolean {
  if (choice === "auto") return false;
  return (typeof choice === "string" ? named[choice] : choice).answers === "json";
}

/** The drivers to try, the best first. The next one is tried when the provider says that the model has no native tools. */
export type Drivers = readonly [Driver, ...Driver[]];

const named: Readonly<Record<DriverName, Driver>> = {
  native: nativeDriver,
  json: jsonDriver(),
  inline: jsonDriver({ dialect: "inline" }),
  hermes: jsonDriver({ dialect: "hermes" }),
  react: reactDriver(),
  command: commandDriver(),
  pythonic: pythonicDriver(),
  select: selectDriver(),
  lines: linesDriver,
};

/** The driver of a name, with its default options. */
export function driverNamed(name: DriverName): Driver {
  return named[name];
}

/**
 * Models whose provider answered that they have no native tools: they are not asked again. Register, not a part of any driver: it decides only
 * which driver a later run begins with, and a run that is replayed keeps the one that its records name. Depends on: the model.
 */
const withoutTools = new WeakSet<Model>();

/**
 * The drivers that fit the model. `auto` takes the one that measured best, if the model's card says so; else
 * native calls where the model has them or may have them, the JSON protocol elsewhere, and lines with a model
 * that is too weak for JSON.
 */
export function driversFor(choice: DriverChoice, model: Model): Drivers {
  if (typeof choice === "object") return [choice];
  const name = choice === "auto" ? bestFor(model) : choice;
  return choice === "auto" && name === "native" ? [named.native, named.json] : [named[name]];
}

function bestFor(model: Model): DriverName {
  const { driver = "native", small, completion, tools } = model.features;
  if (driver !== "native") return driver;
  if (model.features.driver === undefined && small === true && completion === true) return "lines";
  return tools === false || withoutTools.has(model) ? "json" : "native";
}

/** Remembers that the model has no native tools, so that later runs begin with the JSON protocol. */
export function latchOntoText(model: Model): void {
  withoutTools.add(model);
}
