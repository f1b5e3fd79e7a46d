import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callTool } from "../../../../src/doors.ts";
import type { Capability, Tool } from "../../../../src/index.ts";
import type { Json } from "../../../../src/util/json.ts";

/** A new folder, by its real path. */
export const newFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "writ-workspace-")));

/** Calls one of several tools as a program does: `status: text`. */
export function callerOf(tools: readonly Tool[], grants: readonly Capability[]) {
  return async (name: string, args: Json = {}): Promise<string> => {
    const found = tools.find((tool) => tool.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    const { status, text } = await callTool(found, args, { grants });
    return `${status}: ${text}`;
  };
}
