import type { Runnable } from "../agent/runnable.ts";
import { WritError } from "../error/writ-error.ts";
import type { Tool } from "../tool/tool.ts";
import { isAgent, partsOf } from "./agent-parts.ts";
import { agentsOf, type Asked, json, type Route } from "./route.ts";
import { toolPage } from "./schemas.ts";

/** The tools that an agent shows, by their names. A name of several tools, in several skills, is left out. */
export type ShownTools = ReadonlyMap<string, Tool>;

/** The tools of an agent; none of a composition. */
export function shownTools(runner: Runnable): ShownTools {
  const tools = isAgent(runner) ? partsOf(runner).tools : [];
  const named = Map.groupBy(tools, ({ name }) => name);
  return new Map(
    [...named].flatMap(([name, [tool, other]]) =>
      tool === undefined || other !== undefined ? [] : [[name, tool] as const],
    ),
  );
}

/**
 * The fields of a chunk about a tool. The author of a page knows the types of the agent's own tools: their parts are `tool-NAME`, as in the AI SDK. Parts of
 * all others are `dynamic-tool`. The metadata names the page of a tool, as renderers of the AI SDK read it.
 */
export function toolNote(tool: Tool | undefined): object {
  const dynamic = isTyped(tool) ? {} : { dynamic: true };
  if (tool?.page === undefined) return dynamic;
  const { uri: resourceUri, mimeType, server: serverId } = tool.page;
  const app = { resourceUri, mimeType, serverId };
  return { ...dynamic, toolMetadata: { app, mcp: { app } } }; // renderers look for it in one place or the other
}

/** True for a tool of the author's; false for a tool of a server, and for a name that the model made up. */
export const isTyped = (tool: Tool | undefined): tool is Tool =>
  tool !== undefined && tool.origin === undefined;

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
  const tools = agent === undefined ? [] : [...shownTools(agent).values()];
  const found = tools.find((tool) => tool.page?.uri === query["uri"]);
  const page = await found?.page?.load(request.signal);
  if (page === undefined)
    throw new WritError("request-unknown", { what: `page of a tool ${JSON.stringify(query["uri"])}` });
  return json(page);
}
