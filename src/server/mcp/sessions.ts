import type { Host } from "../../journal/host.ts";
import type { Caller } from "../callers.ts";
import { keepAliveMs } from "../sse.ts";
import { protocolServer } from "./protocol-server.ts";
import type { Serving } from "./side.ts";

/** The sessions in which clients of revisions before 2026-07 speak. */
export interface Sessions {
  readonly handle: (request: Request, caller: Caller) => Promise<Response>;
  readonly close: () => Promise<void>;
}

interface Bounds {
  readonly host: Host;
  readonly maxRequestBodySize: number;
  /** Counts a session of a caller until what it returns is called. @throws WritError `request-too-many` */
  readonly open: (caller: string) => () => void;
}

interface Session {
  readonly caller: string;
  readonly handle: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
  /** The session was used: its time begins anew. */
  readonly used: () => void;
}

/** A session that was not used for so long ends; its client begins another one. */
const idleMs = 3_600_000;

/** Makes sessions. Each is that of the caller who began it: for all others it is not there. */
export function sessionsOf(serving: Serving, bounds: Bounds): Sessions {
  const sessions = new Map<string, Session>();
  return {
    async handle(request, caller) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return begin(request, caller);
      const session = sessions.get(id);
      if (session === undefined || session.caller !== caller.name) return unknownSession();
      session.used();
      return session.handle(request);
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };

  /** Answers what may begin a session; what does not begin one is refused by the library, and nothing of it stays. */
  async function begin(request: Request, caller: Caller): Promise<Response> {
    const { library } = serving;
    const { host, maxRequestBodySize, open } = bounds;
    const release = open(caller.name);
    let began = false;
    let stopTimer: (() => void) | undefined;
    const transport = new library.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => host.randomId(),
      maxRequestBodySize,
      keepAliveMs,
      onsessioninitialized: (id) => {
        began = true;
        sessions.set(id, {
          caller: caller.name,
          handle: (next) => transport.handleRequest(next),
          close,
          used,
        });
        used();
      },
    });
    const server = protocolServer(caller, serving);
    const onclose = (): void => {
      stopTimer?.();
      release();
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
    };
    Object.assign(server, { onclose });
    const close = (): Promise<void> => server.close();
    function used(): void {
      stopTimer?.();
      stopTimer = host.timer(idleMs, () => void close());
    }
    await server.connect(transport);
    try {
      return await transport.handleRequest(request);
    } finally {
      if (!began) await close();
    }
  }
}

/** The answer to a session that is not there, or another's. */
function unknownSession(): Response {
  const error = { code: -32_001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}
