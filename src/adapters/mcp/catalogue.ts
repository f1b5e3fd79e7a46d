import { asTool } from "../../policy/rules/annotate.ts";
import { setOrigin } from "../../agent/describe/manifest-origin.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
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
 * The most looks in a row at a list that changed meanwhile: a server that reports a change each time would
 * never be done.
 */
const maxLooks = 3;

/**
 * The most looks at its list that a server causes between two calls. The next call looks at later changes.
 */
const maxUnasked = 8;

/** The way of calls to a server, whoever connects to it. */
export interface Line {
  /** A client that is connected; connects anew where that can be. */
  client(): Promise<McpClient>;
  /** A result came, so the server lives. */
  worked(client: McpClient): void;
  /** The call broke. Gives the error to tell. */
  broke(client: McpClient, error: unknown): unknown;
}

export interface CatalogueOptions extends McpTaking {
  /** The author's name for the server. */
  readonly server: string | undefined;
  /** Milliseconds for a call, and for a look at the list. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** A server without tools has an empty list: something else is wanted of it. */
  readonly mayHaveNone?: boolean;
  /** Takes the pages that show what tools did, by this. */
  readonly page?: ((uri: string) => ToolPage) | undefined;
  /** Told that a call is at work, until what it returns is called. */
  readonly atWork?: ((tool: string, context: ToolContext) => () => void) | undefined;
}

/** The tools that were taken of a server, held to what was approved of them. */
export interface Catalogue {
  readonly tools: readonly Tool[];
  /** The same by the server's names. */
  readonly byName: ReadonlyMap<string, Tool>;
  readonly pins: ReadonlyMap<string, McpPin>;
  /** Changes that keep tools out of use now. */
  changes(this: void): readonly McpChange[];
  /** The server may say something else from now on: nothing is called before its list was looked at again. */
  doubt(this: void): void;
}

/**
 * Reads the list of a server and takes tools of it. From then on a tool whose description, schemas or annotations are not those that were approved
 * is not called; it is called again when they are what they were.
 *
 * @throws WritError as {@link listTools} and {@link takeTools} do, and `schema-invalid`
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

  /** While one look is under way a further doubt makes one more of it, and not one each. @throws WritError `mcp-unusable` when that does not end */
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
    await settled(); // who was connected anew is looked at before anything is sent
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

  const byName = new Map(
    taken.map((each) => [each.own, remoteTool(each, { server, timeoutMs, call, page })]),
  );
  return {
    tools: [...byName.values()],
    byName,
    pins,
    changes: () => changes,
    doubt() {
      doubtful = true;
      if (looking !== undefined || unasked === maxUnasked) return;
      unasked += 1;
      asRuntime({ powers: nodePowers }, settled).catch(() => undefined); // the next call looks again, and fails with the reason
    },
  };
}

/** The error that names tools which are not as they were approved; its cause shows the differences. */
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
    // A tool that only computes is trusted as its arguments are: elsewhere nobody knows what it does.
    ...(about.effect === "none" && about.trusted === undefined ? { trusted: false } : {}),
    timeoutMs,
    execute: (args, context) => call(each, args, context),
  });
  const shown = app === undefined ? {} : { page: page?.(app) };
  const output = made.output && tellingDigits(made.output);
  const whole = { ...made, output, ...shown, trustedForm, enforcement };
  return setOrigin(whole, { server, pin: pin.sha256, approved });
}

const keyOf = ({ tool, type, after }: McpChange): string => JSON.stringify([tool, type, after?.sha256 ?? ""]);

/** The short reason for a broken call: a server writes its own errors. */
export function brokenReason(error: unknown): string {
  return visible(messageOf(error)).slice(0, 500);
}
