import type { Client } from "@modelcontextprotocol/client";
import { setOrigin } from "../../agent/describe/manifest-origin.ts";
import { unknownTool } from "../../error/check-shape.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { asRuntime } from "../../run/around.ts";
import type { Knowledge } from "../../tool/knowledge.ts";
import { enforcedTool } from "../../tool/enforcement.ts";
import { tool, type Tool, type ToolContext } from "../../tool/tool.ts";
import type { WithFiles } from "../../tool/with-files.ts";
import type { Json } from "../../util/json.ts";
import { nodePowers } from "../capability/node-powers.ts";
import { inTime } from "./in-time.ts";
import type { Link } from "./link.ts";
import { namesApart, toolNames } from "./names.ts";
import { changesBetween } from "./changes.ts";
import { type McpPin, pinOf, type ServerPins } from "./pins.ts";
import { type HeldReadings, holdReadings, wordsOf } from "./reading-pins.ts";
import type { McpTaking } from "./take.ts";
import { boundedText, contentOf, enforcement, RemoteFailure } from "./remote-call.ts";
import { hiddenIn, hiddenInside } from "./screen.ts";
import type { McpReading, Readings } from "./wanted.ts";

export interface ReadingOptions extends McpReading, Pick<McpTaking, "pins" | "approve" | "onChange"> {
  readonly server: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The tools that are taken already. */
  readonly beside: readonly { readonly name: string }[];
}

/** One resource or prompt, as a model is told of it, with the way to read it. */
interface Readable {
  /** The server's name for it. */
  readonly own: string;
  /** The name by which the author chooses it: the address of a resource, the name of a prompt. */
  readonly chosenBy: string;
  /** Its key among the pins. */
  readonly key: string;
  readonly isResource: boolean;
  /** True if it cannot be read without arguments. */
  readonly needsArguments: boolean;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [keyword: string]: Json };
  readonly read: (client: Client, args: Readonly<Record<string, string>>, options: object) => Promise<Json[]>;
}

interface Listed extends Readable {
  readonly isWanted: boolean;
}

/** The most that are listed: more than any server has whose list people read. */
const most = 1_000;
const nothing = { type: "object", properties: {}, additionalProperties: false } as const;

/**
 * Takes resources and prompts of a server. Their descriptions are the current ones, for as long as the process has the tools. With pins, only those
 * in their approved form are taken, and changed texts are reported to `onChange`.
 *
 * @throws WritError `mcp-unusable`, `mcp-refused`, `name-taken`, `tool-unknown`, `pins-missing`, `pins-invalid`
 */
export async function takeReadings(link: Link, options: ReadingOptions): Promise<Readings & HeldReadings> {
  const { server, resources, prompts, beside, timeoutMs, signal } = options;
  const none = { changes: [], held: new Map() };
  if (resources === undefined && prompts === undefined) return { knowledge: [], prompts: [], ...none };
  const client = await link.client();
  const bounds = { timeoutMs, signal, what: "the lists of resources and prompts" };
  const reading = { ...bounds, what: "reading resources and prompts" };
  const list = async (): Promise<readonly Listed[]> => [
    ...(resources === undefined ? [] : listed(await resourcesOf(client), resources)),
    ...(prompts === undefined ? [] : listed(await promptsOf(client), prompts)),
  ];
  try {
    const there = await inTime(list, bounds);
    const naming = { server, beside: beside.map(({ name }) => name) };
    const apart = namesApart(there, naming); // including those that are not taken, so that a name does not depend on the choice
    const all = there.flatMap((each, index) =>
      each.isWanted ? [{ ...each, own: apart[index] ?? each.own }] : [],
    );
    const names = toolNames(
      all.map(({ own }) => own),
      naming,
    );
    const { pins, changes, isApproved } =
      options.pins === undefined
        ? { pins: undefined, changes: [], isApproved: false }
        : await holdReadings(
            await inTime((stop) => pinsNow(client, all, { server, timeoutMs, signal: stop }), reading),
            options,
          );
    const isTaken = ({ key }: Readable): boolean => pins === undefined || pins.has(key);
    const made = all.map((each, index) => {
      const pin = pins?.get(each.key);
      const making = { ...each, name: names[index] ?? each.own, pin, isApproved };
      return { each, made: readingTool(link, making, options) };
    });
    const taken = (isResource: boolean): Tool[] =>
      made.flatMap(({ each, made: one }) => (each.isResource === isResource && isTaken(each) ? [one] : []));
    return {
      knowledge: taken(true).map(asKnowledge),
      prompts: taken(false),
      changes,
      held: pins ?? new Map<string, McpPin>(),
    };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WritError) throw error;
    throw new WritError("mcp-unusable", { server, reason: messageOf(error) }, { cause: error });
  }
}

/** The pins of all that can be read, with their texts if they can be read without arguments. */
async function pinsNow(
  client: Client,
  all: readonly Readable[],
  {
    server,
    timeoutMs,
    signal,
  }: { readonly server: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ServerPins> {
  const pins = new Map<string, McpPin>();
  for (const each of all) {
    signal.throwIfAborted();
    const words = each.needsArguments
      ? undefined
      : await each.read(client, {}, { timeout: timeoutMs, signal }).then(wordsOf, () => undefined);
    pins.set(each.key, readingPin(server, each, words));
  }
  return pins;
}

const readingPin = (
  server: string,
  { key, description, inputSchema }: Pick<Readable, "key" | "description" | "inputSchema">,
  text: string | undefined,
): McpPin => pinOf(server, { name: key, description, inputSchema, text });

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it takes no arguments, and gives JSON
const asKnowledge = (made: Tool): Knowledge => ({ ...made, kind: "knowledge" }) as Knowledge;

async function resourcesOf(client: Client): Promise<Readable[]> {
  if (client.getServerCapabilities()?.resources === undefined) return []; // the library would otherwise write a warning to standard output
  const { resources } = await client.listResources(undefined, { cacheMode: "refresh" });
  return resources.map(({ uri, name, description = "" }) => ({
    own: name,
    chosenBy: uri,
    key: `resource ${uri}`,
    isResource: true,
    needsArguments: false,
    description,
    inputSchema: nothing,
    async read(connected, _args, requestOptions) {
      const { contents } = await connected.readResource({ uri }, { ...requestOptions, cacheMode: "refresh" });
      return contents.map((resource): Json => ({ type: "resource", resource: plain(resource) }));
    },
  }));
}

async function promptsOf(client: Client): Promise<Readable[]> {
  if (client.getServerCapabilities()?.prompts === undefined) return [];
  const { prompts } = await client.listPrompts(undefined, { cacheMode: "refresh" });
  return prompts.map((prompt) => ({
    own: prompt.name,
    chosenBy: prompt.name,
    key: `prompt ${prompt.name}`,
    isResource: false,
    needsArguments: (prompt.arguments ?? []).some(({ required }) => required === true),
    description: prompt.description ?? "",
    inputSchema: argumentsOf(prompt.arguments ?? []),
    async read(connected, args, requestOptions) {
      const { messages } = await connected.getPrompt(
        { name: prompt.name, arguments: { ...args } },
        requestOptions,
      );
      return messages.map(({ content }) => plain(content));
    },
  }));
}

/** The JSON that a client returned; some clients parse it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON gives JSON
const plain = (value: object): Json => JSON.parse(JSON.stringify(value)) as Json;

function argumentsOf(
  given: readonly {
    readonly name: string;
    readonly description?: string | undefined;
    readonly required?: boolean | undefined;
  }[],
): Readable["inputSchema"] {
  const properties = given.map(({ name, description = "" }): [string, Json] => [
    name,
    { type: "string", description: boundedText(description) },
  ]);
  const required = given.filter((each) => each.required === true).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required,
    additionalProperties: false,
  };
}

/** Everything that a server lists, with those that the author wants. @throws WritError `tool-unknown` */
function listed(all: readonly Readable[], wanted: readonly string[] | true): readonly Listed[] {
  if (all.length > most) throw new Error(`it lists more than ${most}`);
  const names = all.map(({ chosenBy }) => chosenBy);
  const unknown = wanted === true ? undefined : wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) throw unknownTool("An MCP server", unknown, names);
  return all.map((each) => ({ ...each, isWanted: wanted === true || wanted.includes(each.chosenBy) }));
}

interface Making extends Readable {
  readonly name: string;
  /** The pin that it is checked against. */
  readonly pin: McpPin | undefined;
  readonly isApproved: boolean;
}

function readingTool(link: Link, making: Making, { server, timeoutMs, onChange }: ReadingOptions): Tool {
  const { own, name, description, inputSchema, read } = making;
  const told = new Set<string>();
  const hidden = hiddenIn(description);
  if (hidden !== undefined) {
    const reason = `its description has the hidden character ${hidden.codePoint} at ${hidden.index}.`;
    throw new WritError("mcp-refused", { server, what: `"${own}"`, reason });
  }
  const inside = hiddenInside(inputSchema);
  if (inside !== undefined) {
    const reason = `its arguments have the hidden character ${inside.codePoint} in ${inside.path}.`;
    throw new WritError("mcp-refused", { server, what: `"${own}"`, reason });
  }
  async function execute(
    args: Readonly<Record<string, string>>,
    { signal }: ToolContext,
  ): Promise<Json | WithFiles<Json>> {
    const client = await asRuntime({ powers: nodePowers }, () => link.client());
    try {
      const options = { timeout: timeoutMs, signal };
      const blocks = await asRuntime({ powers: nodePowers }, () => read(client, args, options));
      link.worked(client);
      if (Object.keys(args).length === 0) tellOtherWords(wordsOf(blocks));
      return contentOf(blocks);
    } catch (error) {
      if (signal.aborted) throw error;
      throw new RemoteFailure(boundedText(messageOf(link.broke(client, error))));
    }
  }
  /** Reports once that the text differs from the approved one. */
  function tellOtherWords(words: string): void {
    const { pin } = making;
    if (pin?.text === undefined || pin.text === words || told.has(words)) return;
    told.add(words);
    const now = readingPin(server, making, words);
    for (const change of changesBetween(server, new Map([[making.key, pin]]), new Map([[making.key, now]])))
      onChange?.(change);
  }
  const made = tool({
    name,
    description: boundedText(description),
    inputSchema,
    trusted: false,
    effect: "read",
    timeoutMs,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has texts alone
    execute: (args, context) => execute(args as Readonly<Record<string, string>>, context),
  });
  const { sha256: pin } = making.pin ?? pinOf(server, { name: own, description, inputSchema });
  return setOrigin(enforcedTool(made, enforcement), { server, pin, approved: making.isApproved });
}
