import { hash } from "node:crypto";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { Json } from "../../util/json.ts";
import type { McpChange } from "./changes.ts";
import { type McpPin, readPins, type ServerPins, writePins } from "./pins.ts";
import { contentOf } from "./remote-call.ts";
import { judge, type McpTaking, merged, pinsBefore } from "./take.ts";
import type { McpReading } from "./wanted.ts";

/** The approved resources and prompts, with the differences that keep others out of use. */
export interface HeldReadings {
  readonly held: ServerPins;
  readonly changes: readonly McpChange[];
}

/** The most characters of the text of one that are kept in a file for people. */
const keptWords = 2_000;

/** The text of a resource or prompt for a pin: a long text as its beginning and the hash of all of it. */
export function wordsOf(blocks: readonly Json[]): string {
  const given = contentOf(blocks);
  const words = typeof given === "string" ? given : canonicalJson([...blocks]);
  return words.length <= keptWords ? words : `${words.slice(0, keptWords)}… ${hash("sha256", words, "hex")}`;
}

type Holding = McpReading & Pick<McpTaking, "pins" | "approve" | "onChange"> & { readonly server: string };

/**
 * Chooses those that are in their approved form, as for tools: their descriptions for a model, and their arguments. A different text is reported,
 * but does not exclude one: the text is a stranger's, and changes.
 *
 * @throws WritError `pins-missing`, `pins-invalid`
 */
export async function holdReadings(
  now: ServerPins,
  options: Holding,
): Promise<HeldReadings & { readonly pins: ServerPins; readonly isApproved: boolean }> {
  const { server, pins, approve, onChange } = options;
  const known = pins === undefined ? undefined : await readPins(pins, server, "readings");
  const before = pinsBefore(now, { server, pins, approve, known });
  const isWanted = ([key]: readonly [string, McpPin]): boolean => isInReach(key, options);
  const reached = new Map([...before.pins].filter(isWanted));
  const { approved, refused } = await judge(reached, { server, now, approve, onChange });
  const held = merged(before.pins, approved);
  if (typeof pins === "string" && (before.isNew || approved.size > 0))
    await writePins(pins, server, { pins: held, part: "readings" });
  const isSame = ([key, pin]: readonly [string, McpPin]): boolean => {
    const is = held.get(key);
    return is !== undefined && aboutOf(is) === aboutOf(pin);
  };
  const taken = new Map([...now].filter(isSame).map(([key, pin]) => [key, held.get(key) ?? pin] as const));
  const changes = refused.filter(({ tool }) => !taken.has(tool));
  return { pins: taken, held, changes, isApproved: !before.isNew || typeof pins === "string" };
}

/** The fields of a pin beside the text. */
function aboutOf({ description = "", inputSchema }: McpPin): string {
  return canonicalJson([description, inputSchema]);
}

function isInReach(key: string, { resources, prompts }: McpReading): boolean {
  const wanted = key.startsWith("resource ") ? resources : prompts;
  return wanted === true || (wanted ?? []).includes(key.slice(key.indexOf(" ") + 1));
}
