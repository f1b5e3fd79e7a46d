import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The parts used of `@modelcontextprotocol/ext-tasks`, which is installed with the suite alone. */
interface Requester {
  readonly createTaskSessionFromClient: (client: object, options: object) => Session;
}

interface Session extends AsyncDisposable {
  callTool(
    name: string,
    args: object,
    options: object,
  ): Promise<{ settle(options: object): Promise<{ readonly outcome: object }> }>;
  close(): Promise<void>;
}

interface ClientLibrary {
  readonly Client: new (
    about: object,
    options: object,
  ) => {
    connect(transport: object): Promise<void>;
    close(): Promise<void>;
  };
  readonly StreamableHTTPClientTransport: new (url: URL) => object;
}

/** Result of one call by the requester: the states that it saw, and the end. */
interface Seen {
  readonly states: readonly string[];
  readonly outcome: object;
}

const protocolVersion = "2026-07-28";
const clientInfo = { name: "task-requester", version: "1.0.0" };
const clientCapabilities = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
const yes = { action: "accept", content: { approved: true } };

const calls = { takes_long: "done at last", deletes: "deleted" };

/**
 * Calls tools of a server by the official requester of the Tasks extension: one that takes long in both revisions, and one that asks in
 * 2026-07-28 only, because in 2025-11-25 the requester never fetches the result, with which its questions come.
 *
 * @throws Error where one is not a task, or does not end as it should
 */
export async function checkTasks(url: string, folder: string): Promise<number> {
  const load = (path: string): Promise<unknown> =>
    import(pathToFileURL(join(folder, "node_modules/@modelcontextprotocol", path)).href);
  const { createTaskSessionFromClient } = (await load("ext-tasks/dist/client/index.js")) as Requester;
  const library = (await load("client/dist/index.mjs")) as ClientLibrary;
  let checked = 0;
  for (const revision of ["2025-11-25", protocolVersion]) {
    const isNew = revision === protocolVersion;
    const client = new library.Client(clientInfo, {
      capabilities: isNew ? clientCapabilities : {},
      versionNegotiation: { mode: isNew ? { pin: revision } : "legacy" },
    });
    await client.connect(new library.StreamableHTTPClientTransport(new URL(url)));
    const session = createTaskSessionFromClient(client, {
      endpointId: "writ",
      ...(isNew
        ? { rawDispatch: rawly(url), v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities } }
        : {}),
      onInputRequest: () => Promise.resolve(yes),
      tools: { currentTool: (name: string) => ({ name, inputSchema: {}, taskSupport: "optional" }) },
    });
    for (const [name, wanted] of Object.entries(isNew ? calls : { takes_long: calls.takes_long })) {
      const { states, outcome } = await seen(session, name);
      if (states.length === 0 || !JSON.stringify(outcome).includes(wanted))
        throw new Error(`${name}, ${revision}: ${JSON.stringify({ states, outcome })}`);
      checked += 1;
    }
    await session.close();
    await client.close();
  }
  return checked;
}

async function seen(session: Session, name: string): Promise<Seen> {
  const states: string[] = [];
  const execution = await session.callTool(name, {}, { task: { preference: "prefer" } });
  const { outcome } = await execution.settle({
    onEvent({ task }: { readonly task?: { readonly status: string } }) {
      if (task !== undefined) states.push(task.status);
    },
  });
  return { states, outcome };
}

/** Sends requests of the extension past the client library, which does not accept tasks as results of calls. */
function rawly(url: string) {
  let id = 0;
  return async (request: {
    readonly method: string;
    readonly params?: { readonly name?: string; readonly taskId?: string };
  }): Promise<object> => {
    id += 1;
    const { method, params = {} } = request;
    const name = params.taskId ?? params.name;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": protocolVersion,
        "mcp-method": method,
        ...(name === undefined ? {} : { "mcp-name": name }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, ...request }),
    });
    const text = await response.text();
    const { result, error } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
      readonly result?: object;
      readonly error?: object;
    };
    return error === undefined ? { kind: "result", result } : { kind: "error", error };
  };
}
