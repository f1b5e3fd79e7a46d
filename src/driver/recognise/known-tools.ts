import { withoutNamespace } from "../../model/tool-names.ts";
import { mapAt } from "../../schema/keywords.ts";
import type { Tool } from "../../tool/tool.ts";
import type { JsonObject } from "../../util/json.ts";
import type { KnownTool } from "./recognise.ts";

/** Finds a tool by a name as a model writes it. */
export interface KnownTools {
  /** The tool that is meant; undefined when none is, or more than one could be. */
  find(written: string): KnownTool | undefined;
}

/**
 * A name is looked up as it stands, then without case and with one sign for all that providers exchange for each other (`.`, `/`, `-`, `_`),
 * without a prefix that means nothing (`functions.add`), then by its last part alone (`add` for `math.add`), when one tool fits.
 */
export function knownTools(given: readonly (KnownTool | Tool)[]): KnownTools {
  const tools = given.map(asKnown);
  const exact = new Map(tools.map((tool) => [tool.name, tool]));
  const byFolded = unique(tools, ({ name }) => folded(name));
  const byLast = unique(tools, ({ name }) => folded(name.split(/[./:]+/).at(-1) ?? name));
  const found = new Map<string, KnownTool | undefined>();
  const look = (written: string): KnownTool | undefined => {
    const spellings = [folded(written), folded(withoutNamespace(written))];
    const known = spellings.find((name) => byFolded.has(name));
    if (known !== undefined) return byFolded.get(known);
    return /[./:]/.test(written) ? undefined : byLast.get(folded(written));
  };
  return {
    find(written) {
      const tool = exact.get(written);
      if (tool !== undefined || written.length > maxNameLength) return tool;
      if (!found.has(written)) {
        if (found.size >= maxNames) found.clear();
        found.set(written, look(written));
      }
      return found.get(written);
    },
  };
}

function asKnown(tool: KnownTool | Tool): KnownTool {
  if ("inputSchema" in tool) return tool;
  const changes = tool.effect !== "none" && tool.effect !== "read";
  return { name: tool.name, inputSchema: tool.input.jsonSchema, changes };
}

const maxNameLength = 256;
const maxNames = 1000;

/** A name without case, and with one sign for all that providers exchange for each other. */
export function folded(name: string): string {
  return name
    .replaceAll("\\", "")
    .replaceAll(/[.\-/: ]+/g, "_")
    .toLowerCase();
}

function unique(
  tools: readonly KnownTool[],
  keyOf: (tool: KnownTool) => string,
): ReadonlyMap<string, KnownTool | undefined> {
  const found = new Map<string, KnownTool | undefined>();
  for (const tool of tools) found.set(keyOf(tool), found.has(keyOf(tool)) ? undefined : tool);
  return found;
}

/** The parameters of a tool, by name. */
export function propertiesOf({ inputSchema }: KnownTool): JsonObject {
  return mapAt(inputSchema, "properties");
}
