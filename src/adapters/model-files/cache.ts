import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { WritError } from "../../error/writ-error.ts";
import { catalogue, type CatalogueModel } from "./catalogue.ts";

/** The folder of downloaded models: `$WRIT_CACHE`, otherwise the cache folder of the system. */
export function cacheFolder(): string {
  const { WRIT_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  // An empty variable does not name a folder.
  if (WRIT_CACHE) return WRIT_CACHE;
  if (process.platform === "win32") return join(LOCALAPPDATA || join(homedir(), "AppData", "Local"), "writ");
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "writ");
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "writ");
}

/** The catalogue's entry of a name. @throws WritError `model-unlisted` */
export function catalogueModel(name: string): CatalogueModel {
  const model = catalogue.find((entry) => entry.name === name);
  if (model !== undefined) return model;
  throw new WritError("model-unlisted", { name, known: catalogue.map((entry) => entry.name).join(", ") });
}

/**
 * The path at which the file of a catalogue model is, or will be after it was fetched.
 *
 * @throws WritError `model-unlisted`
 */
export function modelPath(name: string, folder: string = cacheFolder()): string {
  return join(folder, "models", catalogueModel(name).file);
}

/** A catalogue model, and whether its complete file is present. */
export interface ListedModel extends CatalogueModel {
  readonly path: string;
  readonly present: boolean;
}

/** The catalogue, with the files in the cache folder. A file of another size does not count. */
export function listModelFiles(folder: string = cacheFolder()): readonly ListedModel[] {
  return catalogue.map((model) => {
    const path = modelPath(model.name, folder);
    return { ...model, path, present: existsSync(path) && statSync(path).size === model.sizeBytes };
  });
}
