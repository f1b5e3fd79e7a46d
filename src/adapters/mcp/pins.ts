import { hash, randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { type JsonObject, parseJson, toJson } from "../../util/json.ts";
import { fits, jsonObject, map, misfitText, object, oneOf, optional, string } from "../../util/shape.ts";
import { codeOf } from "../../util/thrown.ts";
import { makeFolder } from "../make-folder.ts";
import { oneAfterAnother } from "../one-after-another.ts";
import type { AppTool } from "./apps.ts";

/**
 * The server's description of a tool when somebody approved it. `sha256` is the hash of the canonical JSON of the
 * server's name, the tool's name and all fields below; the fields are kept so that a change can be shown.
 *
 * @example
 * ```ts
 * import type { McpPin } from "writ/mcp";
 *
 * export const isDocumented = (pin: McpPin): boolean => (pin.description ?? "") !== "";
 * ```
 */
export interface McpPin {
  readonly sha256: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /** The address of the page that shows results of its calls, if the author takes such pages. */
  readonly app?: string;
  /** The text of a resource, or of a prompt without arguments; for a long text the beginning, and the SHA-256 of all of it. */
  readonly text?: string;
}

/**
 * The approved tools of servers, by the author's names for the servers and the servers' names for the tools. A file with them belongs in version
 * control.
 *
 * @example
 * ```ts
 * import type { McpPins } from "writ/mcp";
 *
 * export const none: McpPins = { version: 1, servers: {} };
 * ```
 */
export interface McpPins {
  readonly version: 1;
  readonly servers: Readonly<Record<string, Readonly<Record<string, McpPin>>>>;
  /** The approved resources and prompts, by `resource menu://today` and `prompt order`. */
  readonly readings?: Readonly<Record<string, Readonly<Record<string, McpPin>>>>;
}

/** The part of the pins for tools, or for resources and prompts. */
export type PinPart = "servers" | "readings";

/** The pins of one server, by the server's names for its tools. */
export type ServerPins = ReadonlyMap<string, McpPin>;

/** The pin of a server's current description. @throws TypeError if it is not JSON that can be kept */
export function pinOf(server: string, tool: AppTool & { readonly text?: string | undefined }): McpPin {
  const { name, description, inputSchema, outputSchema, annotations, app, text } = tool;
  const said = toJson({ description, inputSchema, outputSchema, annotations, app, text });
  if (!said.ok) throw new TypeError(said.reason);
  const kept: unknown = said.value;
  if (!fits(saidShape, kept)) throw new TypeError(misfitText(saidShape, kept));
  return { sha256: hashOf(server, name, kept), ...kept };
}

function hashOf(server: string, name: string, said: Omit<McpPin, "sha256">): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a pin is JSON: it was made from it, or read from it
  return hash("sha256", canonicalJson({ server, name, ...(said as JsonObject) }), "hex");
}

/** The pins of a server in a file or an object; undefined if it has none. @throws WritError `pins-invalid` */
export async function readPins(
  pins: string | McpPins,
  server: string,
  part: PinPart = "servers",
): Promise<ServerPins | undefined> {
  const path = typeof pins === "string" ? pins : "`pins`";
  const { [part]: all = {} } = typeof pins === "string" ? await readPinFile(pins) : checkPins(pins, path);
  const own = Object.hasOwn(all, server) ? all[server] : undefined;
  if (own === undefined) return undefined;
  for (const [name, { sha256, ...said }] of Object.entries(own))
    if (sha256 !== hashOf(server, name, said))
      throw invalid(path, `the hash of "${server}/${name}" is not that of what stands beside it`);
  return new Map(Object.entries(own));
}

/** Register: the writes to each file. Writes of this process to one file happen one after another, because servers may be connected at the same time. */
const inTurn = oneAfterAnother();

/** Writes the pins of a server to a file and leaves those of other servers as they are. @throws WritError `pins-invalid` */
export function writePins(
  path: string,
  server: string,
  { pins, part = "servers" }: { readonly pins: ServerPins; readonly part?: PinPart },
): Promise<void> {
  return inTurn(path, async () => {
    const kept = await readPinFile(path);
    const own = sorted(Object.fromEntries(pins));
    const all: McpPins = { ...kept, [part]: sorted({ ...kept[part], [server]: own }) };
    const beside = `${path}.${randomUUID()}.tmp`;
    try {
      makeFolder(dirname(path));
      await writeFile(beside, `${JSON.stringify(all, undefined, 2)}\n`);
      await rename(beside, path);
    } catch (error) {
      await rm(beside, { force: true });
      throw invalid(path, `it cannot be written: ${messageOf(error)}`, error);
    }
  });
}

/** Reads a file of pins. A missing file has no pins. */
async function readPinFile(path: string): Promise<McpPins> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { version: 1, servers: {} };
    throw invalid(path, messageOf(error), error);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalid(path, parsed.reason);
  return checkPins(parsed.value, path);
}

const saidFields = {
  description: optional(string),
  inputSchema: jsonObject,
  outputSchema: optional(jsonObject),
  annotations: optional(jsonObject),
  app: optional(string),
  text: optional(string),
};
const saidShape = object(saidFields);
const pinsOfServers = map(map(object({ sha256: string, ...saidFields })));
const pinsShape = object({ version: oneOf(1), servers: pinsOfServers, readings: optional(pinsOfServers) });

function checkPins(value: unknown, path: string): McpPins {
  if (fits(pinsShape, value)) return value;
  throw invalid(path, `it is not { "version": 1, "servers": { … } }: ${misfitText(pinsShape, value)}`);
}

function invalid(path: string, reason: string, cause?: unknown): WritError<"pins-invalid"> {
  return new WritError("pins-invalid", { path, reason }, { cause });
}

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
