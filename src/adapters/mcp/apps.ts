import { isJsonObject, toJson } from "../../util/json.ts";
import type { McpTool } from "./client.ts";

/** The extension that tells servers that their pages are shown. */
export const appExtension = "io.modelcontextprotocol/ui";
export const appType = "text/html;profile=mcp-app";

/** A tool of a server, with the address of the page that shows results of its calls. */
export interface AppTool extends McpTool {
  readonly app?: string;
}

/** The tools for models, each with its page. Tools that are only for the server's pages are left out, because pages call nothing here. */
export function appTools(tools: readonly McpTool[]): readonly AppTool[] {
  return tools.flatMap((tool) => {
    const { uri, isForModels } = uiOf(tool);
    if (!isForModels) return [];
    return [uri === undefined ? tool : { ...tool, app: uri }];
  });
}

function uiOf({ _meta: meta }: McpTool): { readonly uri?: string; readonly isForModels: boolean } {
  const read = toJson(meta ?? {});
  const ui = read.ok && isJsonObject(read.value) ? read.value["ui"] : undefined;
  if (!isJsonObject(ui)) return { isForModels: true };
  const { resourceUri: uri, visibility } = ui;
  const isForModels = !Array.isArray(visibility) || visibility.includes("model");
  return typeof uri === "string" && uri.startsWith("ui://") && uri.length <= 2_000
    ? { uri, isForModels }
    : { isForModels };
}
