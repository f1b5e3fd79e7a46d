import { WritError } from "../error/writ-error.ts";
import { didYouMean } from "../util/nearest.ts";

/** The error of a list that names a tool which is not there. */
export function unknownTool(where: string, name: string, has: Iterable<string>): WritError<"tool-unknown"> {
  const names = [...has];
  const known = names.join(", ") || "none";
  return new WritError("tool-unknown", { where, name, near: didYouMean(name, names) || ".", known });
}
