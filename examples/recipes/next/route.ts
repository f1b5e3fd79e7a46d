// app/agents/[...path]/route.ts of a Next.js application: npm i writ
import { hashToken, serve, type Server } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { clerk } from "../clerk.ts";

// The process keeps one server, because the development server loads this file again after every change.
const kept = globalThis as { agents?: Server };
kept.agents ??= serve({
  store: sqliteRuns(":memory:"), // use a file, or postgresRuns(url) for several machines
  agents: [clerk],
  path: "/agents",
  principals: [{ name: "web", tokens: [hashToken("a-secret")] }],
});

export const runtime = "nodejs";
export const GET = kept.agents.fetch;
export const POST = kept.agents.fetch;
export const DELETE = kept.agents.fetch;
