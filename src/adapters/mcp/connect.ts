import { checkShape, closed, fromOne, unknownTool } from "../../error/check-shape.ts";
import type { Knowledge } from "../../tool/knowledge.ts";
import { checkName, type Tool, type ToolContext } from "../../tool/tool.ts";
import { anything, optional, type Shape } from "../../util/shape.ts";
import { waitMs } from "../wait-ms.ts";
import { type Catalogue, changedError, openCatalogue } from "./catalogue.ts";
import type { McpChange } from "./changes.ts";
import { type Elicited, Elicitations } from "./elicitation.ts";
import { pageAt } from "./app-page.ts";
import { makeLink } from "./link.ts";
import type { McpPins } from "./pins.ts";
import { type McpTaking, takingFields } from "./take.ts";
import type { McpAddress, McpProgram, Place } from "./place.ts";
import { takeReadings } from "./reading.ts";
import { checkPlace, loadLibrary } from "./transport.ts";
import type { McpReading, McpRevision } from "./wanted.ts";

/**
 * A server, with the author's choice of its tools.
 *
 * @example
 * ```ts
 * import type { McpServer } from "writ/mcp";
 *
 * export const servers: readonly McpServer[] = [
 *   { name: "notes", command: "notes-server", pins: "mcp-pins.json" },
 *   { name: "wiki", url: "https://wiki.example/mcp", only: ["search"], timeoutMs: 10_000 },
 * ];
 * ```
 */
export type McpServer = McpTaking &
  McpReading & {
    /** The author's name for the server: its tools are called `name/tool`. */
    readonly name: string;
    /** The milliseconds after which a call, connecting, or reading the list ends; default 60,000. */
    readonly timeoutMs?: number;
    /** The revision of the protocol. Default: `auto` for an address; `2025-11-25` for a program, which would have to be started twice to ask. */
    readonly revision?: McpRevision;
    /**
     * Lets the server ask a question during a call: the approver of the run (`approve`) is asked, with the fields of its form as arguments to change,
     * within the time of the call. Nobody is asked in a run without `approve`, or while calls of several runs are under way. Default: the server is told that
     * nobody can be asked.
     */
    readonly elicitation?: boolean;
    /**
     * Takes the pages with which the server shows results of its tools (MCP Apps), for the front ends of a server. Tools that are only for its pages are left
     * out. Default: the server is told that none are shown.
     */
    readonly apps?: boolean;
    /** Stops the first connecting. A later abort stops nothing: a lost server is connected again. */
    readonly signal?: AbortSignal;
  } & (McpProgram | McpAddress);

/**
 * A connected server.
 *
 * @example
 * ```ts
 * import type { McpConnection } from "writ/mcp";
 *
 * export const names = ({ tools }: McpConnection): string[] => tools.map(({ name }) => name);
 * ```
 */
export interface McpConnection {
  /** Your name for the server; its tools are called `name/tool`. */
  readonly name: string;
  /** The tools that were taken, as they were when the server was connected. */
  readonly tools: readonly Tool[];
  /** The resources that were taken, as knowledge for skills. Their contents are untrusted. */
  readonly knowledge: readonly Knowledge[];
  /** The prompts that were taken: tools, whose results are the untrusted text of the prompt. */
  readonly prompts: readonly Tool[];
  /** The current pins of the server, for authors who do not keep them in a file. */
  readonly pins: McpPins;
  /**
   * One of the tools, by the server's name for it.
   *
   * @throws WritError `pins-changed` if it is left out because of a change that nobody approved, `tool-unknown`
   */
  tool(name: string): Tool;
  /** The differences that currently keep tools, resources and prompts out of use. */
  changes(): readonly McpChange[];
  /** Ends the connection, and the server's program. Later calls fail. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Connects to an MCP server, as a program of this machine or at an address, and makes tools of those that it offers.
 *
 * The tools are called `name/tool`. They run elsewhere: their enforcement is `remote`, their results are untrusted, and their effects are
 * only those that the author declares in `tools`. Their schemas are enforced here, before a call is sent and after its result came.
 *
 * A server that is dead, hangs or sends nonsense makes a call fail, but never ends a run. A call that broke is not sent again; the next one connects
 * again, after five attempts in a row only once a minute. If a server reports that its list changed, or was connected again, its list is read before the next
 * call: a tool that differs from its approved form is not called.
 *
 * Requires the package `@modelcontextprotocol/client`, and supports its revisions of the protocol, up to 2026-07-28.
 *
 * @throws WritError `mcp-unusable`, `mcp-refused`, `name-taken`, `tool-unknown`, `pins-missing`, `pins-invalid`, `peer-missing`,
 * `name-invalid`, `definition-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { connectMcp } from "writ/mcp";
 *
 * await using notes = await connectMcp({
 *   name: "notes",
 *   command: "notes-server",
 *   tools: { search: { effect: "read" } },
 *   pins: "mcp-pins.json",
 * });
 * const librarian = agent({ name: "librarian", model: "ollama/qwen2.5:7b", tools: notes.tools });
 * console.log(await librarian("What do the notes say of tea?"));
 * ```
 */
export async function connectMcp(server: McpServer): Promise<McpConnection> {
  checkShape("connectMcp()", server, serverShape);
  const { name, signal, revision, resources, prompts, beside = [] } = server;
  const timeoutMs = waitMs(server.timeoutMs ?? 60_000);
  checkName(name, "An MCP server");
  checkPlace(server, name);
  let catalogue: Catalogue | undefined;
  const doubt = (): void => catalogue?.doubt();
  const place = { library: await loadLibrary(), place: server };
  const questions = server.elicitation === true ? new Elicitations(name) : undefined;
  const elicit = questions && ((asked: Elicited) => questions.answer(asked));
  const connecting = { name, timeoutMs, signal, revision, elicit, apps: server.apps };
  const link = makeLink(place, connecting, { onReconnect: doubt, onListChanged: doubt });
  const wanted = { ...(resources && { resources }), ...(prompts && { prompts }) };
  let readings: Awaited<ReturnType<typeof takeReadings>>;
  try {
    const atWork = questions && ((tool: string, context: ToolContext) => questions.begin(tool, context));
    const mayHaveNone = resources !== undefined || prompts !== undefined;
    const page =
      server.apps === true ? (uri: string) => pageAt(uri, link, { server: name, timeoutMs }) : undefined;
    const offering = { server: name, timeoutMs, mayHaveNone, atWork, page };
    catalogue = await openCatalogue(link, { ...server, ...offering });
    const taken = [...beside, ...catalogue.tools];
    const reading = { ...wanted, server: name, timeoutMs, signal, beside: taken };
    readings = await takeReadings(link, { ...server, ...reading });
  } catch (error) {
    await link.close();
    throw error;
  }
  const { tools, byName, pins, changes } = catalogue;
  const ofReadings = { readings: { [name]: Object.fromEntries(readings.held) } };
  return {
    name,
    tools,
    knowledge: readings.knowledge,
    prompts: readings.prompts,
    pins: {
      version: 1,
      servers: { [name]: Object.fromEntries(pins) },
      ...(readings.held.size === 0 ? {} : ofReadings),
    },
    tool: (own) => toolNamed(own, { name, catalogue: { byName, changes } }),
    changes: () => [...changes(), ...readings.changes],
    close: link.close,
    [Symbol.asyncDispose]: link.close,
  };
}

const fields: Readonly<Record<keyof McpServer | KeyOfEach<Place>, Shape<unknown>>> = {
  name: anything,
  timeoutMs: optional(fromOne),
  revision: anything,
  elicitation: anything,
  apps: anything,
  signal: anything,
  command: anything,
  args: anything,
  env: anything,
  cwd: anything,
  url: anything,
  headers: anything,
  signIn: anything,
  ...takingFields,
  resources: anything,
  prompts: anything,
};
type KeyOfEach<Choice> = Choice extends unknown ? keyof Choice : never;
const serverShape = closed(fields);

function toolNamed(
  own: string,
  { name, catalogue }: { readonly name: string; readonly catalogue: Pick<Catalogue, "byName" | "changes"> },
): Tool {
  const change = catalogue.changes().find(({ tool }) => tool === own);
  if (change !== undefined) throw changedError(name, [change]);
  const found = catalogue.byName.get(own);
  if (found !== undefined) return found;
  throw unknownTool(`The MCP server ${name}`, own, catalogue.byName.keys());
}

/**
 * Approves everything that a server offers now, and writes it to the file of its pins. Returns the differences from the earlier approval,
 * for a person to read.
 *
 * @throws WritError the errors of {@link connectMcp}
 * @example
 * ```ts
 * import { approvePins } from "writ/mcp";
 *
 * const changes = await approvePins({ name: "notes", command: "notes-server", pins: "mcp-pins.json" });
 * for (const { tool, type, diff } of changes) console.log([`${tool} is ${type}`, ...diff].join("\n  "));
 * ```
 */
export async function approvePins(
  server: McpServer & { readonly pins: string },
): Promise<readonly McpChange[]> {
  const approved: McpChange[] = [];
  const approve = (change: McpChange): boolean => approved.push(change) > 0;
  const connection = await connectMcp({ ...server, approve });
  await connection.close();
  return approved;
}
