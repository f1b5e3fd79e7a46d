import { messageOf, WritError } from "../../error/writ-error.ts";
import type { Annotation } from "../../policy/rules/rule.ts";
import { unknownTool } from "../../error/check-shape.ts";
import {
  anything,
  callable,
  either,
  list,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from "../../util/shape.ts";
import { visible } from "../../util/visible.ts";
import { changesBetween, type McpChange } from "./changes.ts";
import type { McpTool } from "./client.ts";
import { toolNames } from "./names.ts";
import { type McpPin, type McpPins, pinOf, readPins, type ServerPins, writePins } from "./pins.ts";
import { hiddenIn, hiddenInside } from "./screen.ts";

/**
 * The choice among the tools of a server, and the author's declarations about them.
 *
 * @example
 * ```ts
 * import type { McpTaking } from "writ/mcp";
 *
 * export const notes: McpTaking = {
 *   only: ["search", "append"],
 *   tools: { search: { effect: "read" }, append: { effect: "write", parameters: { note: "id", text: "content" } } },
 *   pins: "mcp-pins.json",
 *   onChange: ({ tool, type, diff }) => console.error(tool, type, diff.join("\n")),
 * };
 * ```
 */
export interface McpTaking {
  /** The only tools that are taken and read, by the server's names. Default: all. */
  readonly only?: readonly string[];
  /**
   * The author's declarations about tools, by the server's names: effect, roles of parameters, trust in results.
   * The server is never asked.
   */
  readonly tools?: Readonly<Record<string, Annotation>>;
  /**
   * Approved pins: the path of a JSON file, or its contents. A tool that differs from its approved form, or that
   * nobody approved, is left out. Default: the server's first description stays valid while the process runs, and
   * a run that offers its tools to a model begins untrusted.
   */
  readonly pins?: string | McpPins;
  /**
   * The approver of differences. `first-use`: everything, while there are no pins of the server; it counts as
   * approved if `pins` is a path, where it is written. A function: it is asked about each difference. What it
   * approves is taken, and written if `pins` is a path. Default: nobody.
   */
  readonly approve?: "first-use" | ((change: McpChange) => boolean | Promise<boolean>);
  /** Called with each difference that nobody approved: at the beginning, and when the server reports a change of its list. */
  readonly onChange?: (change: McpChange) => void;
  /** The agent's other tools: a tool whose name can be confused with one of these is refused. */
  readonly beside?: readonly { readonly name: string }[];
}

/** The shapes of these options, for functions whose options include them. */
export const takingFields: { readonly [Field in keyof Required<McpTaking>]: Shape<unknown> } = {
  only: optional(list(string)),
  tools: anything,
  pins: anything,
  approve: optional(either(oneOf("first-use"), callable)),
  onChange: optional(callable),
  beside: optional(list(object({ name: string }))),
};

/** A tool that was taken. */
export interface Taken {
  /** The server's name for it. */
  readonly own: string;
  /** The name that it has here. */
  readonly name: string;
  readonly pin: McpPin;
  readonly about: Annotation;
  /** True if kept pins, or a function that was asked, approved it. */
  readonly approved: boolean;
}

/** The tools taken from a server, the refused changes, and the currently approved pins. */
export interface Takings {
  readonly taken: readonly Taken[];
  readonly refused: readonly McpChange[];
  readonly pins: ServerPins;
}

/** The longest schema that a model can use; any schema of this length is prepared within seconds, once. */
const longestSchema = 40_000;
const maxReferences = 200;
/** The longest description: more than any needs. Less of it is shown. */
const longestDescription = 2_000_000;

/**
 * Chooses the tools that are taken from a server's offer, and writes the pins of the approved ones.
 *
 * @throws WritError `mcp-refused`, `name-taken`, `tool-unknown`, `pins-missing`, `pins-invalid`
 */
export async function takeTools(
  offered: readonly McpTool[],
  options: McpTaking & { readonly server: string | undefined },
): Promise<Takings> {
  const { pins, only, beside = [] } = options;
  const server = options.server ?? "(unnamed)";
  const wanted = only === undefined ? offered : offered.filter(({ name }) => only.includes(name));
  const names = toolNames(
    wanted.map(({ name }) => name),
    { server: options.server, beside: beside.map(({ name }) => name) },
  );
  const now = new Map(wanted.map((tool) => [tool.name, checkedPin(server, tool)]));
  const known = pins === undefined ? undefined : await readPins(pins, server);
  checkKnown(options, { server, known, now, offered });
  const before = pinsBefore(now, { ...options, server, known });
  const { approved, refused } = await judge(inReach(before.pins, only), { ...options, server, now });
  const held = merged(before.pins, approved);
  if (typeof pins === "string" && (before.isNew || approved.size > 0))
    await writePins(pins, server, { pins: held });
  const isKept = !before.isNew || typeof pins === "string";
  const taken = wanted.flatMap(({ name: own }, index) => {
    const pin = now.get(own);
    if (pin === undefined || held.get(own)?.sha256 !== pin.sha256) return [];
    return [{ own, name: names[index] ?? own, pin, about: aboutOf(options.tools, own), approved: isKept }];
  });
  return { taken, refused, pins: held };
}

/**
 * The pins approved before this connection; the current ones if the server's first description counts as approved.
 */
export function pinsBefore(
  now: ServerPins,
  {
    server,
    pins,
    approve,
    known,
  }: Pick<McpTaking, "pins" | "approve"> & {
    readonly server: string;
    readonly known: ServerPins | undefined;
  },
): { readonly pins: ServerPins; readonly isNew: boolean } {
  if (known !== undefined) return { pins: known, isNew: false };
  if (approve === "first-use" || (pins === undefined && approve === undefined))
    return { pins: now, isNew: true };
  if (approve !== undefined) return { pins: new Map(), isNew: false };
  throw new WritError("pins-missing", { server, path: typeof pins === "string" ? pins : "`pins`" });
}

function aboutOf(tools: McpTaking["tools"] = {}, own: string): Annotation {
  return (Object.hasOwn(tools, own) ? tools[own] : undefined) ?? {};
}

interface Judging extends Pick<McpTaking, "approve" | "onChange"> {
  readonly server: string;
  readonly now: ServerPins;
}

/** Asks about each difference. An approved one maps to its new pin, or to undefined for a tool that is gone. */
export async function judge(
  known: ServerPins,
  { server, now, approve, onChange }: Judging,
): Promise<{ readonly approved: Map<string, McpPin | undefined>; readonly refused: readonly McpChange[] }> {
  const approved = new Map<string, McpPin | undefined>();
  const refused: McpChange[] = [];
  for (const change of changesBetween(server, known, now)) {
    if (typeof approve === "function" && (await (approve as (change: McpChange) => unknown)(change)) === true)
      approved.set(change.tool, change.after);
    else {
      refused.push(change);
      onChange?.(change);
    }
  }
  return { approved, refused };
}

function inReach(known: ServerPins, only: readonly string[] | undefined): ServerPins {
  return new Map([...known].filter(([name]) => only === undefined || only.includes(name)));
}

export function merged(
  known: ServerPins,
  approved: ReadonlyMap<string, McpPin | undefined>,
): ReadonlyMap<string, McpPin> {
  const all = new Map<string, McpPin | undefined>([...known, ...approved]);
  return new Map([...all].flatMap(([name, pin]) => (pin === undefined ? [] : [[name, pin] as const])));
}

interface Known {
  readonly server: string;
  readonly known: ServerPins | undefined;
  readonly now: ServerPins;
  readonly offered: readonly McpTool[];
}

/** Refuses unknown names of the author's, which are mistakes: an annotation that is not used could be an important one. */
function checkKnown({ only = [], tools = {} }: McpTaking, { server, known, now, offered }: Known): void {
  for (const [name, annotation] of Object.entries(tools)) {
    const field = Object.keys(annotation).find((each) => !fields.has(each));
    if (field === undefined) continue;
    const reason = `\`tools.${name}\` has the field "${field}": ${[...fields].join(", ")}.`;
    throw new WritError("definition-invalid", { where: `The MCP server ${server}`, reason });
  }
  const name = [...only, ...Object.keys(tools)].find((each) => !now.has(each) && known?.has(each) !== true);
  if (name === undefined) return;
  const option = only.includes(name) ? "only" : "tools";
  throw unknownTool(
    `\`${option}\` of the MCP server ${server}`,
    name,
    offered.map((tool) => visible(tool.name)),
  );
}

const fields: ReadonlySet<string> = new Set([
  "effect",
  "trusted",
  "resolves",
  "secrecy",
  "parameters",
] satisfies (keyof Annotation)[]);

function checkedPin(server: string, tool: McpTool): McpPin {
  const refuse = (reason: string): never => {
    throw new WritError("mcp-refused", { server, what: `the tool "${tool.name}"`, reason });
  };
  const { description = "" } = tool;
  if (typeof description !== "string" || description.length > longestDescription)
    return refuse(`its description is no text of at most ${longestDescription} characters.`);
  const hidden = hiddenIn(description);
  if (hidden !== undefined)
    return refuse(`its description has the hidden character ${hidden.codePoint} at ${hidden.index}.`);
  const pin = pinned(server, tool, refuse);
  for (const field of ["inputSchema", "outputSchema"] as const) {
    const schema = pin[field];
    if (schema === undefined) continue;
    const text = JSON.stringify(schema);
    if (text.length > longestSchema) return refuse(`its ${field} has ${text.length} characters.`);
    if ([...text.matchAll(/"\$(?:ref|dynamicRef)":/g)].length > maxReferences)
      return refuse(`its ${field} has more than ${maxReferences} references.`);
    const inside = hiddenInside(schema);
    if (inside !== undefined)
      return refuse(`its ${field} has the hidden character ${inside.codePoint} in ${inside.path || "it"}.`);
  }
  return pin;
}

function pinned(server: string, tool: McpTool, refuse: (reason: string) => never): McpPin {
  try {
    return pinOf(server, tool);
  } catch (error) {
    return refuse(`what it says of itself cannot be kept as JSON: ${messageOf(error)}`);
  }
}
