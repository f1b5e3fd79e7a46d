import type { Runnable } from "../agent/runnable.ts";
import { WritError } from "../error/writ-error.ts";
import type { ToolPage } from "../tool/tool-page.ts";
import { isAgent, partsOf } from "./agent-parts.ts";
import { agentsOf, type Asked, json, type Route } from "./route.ts";
import { toolPage } from "./schemas.ts";

/** The pages that show results of an agent's tools, by the names of the tools. */
export type ToolPages = ReadonlyMap<string, ToolPage>;

/** The pages of an agent's tools: MCP Apps of the servers that the tools come from. */
export function pagesOf(runner: Runnable): ToolPages {
  const tools = isAgent(runner) ? partsOf(runner).tools : [];
  const pages = new Map(
    tools.flatMap(({ name, page }) => (page === undefined ? [] : [[name, page] as const])),
  );
  return pages;
}

/** The metadata in the stream of a chat that names the page of a tool, as renderers of the AI SDK read it. Empty for a tool without a page. */
export function pageNote(pages: ToolPages, tool: string): object {
  const page = pages.get(tool);
  if (page === undefined) return {};
  const { uri: resourceUri, mimeType, server: serverId } = page;
  const app = { resourceUri, mimeType, serverId };
  return { toolMetadata: { app, mcp: { app } } }; // renderers look for it in one place or the other
}

/** The route from which a front end loads such a page. */
export const pageRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/apps/{agent}",
    summary:
      "The page that shows what a tool of a server did (MCP Apps), as the server gives it now: a stranger's program, for a sandbox",
    query: { uri: { type: "string", maxLength: 2_000, description: "`resourceUri` of the tool's metadata" } },
    answer: { status: 200, schema: toolPage },
    act: load,
  },
];

async function load(asked: Asked): Promise<Response> {
  const { params, query, request } = asked;
  const agent = agentsOf(asked).find(({ name }) => name === params["agent"]);
  const pages = agent === undefined ? [] : [...pagesOf(agent).values()];
  const page = await pages.find(({ uri }) => uri === query["uri"])?.load(request.signal);
  if (page === undefined) throw new WritError("request-unknown", { where: `/apps/${params["agent"]}` });
  return json(page);
}
