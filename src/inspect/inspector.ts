import { Hono } from "hono";
import { definitionOf } from "../adapters/agent-definition.ts";
import type { Agent } from "../agent/agent.ts";
import type { DurableOptions } from "../durable/durable-options.ts";
import type { RunStore } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { rulePolicyOf } from "../policy/rules/identity.ts";
import type { PolicyJson } from "../policy/rules/rule.ts";
import type { DescribedTool } from "../policy/study/simulate.ts";
import { callersOf, hashToken } from "../server/callers.ts";
import { handlerOf, type Handling } from "../server/handle.ts";
import { defaultBounds, Usages } from "../server/limits.ts";
import { originGuard } from "../server/origins.ts";
import { problemResponse, statusOf } from "../server/problems.ts";
import { serveRuns } from "../server/served-runs.ts";
import { inspectRoutes } from "./inspect-routes.ts";
import type { KnownAgent, RunsToInspect } from "./load-run.ts";
import { pageFile } from "./page-files.ts";
import { rulePlaces } from "./rule-places.ts";
import { RunIndex } from "./run-index.ts";
import { RunsBegunHere } from "./runs-begun-here.ts";

/** The parts of an inspector. */
export interface InspectorOptions extends Pick<DurableOptions, "accept" | "sessions"> {
  readonly store: RunStore;
  readonly agents: readonly Agent[];
  /** The token that every request needs. */
  readonly token: string;
  /** The place of the runs, as people know it. */
  readonly place: string;
  /** The name under which answers are kept. */
  readonly by: string;
  /** Carries out runs of the agents here. */
  readonly works: boolean;
  readonly host: Host;
  /** Called with each error that was answered with 500. */
  readonly onError: (error: unknown) => void;
}

/** An inspector: it answers requests, and can be ended. */
export interface Inspector extends AsyncDisposable {
  readonly fetch: (request: Request) => Promise<Response>;
  drain(): Promise<void>;
}

/** The names by which a machine reaches itself. */
const local: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
/** The shortest time between two reads of the store. */
const pauseMs = 200;

/** Makes an inspector. The list of the runs is complete when it returns. */
export async function inspectorOf(options: InspectorOptions): Promise<Inspector> {
  const { store, agents, token, place, by, works, host, accept, sessions, onError } = options;
  const durable = {
    store,
    agents,
    ...(accept === undefined ? {} : { accept }),
    ...(sessions === undefined ? {} : { sessions }),
  };
  const { worker, ...served } = serveRuns(durable, { work: works ? {} : false, host });
  const around: RunsToInspect = { ...durable, host, known: await aboutAgents(agents) };
  const begunHere = new RunsBegunHere(around, works);
  const index = new RunIndex(store);
  await index.open();
  const stopLooking = lookAtChanges(store, index, host);
  const leaving = new AbortController();
  const handling: Handling = {
    around: served,
    callerOf: callersOf([{ name: by, tokens: [hashToken(token)] }], (agent) => agent),
    usages: new Usages(defaultBounds, host),
    bounds: defaultBounds,
    leaving: leaving.signal,
    onError,
  };
  const app = new Hono({ strict: true });
  for (const route of inspectRoutes({ around, index, begunHere, place, works })) {
    const handle = handlerOf(route, handling);
    const failure = (error: unknown): Response => {
      if (statusOf(error) === undefined) onError(error);
      return problemResponse(error);
    };
    app.on(route.method, route.path, ({ req }) => handle(req.raw, {}).catch(failure));
  }
  app.get("*", async ({ req }) => (await pageFile(req.path)) ?? unknown(req.path));
  app.notFound(({ req }) => unknown(req.path));
  const guard = originGuard({ origins: [], hosts: local });
  const drain = async (): Promise<void> => {
    stopLooking();
    index.close();
    leaving.abort(new WritError("server-leaving", {}));
    await Promise.all([worker?.drain(), begunHere.drain()]);
  };
  return {
    fetch: (request) => guard(request, async () => app.fetch(request)),
    drain,
    [Symbol.asyncDispose]: drain,
  };
}

function unknown(path: string): Response {
  return problemResponse(new WritError("request-unknown", { what: `page ${path.slice(0, 200)}` }));
}

async function aboutAgents(agents: readonly Agent[]): Promise<ReadonlyMap<string, KnownAgent>> {
  const known = await Promise.all(
    agents.map(async (agent) => [agent.name, await aboutAgent(agent)] as const),
  );
  return new Map(known);
}

/** The description of an agent. Compositions of agents have none, but can still be replayed. */
async function aboutAgent(agent: Agent): Promise<KnownAgent> {
  if (typeof agent.manifest !== "function") return {};
  const { instructions, tools, policy } = definitionOf(agent) ?? {};
  const rules = policy && rulePolicyOf(policy);
  return {
    agent,
    manifest: await agent.manifest(),
    tools: Array.isArray(tools) ? tools.filter(isDescribed) : [],
    ...(typeof instructions === "string" ? { instructions } : {}),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only a policy of rules has a `toJSON`
    ...(rules === undefined ? {} : { policy: rules.toJSON() as PolicyJson, places: await rulePlaces(rules) }),
  };
}

const isDescribed = (tool: unknown): tool is DescribedTool => {
  const { name, input } = Object(tool) as Partial<DescribedTool>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- it is looked at
  return typeof name === "string" && typeof input?.parse === "function";
};

/** Reads the runs again soon after a change, but not all the time. */
function lookAtChanges(store: RunStore, index: RunIndex, host: Host): () => void {
  let ids: Set<string> | undefined = new Set<string>();
  let isLooking = false;
  let isMore = false;
  const look = async (): Promise<void> => {
    isLooking = true;
    isMore = false;
    const wanted = ids;
    ids = new Set();
    await index.look(wanted).catch(() => (ids = undefined)); // a store that fails is read again at the next change, for all runs
    host.timer(pauseMs, () => {
      isLooking = false;
      if (isMore) void look();
    });
  };
  return store.watch((id) => {
    if (id === undefined) ids = undefined;
    else ids?.add(id);
    isMore = true;
    if (!isLooking) void look();
  });
}
