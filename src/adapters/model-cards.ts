import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../error/writ-error.ts";
import { type DriverName, driverNames } from "../model/driver-names.ts";
import { fingerprint } from "../util/hash.ts";
import { isJsonObject, type Json, parseJson } from "../util/json.ts";
import { codeOf } from "../util/thrown.ts";
import { makeFolder } from "./make-folder.ts";
import { cacheFolder } from "./model-files/cache.ts";

/** The memory of a model: the driver with the best measurements. */
export interface ModelCard {
  /** The format of the file. */
  readonly version: 1;
  /** The model's id, like `ollama/qwen2.5:7b`. */
  readonly model: string;
  readonly driver: DriverName;
  /** The reason for this driver, for people. */
  readonly why: string;
  /** The version of writ that measured, with the day, as YYYY-MM-DD. */
  readonly writ: string;
  readonly date: string;
  /** The measurements, for people and for the next probe of the model. */
  readonly scores: Json;
}

/** A file in the folder of cards. */
export type CardFile =
  | { readonly type: "card"; readonly path: string; readonly card: ModelCard }
  | { readonly type: "ignored"; readonly path: string; readonly reason: string };

/** The most bytes of a card: a larger file is not one. */
const maxBytes = 256 * 1024;

/** The drivers of the cards that were read, by path: a process reads a card once. Depends on: the path; the card there. */
const drivers = new Map<string, DriverName | undefined>();

/**
 * The driver that the card of a model names; undefined if there is no readable card. Reads the file at the first call for
 * a model and never again. Never throws.
 */
export function driverOfCard(model: string): DriverName | undefined {
  const path = cardPath(model);
  if (!drivers.has(path)) drivers.set(path, cardOf(model)?.driver);
  return drivers.get(path);
}

/** The current card of a model; undefined if there is no readable card. Never throws. */
export function cardOf(model: string): ModelCard | undefined {
  const file = readCard(cardPath(model));
  return file?.type === "card" && file.card.model === model ? file.card : undefined;
}

/** Writes a card in place of an older one, completely or not at all, and returns its path. @throws Error of the file system */
export function saveCard(card: ModelCard): string {
  const path = cardPath(card.model);
  const part = `${path}.${process.pid}.part`;
  makeFolder(cardsFolder());
  try {
    writeFileSync(part, `${JSON.stringify(card, undefined, 2)}\n`);
    renameSync(part, path);
  } finally {
    rmSync(part, { force: true });
  }
  drivers.set(path, card.driver);
  return path;
}

/** All files in the folder of cards; those that are not cards come with the reason why they are ignored. Never throws. */
export function listCards(): readonly CardFile[] {
  const folder = cardsFolder();
  return namesIn(folder)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .flatMap((name): readonly CardFile[] => {
      const path = join(folder, name);
      const file = readCard(path);
      if (file === undefined) return [];
      const isMisplaced = file.type === "card" && cardPath(file.card.model) !== path;
      const reason = "it is not where the card of its model belongs";
      return [isMisplaced ? { type: "ignored", path, reason } : file];
    });
}

function cardsFolder(): string {
  return join(cacheFolder(), "cards");
}

/**
 * The path of a model's card. Names that differ only in characters that a file name cannot have get different
 * fingerprints.
 */
function cardPath(model: string): string {
  const slug = model
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, "-")
    .slice(0, 80);
  return join(cardsFolder(), `${slug}-${fingerprint(model)}.json`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // without a folder there are no cards
  }
}

/** Undefined if there is no such file. */
function readCard(path: string): CardFile | undefined {
  try {
    if (statSync(path).size > maxBytes)
      return { type: "ignored", path, reason: "it is too large for a card" };
    const parsed = parseJson(readFileSync(path, "utf8"));
    return parsed.ok ? cardIn(parsed.value, path) : { type: "ignored", path, reason: "it is no JSON" };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    return { type: "ignored", path, reason: messageOf(error) };
  }
}

function cardIn(value: Json, path: string): CardFile {
  const ignored = (reason: string): CardFile => ({ type: "ignored", path, reason });
  if (!isJsonObject(value) || value["version"] !== 1) return ignored("it is no card of this version of writ");
  const { model, why, writ, date, scores = null } = value;
  const driver = driverNames.find((name) => name === value["driver"]);
  if (driver === undefined) return ignored(`there is no driver ${JSON.stringify(value["driver"])}`);
  if (
    typeof model !== "string" ||
    typeof why !== "string" ||
    typeof writ !== "string" ||
    typeof date !== "string"
  )
    return ignored("fields of it are missing");
  return { type: "card", path, card: { version: 1, model, driver, why, writ, date, scores } };
}
