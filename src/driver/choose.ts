import type { Model } from "../model/model.ts";
import type { Driver } from "./driver.ts";
import { jsonDriver } from "./json.ts";
import { linesDriver } from "./lines.ts";
import { nativeDriver } from "./native.ts";
import { reactDriver } from "./react.ts";

/** How an author names a driver: by its name, as an object, or `auto`. */
export type DriverChoice = "auto" | "native" | "json" | "lines" | "react" | Driver;

/** The drivers to try, the best first. The next one is tried when the provider says that the model has no native tools. */
export type Drivers = readonly [Driver, ...Driver[]];

const json = jsonDriver();
const react = reactDriver();

/** Models whose provider answered that they have no native tools: they are not asked again. */
const withoutTools = new WeakSet<Model>();

/**
 * Which drivers fit the model. `auto` takes native calls where the model has them or may have them, the JSON protocol elsewhere,
 * and lines with a model that is too weak for JSON.
 */
export function driversFor(choice: DriverChoice, model: Model): Drivers {
  if (typeof choice === "object") return [choice];
  if (choice === "native") return [nativeDriver];
  if (choice === "react") return [react];
  if (
    choice === "lines" ||
    (choice === "auto" && model.features.small === true && model.features.completion === true)
  )
    return [linesDriver];
  if (choice === "json" || model.features.tools === false || withoutTools.has(model)) return [json];
  return [nativeDriver, json];
}

/** Remembers that the model has no native tools, so that later runs begin with the JSON protocol. */
export function latchOntoText(model: Model): void {
  withoutTools.add(model);
}
