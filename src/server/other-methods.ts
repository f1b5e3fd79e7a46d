import { WritError } from "../error/writ-error.ts";
import { problemResponse } from "./problems.ts";
import type { Route } from "./route.ts";

/** A path, with the answer to each method that none of its routes takes. */
export interface TakenPath {
  readonly path: string;
  readonly answer: (request: Request) => Response;
}

/** The paths of routes. */
export function takenPaths(routes: readonly Route[]): readonly TakenPath[] {
  const paths = Object.entries(Object.groupBy(routes, ({ path }) => path));
  return paths.map(([path, there = []]) => ({ path, answer: answerOf(there) }));
}

function answerOf(there: readonly Route[]): TakenPath["answer"] {
  const methods = there.flatMap(({ method }) =>
    method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()],
  );
  const allow = [...methods, "OPTIONS"].join(", ");
  const failure = there.find((route) => route.failure !== undefined)?.failure ?? problemResponse;
  return ({ method, url }) => {
    if (method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
    const where = new URL(url).pathname.slice(0, 200);
    return failure(new WritError("request-method", { method, where, allow }));
  };
}
