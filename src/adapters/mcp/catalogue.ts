import { asTool } from "../../policy/rules/annotate.ts";
import { setOrigin } from "../../agent/describe/manifest-origin.ts";
import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { enforcedTool } from "../../tool/enforcement.ts";
import { type Tool, type ToolContext, toolOfOthers } from "../../tool/tool.ts";
import type { WithFiles } from "../../tool/with-files.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import { asRuntime } from "../../run/around.ts";
import { nodePowers } from "../capability/node-powers.ts";
import { changesBetween, type McpChange } from "./changes.ts";
import type { McpClient } from "./client.ts";
import { tellingDigits } from "./digits.ts";
import { boundedText, callRemote, enforcement, RemoteFailure, withBoundedWords } from "./remote-call.ts";
import { visible } from "../../util/visible.ts";
import { inTime } from "./in-time.ts";
import { listTools } from "./list-tools.ts";
import { type AppTool, appTools } from "./apps.ts";
import type { ToolPage } from "../../tool/tool-page.ts";
import { type McpPin, pinOf } from "./pins.ts";
import { type McpTaking, type Taken, takeTools } from "./take.ts";

/**
 * The most readings in a row of a list that changed meanwhile: with a server that reports a change each time, it
 * would never end.
 */
const maxLooks = 3;

/**
 * The most readings of its list that a server causes between two calls. The next call reads later changes.
 */
const maxUnasked = 8;

/** The connection for calls to a server, whoever makes it. */
export interface Line {
  /** Returns a connected client; connects again if that is possible. */
  client(): Promise<McpClient>;
  /** Called after a result, which shows that the server works. */
  worked(client: McpClient): void;
  /** Called after a call that broke. Returns the error to throw. */
  broke(client: McpClient, error: unknown): unknown;
}

export interface CatalogueOptions extends McpTaking {
  /** The author's name for the server. */
  readonly server: string | undefined;
  /** The milliseconds for a call, and for reading the list. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Accepts a server without tools, whose list is then empty, because something else is wanted of it. */
  readonly mayHaveNone?: boolean;
  /** Takes the pages that show results of tools; this function reads them. */
  readonly page?: ((uri: string) => ToolPage) | undefined;
  /** Called when a call begins; the returned function is called at its end. */
  readonly atWork?: ((tool: string, context: ToolContext) => () => void) | undefined;
}

/** The tools that were taken from a server, checked against their approved form. */
export interface Catalogue {
  readonly tools: readonly Tool[];
  /** The tools by the server's names. */
  readonly byName: ReadonlyMap<string, Tool>;
  readonly pins: ReadonlyMap<string, McpPin>;
  /** The changes that currently keep tools out of use. */
  changes(this: void): readonly McpChange[];
  /** Notes that the server may have changed: nothing is called before its list was read again. */
  doubt(this: void): void;
}

/**
 * Reads the list of a server and takes its tools. From then on a tool whose description, schemas or annotations differ from the approved ones
 * is not called; it is called again when they are as approved.
 *
 * @throws WritError the errors of {@link listTools} and {@link takeTools}
 */
export async function openCatalogue(line: Line, options: CatalogueOptions): Promise<Catalogue> {
  const { timeoutMs, onChange, mayHaveNone, atWork, page } = options;
  const server = options.server ?? "(unnamed)";
  const list = async (signal?: AbortSignal): Promise<readonly AppTool[]> => {
    const all = await listTools(await line.client(), { server, timeoutMs, signal, mayHaveNone });
    return page === undefined ? all : appTools(all);
  };
  const offered = await list(options.signal);
  const { taken, refused, pins } = await takeTools(offered, options);
  const isInReach = (name: string): boolean => options.only?.includes(name) ?? true;
  const approved = new Map([...pins].filter(([name]) => isInReach(name)));
  const told = new Set(refused.map(keyOf));
  let changes = refused;
  let doubtful = false;
  let looking: Promise<void> | undefined;
  let unasked = 0;

  async function look(): Promise<void> {
    doubtful = false;
    try {
      const now = await list();
      const inReach = now.filter(({ name }) => isInReach(name));
      changes = changesBetween(
        server,
        approved,
        new Map(inReach.map((each) => [each.name, pinOf(server, each)])),
      );
    } catch (error) {
      doubtful = true;
      throw error;
    }
    for (const change of changes) {
      if (told.has(keyOf(change))) continue;
      told.add(keyOf(change));
      onChange?.(change);
    }
  }

  /** Waits for the list. While it is read, further doubts cause one more reading, not one each. @throws WritError `mcp-unusable` if that does not end */
  async function settled(): Promise<void> {
    for (let looks = 0; doubtful || looking !== undefined; looks += 1) {
      if (looks === maxLooks)
        throw new WritError("mcp-unusable", { server, reason: "its list changes whenever it is looked at" });
      await (looking ??= look().finally(() => (looking = undefined)));
    }
  }

  async function reach(): Promise<McpClient> {
    await settled();
    const connected = await line.client();
    await settled(); // after a reconnect, the list is read before anything is sent
    return connected;
  }

  async function call(each: Taken, args: JsonObject, context: ToolContext): Promise<Json | WithFiles<Json>> {
    const bounds = { timeoutMs, signal: context.signal, what: "reaching the server" };
    unasked = 0;
    const client = await asRuntime({ powers: nodePowers }, () => inTime(reach, bounds));
    const change = changes.find(({ tool }) => tool === each.own);
    if (change !== undefined) throw changedError(server, [change]);
    const done = atWork?.(each.name, context);
    try {
      const { inputSchema, outputSchema } = each.pin;
      const isChecked = outputSchema !== undefined;
      const remote = { name: each.own, args, inputSchema, timeoutMs, isChecked };
      const result = await callRemote(client, remote, context);
      line.worked(client);
      return result;
    } catch (error) {
      if (error instanceof RemoteFailure) line.worked(client);
      throw error instanceof RemoteFailure || context.signal.aborted
        ? error
        : withBoundedWords(line.broke(client, error));
    } finally {
      done?.();
    }
  }

  const byName = toolsByName(taken, { server, timeoutMs, call, page });
  return {
    tools: [...byName.values()],
    byName,
    pins,
    changes: () => changes,
    doubt() {
      doubtful = true;
      if (looking !== undefined || unasked === maxUnasked) return;
      unasked += 1;
      asRuntime({ powers: nodePowers }, settled).catch(() => undefined); // the next call reads again, and fails with the reason
    },
  };
}

/** The error that names tools which differ from their approved form; its cause has the differences. */
export function changedError(server: string, changes: readonly McpChange[]): WritError<"pins-changed"> {
  const tools = changes.map(({ tool }) => visible(tool)).join(", ");
  const lines = changes.flatMap(({ tool, type, diff }) => [
    `${visible(tool)} is ${type}`,
    ...diff.map((line) => `  ${line}`),
  ]);
  return new WritError("pins-changed", { server, tools }, { cause: new Error(lines.join("\n")) });
}

interface Remote {
  readonly server: string;
  readonly timeoutMs: number;
  readonly page: CatalogueOptions["page"];
  readonly call: (each: Taken, args: JsonObject, context: ToolContext) => Promise<Json | WithFiles<Json>>;
}

/** Makes the taken tools. @throws WritError `mcp-refused`, which tells of all whose schemas cannot be enforced */
function toolsByName(taken: readonly Taken[], remote: Remote): ReadonlyMap<string, Tool> {
  const made = new Map<string, Tool>();
  const faults: { own: string; error: WritError<"schema-invalid"> }[] = [];
  for (const each of taken)
    try {
      made.set(each.own, remoteTool(each, remote));
    } catch (error) {
      if (!isWritError(error, "schema-invalid")) throw error;
      faults.push({ own: each.own, error });
    }
  const [first] = faults;
  if (first === undefined) return made;
  const what = `${faults.length === 1 ? "the tool" : "a list with"} ${faults.map(({ own }) => JSON.stringify(own)).join(", ")}`;
  const reasons = faults.map(
    ({ error: { data } }) => `the ${data.role} schema of "${data.name}" cannot be used: ${data.reason}`,
  );
  const reason = boundedText(reasons.join(" "));
  throw new WritError("mcp-refused", { server: remote.server, what, reason }, { cause: first.error });
}

function remoteTool(each: Taken, { server, timeoutMs, call, page }: Remote): Tool {
  const { name, pin, about, approved } = each;
  const { description = "", inputSchema, outputSchema, app } = pin;
  const { trustedForm, ...said } = asTool(about);
  const made = toolOfOthers({
    name,
    description: boundedText(description),
    inputSchema,
    outputSchema,
    ...said,
    // A tool that only computes here is as trusted as its arguments; on a server its behaviour is unknown.
    ...(about.effect === "none" && about.trusted === undefined ? { trusted: false } : {}),
    timeoutMs,
    execute: (args, context) => call(each, args, context),
  });
  const shown = app === undefined ? {} : { page: page?.(app) };
  const output = made.output && tellingDigits(made.output);
  const whole = enforcedTool({ ...made, output, ...shown, trustedForm }, enforcement);
  return setOrigin(whole, { server, pin: pin.sha256, approved });
}

const keyOf = ({ tool, type, after }: McpChange): string => JSON.stringify([tool, type, after?.sha256 ?? ""]);

/** The short reason for a broken call, because a server writes its own errors. */
export function brokenReason(error: unknown): string {
  return visible(messageOf(error)).slice(0, 500);
}
