import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { callTool } from "../../src/adapters/lower-doors.ts";
import { connectMcp, type McpConnection, type McpSignIn } from "../../src/adapters/mcp/tools.ts";

interface Heard {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

/** A server that answers with JSON what the function gives: the status, the body, headers. */
type Answer = (
  path: string,
  body: string,
  headers: IncomingMessage["headers"],
) => readonly [number, object?, object?];

async function serveJson(answer: Answer): Promise<{ readonly url: string; readonly heard: Heard[] }> {
  const heard: Heard[] = [];
  const listener: RequestListener = (request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      heard.push({ path, headers: request.headers });
      const [status, body, headers = {}] = answer(path, text, request.headers);
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body === undefined ? "" : JSON.stringify(body));
    });
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

/** The token of the first sign-in. */
const first = "a-good-token";

/** An MCP server that wants a token of an authorization server beside it, which names this address for people. */
async function scene(authorize?: string): Promise<{
  readonly mcp: Awaited<ReturnType<typeof serveJson>>;
  readonly login: typeof mcp;
  /** From now on another token is good. */
  readonly revoke: () => void;
  /** The calls that came with the token that was good before. */
  readonly refused: () => number;
}> {
  let good = first;
  let refused = 0;
  const login = await serveJson((path, body) => {
    const at = (place: string): string => `${login.url}${place}`;
    if (path.startsWith("/.well-known/"))
      return [
        200,
        {
          issuer: login.url,
          authorization_endpoint: authorize ?? at("/authorize"),
          token_endpoint: at("/token"),
          registration_endpoint: at("/register"),
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        },
      ];
    if (path === "/register")
      return [201, { client_id: "registered", redirect_uris: ["http://localhost:1/back"] }];
    if (path === "/token" && isProof(new URLSearchParams(body)))
      return [200, { access_token: good, token_type: "Bearer", expires_in: 3600 }];
    if (path === "/token") return [400, { error: "invalid_grant" }];
    return [404, {}];
  });
  const mcp: Awaited<ReturnType<typeof serveJson>> = await serveJson((path, text, headers) => {
    const resource = `${mcp.url}/mcp`;
    const metadata = `${mcp.url}/.well-known/oauth-protected-resource/mcp`;
    if (path.startsWith("/.well-known/oauth-protected-resource"))
      return [200, { resource, authorization_servers: [login.url] }];
    if (path !== "/mcp") return [404, {}];
    if (headers.authorization === `Bearer ${first}` && good !== first) refused += 1;
    if (headers.authorization !== `Bearer ${good}`)
      return [401, {}, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }];
    if (text === "") return [405, {}];
    const { id, method } = JSON.parse(text) as { readonly id?: number; readonly method: string };
    const failed = text.includes('"fail":true');
    const said = failed ? `${headers.authorization} has no rights` : "hello";
    if (id === undefined) return [202];
    const results: Readonly<Record<string, unknown>> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      },
      "tools/call": { isError: failed, content: [{ type: "text", text: said }] },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
    };
    const result = results[method];
    const error = { code: -32_601, message: "Method not found" };
    return [200, { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }];
  });
  return { mcp, login, revoke: () => void (good = "better"), refused: () => refused };
}

async function connect(url: string, signIn?: McpSignIn): Promise<McpConnection> {
  const headers = { "x-key": "for this server alone" };
  const connection = await connectMcp({
    name: "far",
    url: `${url}/mcp`,
    headers,
    timeoutMs: 20_000,
    ...(signIn && { signIn }),
  });
  onTestFinished(() => connection.close());
  return connection;
}

/** The code of a sign-in is its challenge, whose verifier proves that the same client asks for the token (RFC 7636). */
const isProof = (asked: URLSearchParams): boolean =>
  createHash("sha256")
    .update(asked.get("code_verifier") ?? "")
    .digest("base64url") === asked.get("code");

const back = ({ searchParams }: URL, state = searchParams.get("state")): string =>
  `http://localhost:1/back?code=${searchParams.get("code_challenge")}&state=${state}`;

describe("a server that wants a sign-in", () => {
  it("is signed in at once, with the author's headers for itself alone, and the tokens are kept [H21]", async () => {
    const { mcp, login } = await scene();
    let kept: string | undefined;
    let opened = 0;
    const signIn: McpSignIn = {
      redirectUrl: "http://localhost:1/back",
      store: { read: () => kept, write: (text) => (kept = text) },
      async open(address) {
        opened += 1;
        return back(address);
      },
    };
    expect((await connect(mcp.url, signIn)).tools.map(({ name }) => name)).toEqual(["far/echo"]);
    expect((await connect(mcp.url, signIn)).tools).toHaveLength(1);
    expect(opened).toBe(1);
    expect(JSON.parse(kept ?? "{}")).toMatchObject({
      tokens: { access_token: first },
      client: { client_id: "registered" },
    });
    expect(login.heard.length).toBeGreaterThan(0);
    expect(login.heard.filter(({ headers }) => "x-key" in headers)).toEqual([]);
    expect(mcp.heard.every(({ headers }) => headers["x-key"] === "for this server alone")).toBe(true);
    expect(login.heard.filter(({ headers }) => headers.authorization === `Bearer ${first}`)).toEqual([]);
  });

  it.each(["file:///etc/passwd", "vscode://x/y", "a:$(touch x)"])(
    "shows nobody an address that is not one of the web: %s",
    async (authorize) => {
      const { mcp } = await scene(authorize);
      const opened: URL[] = [];
      const signIn: McpSignIn = {
        redirectUrl: "http://localhost:1/back",
        open: async (address) => (opened.push(address), back(address)),
      };
      await expect(connect(mcp.url, signIn)).rejects.toThrow(
        "the server wants people to open an address that is not one of the web",
      );
      expect(opened).toEqual([]);
    },
  );

  it("is told without its token where the server repeats it in a failure", async () => {
    const { mcp } = await scene();
    const signIn = { redirectUrl: "http://localhost:1/back", open: async (address: URL) => back(address) };
    const { tools } = await connect(mcp.url, signIn);
    const result = await callTool([tools], { name: "far/echo", arguments: { fail: true } });
    expect(result.text).toContain("Bearer [key] has no rights");
    expect(JSON.stringify(result)).not.toContain(first);
  });

  it("is signed in once where its token ends while several calls are made, which all have their results", async () => {
    const { mcp, revoke, refused } = await scene();
    const opened: URL[] = [];
    const person = Promise.withResolvers<void>();
    const signIn: McpSignIn = {
      redirectUrl: "http://localhost:1/back",
      async open(address) {
        opened.push(address);
        if (opened.length > 1) await person.promise;
        return back(address);
      },
    };
    const { tools } = await connect(mcp.url, signIn);
    revoke();
    const calls = [1, 2].map(() => callTool([tools], { name: "far/echo" }));
    await vi.waitFor(() => expect(refused()).toBe(2));
    person.resolve();
    expect(await Promise.all(calls)).toMatchObject([1, 2].map(() => ({ status: "ok", value: "hello" })));
    expect(opened).toHaveLength(2);
  });

  it("cannot be used without a sign-in, nor with the answer to another one", async () => {
    const { mcp } = await scene();
    await expect(connect(mcp.url)).rejects.toMatchObject({ code: "mcp-unusable" });
    const signIn = {
      redirectUrl: "http://localhost:1/back",
      open: async (address: URL) => back(address, "forged"),
    };
    await expect(connect(mcp.url, signIn)).rejects.toThrow("another sign-in");
    const refused = { ...signIn, open: () => Promise.reject(new Error("the person closed the window")) };
    await expect(connect(mcp.url, refused)).rejects.toThrow("closed the window");
  });
});
