import type { JsonSchema } from "../schema/schema.ts";
import type { Json, JsonObject } from "../util/json.ts";
import type { Route } from "./route.ts";
import { problem } from "./schemas.ts";

/** The description of the routes in OpenAPI 3.1, made of the schemas that requests are checked against. */
export function openApi(routes: readonly Route[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operation(route);
  return {
    openapi: "3.1.0",
    info: { title: "Agents of writ", version: "1" },
    servers: [{ url: "." }],
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  };
}

const eventStream = "text/event-stream";

function operation(route: Route): JsonObject {
  const { summary, answer, body, query = {}, isOpen = false, path } = route;
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) =>
    parameter("path", name, { type: "string" }),
  );
  const asked = Object.entries(query).map(([name, schema]) => parameter("query", name, schema));
  return {
    summary,
    operationId: `${route.method}${path.replaceAll(/\W+(\w?)/g, (_all, next: string) => next.toUpperCase())}`,
    parameters: [...named, ...asked],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: content("application/json", body) } }),
    responses: {
      ...(answer.orEvents === true ? { 200: answered({ status: 200, type: eventStream }) } : {}),
      [answer.status]: answered(answer),
      ...(answer.orNothing === true ? { 204: { description: "Nothing" } } : {}),
      default: {
        description: "What went wrong",
        content:
          route.failure === undefined
            ? content("application/problem+json", problem)
            : content("application/json", {}),
      },
    },
    ...(isOpen ? { security: [] } : {}),
  };
}

function answered({ status, schema = {}, type = "application/json", orEvents }: Route["answer"]): JsonObject {
  const description = status === 204 ? "Done" : "As asked";
  if (status === 204) return { description };
  return {
    description,
    content: {
      ...content(type, schema),
      ...(orEvents === true && status === 200 ? content(eventStream, {}) : {}),
    },
  };
}

function parameter(place: "path" | "query", name: string, schema: JsonSchema): Json {
  return { name, in: place, required: place === "path", schema };
}

const content = (type: string, schema: JsonSchema): JsonObject => ({ [type]: { schema } });
