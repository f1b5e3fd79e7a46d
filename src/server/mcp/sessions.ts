import type { Host } from "../../journal/host.ts";
import type { Caller } from "../callers.ts";
import { keepAliveMs } from "../sse.ts";
import type { Offer } from "./offer.ts";
import { protocolServer } from "./protocol-server.ts";
import { SessionUse } from "./session-use.ts";
import type { Serving } from "./side.ts";

/** The sessions of clients that speak revisions before 2026-07. */
export interface Sessions {
  readonly handle: (request: Request, caller: Caller) => Promise<Response>;
  /** The calls that have no answer yet. */
  readonly atWork: () => readonly Promise<unknown>[];
  readonly close: () => Promise<void>;
}

interface Bounds {
  readonly host: Host;
  readonly maxRequestBodySize: number;
  /** The most sessions of a caller. */
  readonly most: number;
  /** Takes a place among the open streams of a caller, until the returned function is called. @throws WritError `request-too-many` */
  readonly open: (caller: string) => () => void;
}

interface Session {
  /** The caller who began it, with the agents that they might use then. */
  readonly caller: Caller;
  readonly atWork: ReadonlySet<Promise<unknown>>;
  readonly use: SessionUse;
  readonly handle: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** Makes the sessions. Each belongs to the caller who began it, while they may use the same agents. For other callers it does not exist. */
export function sessionsOf(serving: Serving, bounds: Bounds): Sessions {
  const sessions = new Map<string, Session>(); // the last used come last
  return {
    async handle(request, caller) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return begin(request, caller);
      const session = sessions.get(id);
      if (!isOf(session, caller, serving.offer)) return unknownSession();
      sessions.delete(id);
      sessions.set(id, session);
      return session.handle(request);
    },
    atWork: () => [...sessions.values()].flatMap(({ atWork }) => [...atWork]),
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };

  /** Answers a request that may begin a session. The library refuses any other request, and nothing of it is kept. */
  async function begin(request: Request, caller: Caller): Promise<Response> {
    const { library } = serving;
    const { host, maxRequestBodySize, open } = bounds;
    const atWork = new Set<Promise<unknown>>();
    const server = protocolServer(caller, { ...serving, atWork });
    const close = (): Promise<void> => server.close();
    const use = new SessionUse({
      host,
      open: () => open(caller.name),
      isAtWork: () => atWork.size > 0,
      onUnused: () => void close(),
    });
    const transport = new library.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => host.randomId(),
      maxRequestBodySize,
      keepAliveMs,
      onsessioninitialized(id) {
        makeRoom(caller.name);
        sessions.set(id, { caller, atWork, use, handle, close });
      },
    });
    const onclose = (): void => {
      use.end();
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
    };
    Object.assign(server, { onclose });
    // A request that ends a session needs no place.
    const handle = (next: Request): Promise<Response> =>
      next.method === "DELETE"
        ? transport.handleRequest(next)
        : use.during(next, () => transport.handleRequest(next));
    await server.connect(transport);
    try {
      return await handle(request);
    } finally {
      if (!sessions.has(transport.sessionId ?? "")) await close();
    }
  }

  /** Ends the sessions of a caller that were unused for longest, if there is no room for another one. */
  function makeRoom(caller: string): void {
    const own = [...sessions.values()].filter((session) => session.caller.name === caller);
    const unused = own.filter(({ use }) => use.isUnused);
    for (const session of unused.slice(0, Math.max(0, own.length - bounds.most + 1))) void session.close();
  }
}

/** True of a session that exists, of a caller who may use the same agents as when it began. */
function isOf(session: Session | undefined, caller: Caller, offer: Offer): session is Session {
  if (session?.caller.name !== caller.name) return false;
  return agentsOf(session.caller, offer) === agentsOf(caller, offer);
}

/** The agents of an offer that a caller may use, as one text. */
function agentsOf({ mayUse }: Caller, { tools, resources, prompts }: Offer): string {
  const offered = [...tools.values(), ...resources.values(), ...prompts.values()];
  const owners = new Set(offered.map(({ owner }) => owner));
  return JSON.stringify([...owners].filter((owner) => mayUse(owner)));
}

/** The answer for a session that does not exist, or is another caller's. */
function unknownSession(): Response {
  const error = { code: -32_001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}
