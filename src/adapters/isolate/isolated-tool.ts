import { checkShape, closed, checkArguments } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { SchemaSource } from "../../schema/to-schema.ts";
import type { Capability } from "../../tool/capability.ts";
import { type Enforcement, enforcedTool } from "../../tool/enforcement.ts";
import type { HandlesOf } from "../../tool/handles.ts";
import {
  type ArgumentsOf,
  madeFields,
  type SentTo,
  tool,
  type ToolContext,
  type ToolDefinition,
  toolFields,
  type TypedTool,
} from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";
import {
  boolean,
  fits,
  list,
  number,
  optional,
  type Shape,
  shapeOf,
  shownValue,
  string,
  record,
} from "../../util/shape.ts";
import { handleNames } from "./broker.ts";
import { type Boxes, boxes } from "./bubblewrap.ts";
import { callCell, warmPool } from "./call-cell.ts";
import { type Cell, type CellOptions, startCell } from "./cell.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { openPool } from "./pool.ts";

/** The second argument of an isolated module's function. Handles work as in a tool of this process. */
export type IsolatedContext<Needs extends readonly Capability[] = readonly []> = Pick<
  ToolContext,
  "signal" | "callId" | "idempotencyKey" | "progress"
> &
  HandlesOf<Needs>;

/** The definition of a tool whose code is not trusted. */
export interface IsolatedToolDefinition<
  Input extends SchemaSource,
  Needs extends readonly Capability[] = readonly Capability[],
> extends Omit<ToolDefinition<Input, Json, Needs>, "execute"> {
  /** The file with the code: `new URL("./weather/tool.ts", import.meta.url)`, or a path. It runs in a process of its own. */
  readonly module: URL | string;
  /** The name of its function `(args, context) => result`, whose arguments and result are JSON. Default: `execute`. */
  readonly export?: string;
  /** The only files and folders that it may read. Default: the folder of the module, which must hold nothing else then. */
  readonly files?: readonly (URL | string)[];
  /** The memory that the module may take, in bytes. Default 256,000,000. */
  readonly memoryBytes?: number;
  /** The most processes; more calls wait. Default 2. */
  readonly processes?: number;
  /** The milliseconds after which a process without work ends. Default 30,000. */
  readonly idleMs?: number;
  /** Runs each call in a new process. Without it, variables of the module keep their values in later calls, also of other runs. Default false. */
  readonly fresh?: boolean;
  /**
   * The reason to run the code even if nothing can isolate it. It then runs in a plain process, and every trace
   * says so.
   */
  readonly allowUnenforced?: string;
}

/**
 * Makes a tool of a module that is not trusted: its code runs in a process under bubblewrap, without network, environment or any file but its
 * own. It asks the context's handles for everything it needs; these work in this process like those of every tool. Its arguments and results are
 * JSON. A call takes 30 seconds at most unless `timeoutMs` sets another time; then the process is ended. The module is loaded once now, in its box.
 *
 * @throws WritError `enforcement-unavailable` if nothing here isolates it and `allowUnenforced` gives no reason to run it, `isolate-failed` if
 * the module cannot be loaded, `definition-invalid`, and the errors of {@link tool}. A call throws `isolate-failed` if the process ends, takes too
 * much, or writes something forbidden.
 * @example
 * ```ts
 * import { isolatedTool } from "writ/isolate";
 * import { z } from "zod";
 *
 * export const weather = await isolatedTool({
 *   name: "weather",
 *   description: "Weather for a city",
 *   inputSchema: z.object({ city: z.string() }),
 *   module: new URL("./weather/tool.ts", import.meta.url),
 *   effect: "read",
 * });
 * ```
 */
export async function isolatedTool<
  const Input extends SchemaSource,
  const Needs extends readonly Capability[] = readonly [],
>(
  definition: IsolatedToolDefinition<Input, Needs>,
): Promise<TypedTool<ArgumentsOf<Input>, Json, SentTo<Input>>> {
  checkArguments("isolatedTool()", { definition }, { definition: record });
  const { module, export: _name, files, memoryBytes: _bytes, allowUnenforced, ...rest } = definition;
  const { processes = 2, idleMs = 30_000, fresh = false, ...about } = rest;
  const { name, timeoutMs = 30_000 } = about;
  checkShape(`Isolated tool "${name}"`, definition, shape);
  const layout = layoutOf({ name, module, files });
  const start = async (): Promise<Cell> => startCell(cellOptions(definition, layout, await boxes()));
  const pool = openPool({ start, processes, idleMs, fresh });
  const made = tool<Input, Json, readonly Capability[], JsonSchema | undefined>({
    ...about,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked at run time: the type of code elsewhere is unknown
    outputSchema: about.outputSchema as JsonSchema | undefined,
    timeoutMs,
    execute: (args, context) => callCell(pool, { tool: name, args, context, handles: context, timeoutMs }),
  });
  const found = await boxes();
  if (!found.works && (allowUnenforced ?? "").trim() === "")
    throw new WritError("enforcement-unavailable", { tool: name, reason: found.reason });
  await warmPool(pool, name);
  const enforcement = enforcementOf(found, allowUnenforced);
  return enforcedTool({ ...made, unenforced: enforcement.unenforced }, () => enforcement);
}

type CellDefinition = Pick<
  IsolatedToolDefinition<SchemaSource>,
  "name" | "needs" | "export" | "memoryBytes" | "processes" | "idleMs"
>;

function cellOptions(definition: CellDefinition, layout: Layout, found: Boxes): CellOptions {
  const { memoryBytes = 256_000_000, needs = [] } = definition;
  const isBounded = found.works && found.dataBytes > 0;
  return {
    layout,
    memoryBytes,
    bwrap: found.works ? found.bwrap : undefined,
    dataBytes: isBounded ? found.dataBytes + memoryBytes + overheadBytes : undefined,
    export: definition.export ?? "execute",
    handles: handleNames(needs.map(({ kind }) => kind)),
  };
}

/** The memory of threads and compiled code, which is not the module's, but counts with it. */
const overheadBytes = 64_000_000;

/** The enforcement of tools whose code runs in cells. */
function enforcementOf(found: Boxes, unenforced: string | undefined): Enforcement {
  const platform = `${process.platform}-${process.arch}`;
  if (found.works) return { level: "isolated", mechanism: "linux-bwrap", platform, probes: found.probes };
  return {
    level: "none",
    mechanism: "plain process",
    platform,
    probes: found.probes,
    unenforced,
  };
}

const atLeast = (least: number): Shape<number> =>
  shapeOf(`a number of at least ${least}`, (value) => fits(number, value) && value >= least, shownValue);
const file = shapeOf(
  "a path or a URL",
  (value) => typeof value === "string" || value instanceof URL,
  shownValue,
);

const { execute: _execute, ...aboutTool } = toolFields;
const shape = closed(
  {
    module: file,
    export: optional(string),
    files: optional(list(file, "a list of paths and URLs")),
    memoryBytes: optional(atLeast(16_000_000)),
    processes: optional(atLeast(1)),
    idleMs: optional(atLeast(0)),
    fresh: optional(boolean),
    allowUnenforced: optional(string),
    ...aboutTool,
  },
  { taken: madeFields },
);
