import { WritError } from "../error/writ-error.ts";
import type { DriverChoice } from "../driver/choose.ts";
import type { Model } from "../model/model.ts";

/** The stand-in for the model of an agent that has none, for a driver that decides by itself. @throws WritError `model-missing` for others */
export function modelFor(
  driver: DriverChoice | undefined,
  where: { readonly name: string; readonly skill: string },
): Model {
  const missing = (): WritError => new WritError("model-missing", where);
  if (typeof driver !== "object" || driver.decide === undefined) throw missing();
  const stream = (): never => {
    throw missing();
  };
  return { id: "none", features: {}, price: () => 0, stream };
}
