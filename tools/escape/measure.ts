import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { boxes } from "../../src/adapters/isolate/bubblewrap.ts";
import { codeTool, isolatedTool } from "../../src/adapters/isolate/isolate.ts";
import type { ToolContext } from "../../src/tool/tool.ts";
import { attempts, type Found, type Targets } from "./attempts.ts";
import type { Trying } from "./in-process.ts";
import { type Scene, setOut } from "./targets.ts";

/** The columns of the table. */
export const columns = ["through", "around", "bwrap", "quickjs"] as const;
/** How the code is held. */
export type Column = (typeof columns)[number];
/** The finding of each column; undefined where an attempt does not exist. */
export type Row = Readonly<Partial<Record<Column, Found>>>;

/** The findings on this machine. */
export interface Measured {
  readonly rows: ReadonlyMap<string, Row>;
  /** Columns that cannot be measured here, and why. */
  readonly missing: ReadonlyMap<Column, string>;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

type Try = (row: string) => Promise<Found | undefined>;

/** Makes every attempt in every column, one after another. Each column has targets of its own: an attempt that reaches one late does not count in another. */
export async function measure(): Promise<Measured> {
  const missing = new Map<Column, string>();
  const box = await boxes();
  if (!box.works) missing.set("bwrap", box.reason);
  const wanted = columns.filter((column) => !missing.has(column));
  const scenes = new Map<Column, Scene>();
  for (const column of wanted) scenes.set(column, await setOut(`WRIT_ESCAPE_${column}`));
  const child = fork(here("in-process.ts"), { silent: true });
  const rows = new Map<string, Row>();
  try {
    const tries = new Map<Column, Try>();
    for (const [column, { targets }] of scenes) tries.set(column, await openers[column](targets, child));
    for (const row of Object.keys(attempts)) {
      const found: Partial<Record<Column, Found>> = {};
      for (const [column, scene] of scenes) {
        const result = await tries.get(column)?.(row);
        found[column] = scene.wasReached() ? "reached" : result;
      }
      rows.set(row, found);
    }
  } finally {
    child.kill();
    for (const scene of scenes.values()) scene.end();
  }
  return { rows, missing };
}

const openers: Readonly<Record<Column, (targets: Targets, child: ChildProcess) => Promise<Try>>> = {
  through: async (targets, child) => (row) => ask(child, { row, targets, throughHandles: true }),
  around: async (targets, child) => (row) => ask(child, { row, targets, throughHandles: false }),
  bwrap: inBox,
  quickjs: inQuickjs,
};

async function ask(child: ChildProcess, trying: Trying): Promise<Found | undefined> {
  child.send(trying);
  const [{ found }] = (await once(child, "message")) as [{ readonly found?: Found }];
  return found;
}

/** Makes the attempts as a module that was given its own file and one folder. */
async function inBox(targets: Targets): Promise<Try> {
  const made = await isolatedTool({
    name: "escaping",
    description: "",
    inputSchema: { type: "object" },
    module: here("attempts.ts"),
    files: [targets.folder],
  });
  // What the box was given is beneath its own folder there; the links in it lead where they led before.
  const { folder, fileLink, folderLink, climbing } = targets;
  const moved = Object.fromEntries(
    Object.entries({ folder, fileLink, folderLink, climbing }).map(([name, path]) => [name, `/tool${path}`]),
  );
  return async (row) => (await made.execute({ row, targets: { ...targets, ...moved } }, context)) as Found;
}

/** Makes the attempts as the text of a piece of code. */
async function inQuickjs(targets: Targets): Promise<Try> {
  const made = await codeTool({ timeoutMs: 5_000 });
  const text = stripTypeScriptTypes(readFileSync(here("attempts.ts"), "utf8")).replaceAll(/^export /gm, "");
  return async (row) => {
    const code = `${text}\nreturn execute(input);`;
    return (await made.execute({ code, input: { row, targets: { ...targets } } }, context)) as Found;
  };
}

const context = {
  callId: "escape",
  idempotencyKey: "escape",
  signal: new AbortController().signal,
  progress: () => undefined,
} as unknown as ToolContext;
