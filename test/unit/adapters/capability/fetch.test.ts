import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePowers } from "../../../../src/adapters/capability/node-powers.ts";
import { net, secret } from "../../../../src/tool/capability.ts";
import type { FetchOptions } from "../../../../src/tool/handles.ts";
import { end, openHandles, type Opened } from "./open-handles.ts";
import { type Answer, type TestServer, testServer } from "./test-server.ts";

let server: TestServer;
let other: TestServer;
let opened: Opened[] = [];

beforeEach(async () => {
  [server, other] = await Promise.all([testServer(), testServer()]);
});

afterEach(async () => {
  for (const handles of opened) handles.close();
  opened = [];
  await Promise.all([server.close(), other.close()]);
});

const open = (...args: Parameters<typeof openHandles>): Opened => {
  const handles = openHandles(...args);
  opened.push(handles);
  return handles;
};
const here = (): Opened => open([net(server.origin)]);
const both = (): Opened => open([net(server.origin), net(other.origin)]);
const redirect =
  (status: number, location: string): Answer =>
  (_request, response) =>
    void response.writeHead(status, { location }).end("elsewhere");

describe("a request", () => {
  it("goes where it may, and gives a real Response", async () => {
    server.answer = (_request, response) =>
      void response
        .writeHead(201, { "content-type": "application/json", "set-cookie": ["a=1", "b=2"] })
        .end('{"a":1}');
    const { fetch, looks } = here();
    const response = await fetch(`${server.origin}/x?y=1#z`, { headers: { "X-Test": "1" } });
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.statusText, response.ok]).toEqual([201, "Created", true]);
    expect([response.url, response.redirected]).toEqual([`${server.origin}/x?y=1`, false]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.json()).toEqual({ a: 1 });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({ method: "GET", url: "/x?y=1", headers: { "x-test": "1" } });
    expect(looks).toEqual([`net(${server.origin})`]);
  });

  it("sends texts and bytes, and reads answers without a body", async () => {
    const { fetch } = here();
    await (await fetch(server.origin, { method: "post", body: "é" })).text();
    await (await fetch(server.origin, { method: "PUT", body: new Uint8Array([1, 2]) })).text();
    expect(
      server.requests.map(({ method, body, headers }) => [method, body, headers["content-length"]]),
    ).toEqual([
      ["POST", "é", "2"],
      ["PUT", "\u0001\u0002", "2"],
    ]);
    expect((await fetch(server.origin, { method: "HEAD" })).body).toBeNull();
    server.answer = (_request, response) => void response.writeHead(204).end();
    expect((await fetch(server.origin)).body).toBeNull();
  });

  it("brings nothing along: no cookie, no credential, no proxy of the environment", async () => {
    process.env["HTTP_PROXY"] = process.env["http_proxy"] = other.origin;
    try {
      server.answer = (_request, response) => void response.writeHead(200, { "set-cookie": "id=1" }).end();
      const { fetch } = here();
      await fetch(server.origin);
      await fetch(server.origin);
    } finally {
      delete process.env["HTTP_PROXY"];
      delete process.env["http_proxy"];
    }
    expect(other.requests).toEqual([]);
    expect(Object.keys(server.requests[1]?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
  });

  it("keeps a connection, and uses it again for the same host at the same address only", async () => {
    const { fetch } = here();
    for (let count = 0; count < 3; count += 1) await (await fetch(server.origin)).text();
    expect(server.connections).toBe(1);
  });

  it("asks again when the kept connection was closed meanwhile", async () => {
    server.answer = (request, response) =>
      void response.end("hello", () => setTimeout(() => request.socket.destroy(), 5));
    const { fetch } = here();
    for (let count = 0; count < 5; count += 1) {
      expect(await (await fetch(server.origin)).text()).toBe("hello");
      await new Promise((resolve) => setTimeout(resolve, count));
    }
  });
});

describe("what is refused [Y11, Y12]", () => {
  it.each([
    ["http://localhost:PORT", "capability-denied"],
    ["http://127.0.0.1:1", "capability-denied"],
    ["https://127.0.0.1:PORT", "capability-denied"],
    ["http://127.0.0.2:PORT", "capability-denied"],
    ["http://[::1]:PORT", "capability-denied"],
    ["http://[::ffff:127.0.0.1]:PORT", "capability-denied"],
    ["http://evil.com", "capability-denied"],
    ["http://127.0.0.1.evil.com:PORT", "capability-denied"],
    ["http://user@127.0.0.1:PORT", "user name"],
    ["http://user:word@127.0.0.1:PORT", "user name"],
    ["http://127.0.0.1:PORT@evil.com/", "user name"],
    ["//evil.com", "no absolute address"],
    ["/path", "no absolute address"],
    ["", "no absolute address"],
    ["http://127.0.0.1:65536", "no absolute address"],
    ["http://127.0.0.1:0", "capability-denied"],
    ["file:///etc/passwd", "http and https"],
    ["data:text/plain,x", "http and https"],
    ["blob:http://127.0.0.1/x", "http and https"],
    ["ftp://127.0.0.1", "http and https"],
    [String.raw`http:\\127.0.0.1:PORT`, "read in two ways"],
    ["http://127.0.0.1:PORT/a b", "read in two ways"],
    ["http://127.0.0.1\t:PORT/", "read in two ways"],
    ["http://127.0.0.1:PORT/\n", "read in two ways"],
    ["http://[fe80::1%25eth0]/", "no absolute address"],
    ["http://a..b/", "not a name"],
  ])("%j", async (address, reason) => {
    const { fetch } = here();
    expect(await end(() => fetch(address.replace("PORT", String(server.port))))).toContain(reason);
    expect(server.requests).toEqual([]);
  });

  it.each(["127.0.0.1", "127.0.0.1.", "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "127%2e0.0.1"])(
    "other spellings are the same address: %s",
    async (host) => {
      const { fetch, looks } = here();
      expect(await (await fetch(`http://${host}:${server.port}`)).text()).toBe("hello");
      expect(looks).toEqual([`net(${server.origin})`]);
      expect(server.requests[0]?.headers.host).toBe(`127.0.0.1:${server.port}`);
    },
  );

  it("declared and granted, or not at all", async () => {
    const needed = net(server.origin);
    const { fetch } = open([needed], { grants: [net(other.origin)] });
    expect(await end(() => fetch(server.origin))).toContain("It was not granted");
    expect(await end(() => fetch(other.origin))).toContain("The tool did not declare it");
  });

  it("headers of the connection, line breaks, and methods that are tunnels", async () => {
    const { fetch } = here();
    for (const name of [
      "Host",
      "connection",
      "Content-Length",
      "transfer-encoding",
      "Proxy-Authorization",
      "a b",
      "",
    ])
      expect(await end(() => fetch(server.origin, { headers: { [name]: "x" } })), name).toContain(
        "is refused",
      );
    for (const value of ["a\r\nx: y", "a\nb", "\0", "日"])
      expect(await end(() => fetch(server.origin, { headers: { x: value } }))).toContain(
        "cannot stand in a header",
      );
    expect(await end(() => fetch(server.origin, { headers: { x: "1", X: "2" } }))).toContain("is refused");
    for (const headers of [new Headers({ x: "1" }), [["x", "1"]], "x", 5] as unknown as Record<
      string,
      string
    >[])
      expect(await end(() => fetch(server.origin, { headers }))).toMatch(
        /headers` must be an? (plain )?object/,
      );
    for (const wrong of [
      null,
      "x",
      { timeoutMs: 5 },
      { signal: 5 },
      { method: 5 },
    ] as unknown as FetchOptions[])
      expect(await end(() => fetch(server.origin, wrong))).toMatch(/^handle-failed: .*its options: /);
    for (const method of ["CONNECT", "TRACE", "GET /x", ""])
      expect(await end(() => fetch(server.origin, { method }))).toContain("is refused");
    const withBody = { body: "x" };
    expect(await end(() => fetch(server.origin, withBody))).toContain("has no body");
    for (const maxBytes of [0, -1, Number.NaN])
      expect(await end(() => fetch(server.origin, { maxBytes }))).toContain("maxBytes");
    expect(server.requests).toEqual([]);
  });
});

describe("redirects", () => {
  it("are judged like the first request", async () => {
    server.answer = redirect(302, `${other.origin}/x`);
    const { fetch, looks } = here();
    expect(await end(() => fetch(server.origin))).toContain(`not granted: net(${other.origin})`);
    expect(other.requests).toEqual([]);
    expect(looks).toEqual([`net(${server.origin})`, `not net(${other.origin})`]);
  });

  it.each([
    ["http://user@127.0.0.1:PORT/", "user name"],
    ["file:///etc/passwd", "http and https"],
    ["http://169.254.169.254/latest/meta-data", "capability-denied"],
    ["http://localhost:PORT/", "capability-denied"],
    ["//evil.com/", "capability-denied"],
    ["http://[", "no absolute address"],
  ])("to %s are refused", async (location, reason) => {
    server.answer = redirect(302, location.replace("PORT", String(server.port)));
    expect(await end(() => here().fetch(server.origin))).toContain(reason);
  });

  it("are followed at most five times", async () => {
    server.answer = (request, response) => {
      const at = Number(request.url?.slice(1));
      if (at < 5) redirect(302, `/${at + 1}`)(request, response, "");
      else response.end("there");
    };
    const { fetch } = here();
    const response = await fetch(`${server.origin}/0`);
    expect([response.url, response.redirected, await response.text()]).toEqual([
      `${server.origin}/5`,
      true,
      "there",
    ]);
    server.answer = redirect(302, "/again");
    expect(await end(() => fetch(server.origin))).toContain("more than 5 times");
    expect(server.requests).toHaveLength(6 + 6);
  });

  it.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [303, "HEAD", "HEAD", ""],
    [301, "PUT", "PUT", "body"],
    [307, "POST", "POST", "body"],
    [308, "PATCH", "PATCH", "body"],
  ])("%s turns %s into %s within an origin", async (...row) => {
    const [status, method, then, body] = row;
    server.answer = (request, response) => {
      if (request.url === "/") redirect(status, "/then")(request, response, "");
      else response.end();
    };
    const { fetch } = here();
    await fetch(server.origin, { method, ...(method === "HEAD" ? {} : { body: "body" }) });
    expect(server.requests[1]).toMatchObject({ method: then, body });
    expect(server.requests[1]?.headers["content-type"]).toBe(
      body === "" ? undefined : "text/plain;charset=UTF-8",
    );
  });

  it("tell another origin neither who asks nor what was sent, also when they come back", async () => {
    server.answer = (request, response) => {
      if (request.url === "/") redirect(302, `${other.origin}/there`)(request, response, "");
      else response.end("back");
    };
    other.answer = redirect(302, `${server.origin}/back`);
    process.env["HANDLE_TEST_KEY"] = "key-123456";
    const { fetch, secret: take } = open([net(server.origin), net(other.origin), secret("HANDLE_TEST_KEY")]);
    const headers = {
      authorization: ["Bearer ", take("HANDLE_TEST_KEY")],
      cookie: "a=1",
      "x-api-key": "abc",
      accept: "text/html",
      "user-agent": "me",
    };
    expect(await (await fetch(server.origin, { headers })).text()).toBe("back");
    delete process.env["HANDLE_TEST_KEY"];
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer key-123456", cookie: "a=1" });
    for (const { headers: told } of [other.requests[0], server.requests[1]].filter(
      (request) => request !== undefined,
    )) {
      expect(told).toMatchObject({ accept: "text/html", "user-agent": "me" });
      for (const name of ["authorization", "cookie", "x-api-key"]) expect(told).not.toHaveProperty(name);
    }
  });

  it("carry no body and no effect to another origin", async () => {
    for (const status of [307, 308]) {
      server.answer = redirect(status, other.origin);
      expect(await end(() => both().fetch(server.origin, { method: "POST", body: "x" }))).toContain(
        "another origin",
      );
      expect(await end(() => both().fetch(server.origin, { method: "DELETE" }))).toContain("another origin");
    }
    expect(other.requests).toEqual([]);
    expect(await (await both().fetch(server.origin)).text()).toBe("hello");
  });
});

describe("names", () => {
  const named = (addresses: Readonly<Record<string, readonly string[]>>) => {
    const asked: string[] = [];
    const port = makePowers(async (host) => {
      asked.push(host);
      return (addresses[host] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    });
    return { port, asked };
  };

  it.each([
    ["127.0.0.1"],
    ["10.0.0.1"],
    ["169.254.169.254"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["::ffff:7f00:1"],
    ["64:ff9b::7f00:1"],
    ["2002:7f00:1::"],
    ["fd00::1"],
    ["0.0.0.0"],
  ])("that lead to %s are refused, alone and beside a public address", async (address) => {
    for (const addresses of [[address], ["93.184.216.34", address], [address, "93.184.216.34"]]) {
      const { port } = named({ "rebind.example.com": addresses });
      const { fetch, looks } = open([net("*")], { port });
      expect(await end(() => fetch("https://rebind.example.com"))).toContain("capability-denied");
      expect(looks.at(-1)).toMatch(/^not net\(/);
    }
  });

  it("are looked up once for each request, and the address that was judged is the one that is used", async () => {
    // The second answer would be another server: it is never asked for within a request.
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    const asked: string[] = [];
    const port = makePowers(async (host) => {
      asked.push(host);
      return (answers.shift() ?? []).map((address) => ({ address, family: 4 }));
    });
    const { fetch, looks } = open([net(`http://name.example.com:${server.port}`), net(server.origin)], {
      port,
    });
    expect(await (await fetch(`http://name.example.com:${server.port}`)).text()).toBe("hello");
    expect(asked).toEqual(["name.example.com"]);
    expect(looks).toEqual([`net(http://name.example.com:${server.port})`, `net(${server.origin})`]);
    expect(server.requests[0]?.headers.host).toBe(`name.example.com:${server.port}`);
    // the name leads elsewhere now: the kept connection to the first address is not used for it
    expect(await end(() => fetch(`http://name.example.com:${server.port}`))).toContain(
      `not granted: net(http://127.0.0.2:${server.port})`,
    );
    expect(server.requests).toHaveLength(1);
  });

  it("do not share a connection when they lead to other addresses", async () => {
    const second = await testServer("127.0.0.2");
    const answers = ["127.0.0.1", "127.0.0.2", "127.0.0.1"];
    const port = makePowers(async () => [{ address: answers.shift() ?? "", family: 4 }]);
    const needs = [net(`http://localhost:${server.port}`)];
    const { fetch } = open(needs, { port });
    await (await fetch(`http://localhost:${server.port}`)).text();
    expect(await end(async () => (await fetch(`http://localhost:${server.port}`)).text())).toContain(
      "refused",
    );
    await (await fetch(`http://localhost:${server.port}`)).text();
    expect([server.connections, second.connections]).toEqual([1, 0]);
    await second.close();
  });

  it("localhost leads to this machine, at whichever of its addresses answers", async () => {
    const { fetch } = open([net(`http://localhost:${server.port}`)]);
    expect(await (await fetch(`http://localhost:${server.port}`)).text()).toBe("hello");
    const { port } = named({ localhost: ["93.184.216.34"] });
    const outside = open([net(`http://localhost:${server.port}`)], { port });
    expect(await end(() => outside.fetch(`http://localhost:${server.port}`))).toContain("another machine");
  });

  it("that have no address, or none that is one, fail", async () => {
    const { port } = named({ "odd.example.com": ["fe80::1%eth0"] });
    const { fetch } = open([net("*")], { port });
    expect(await end(() => fetch("https://none.example.com"))).toContain("no address");
    expect(await end(() => fetch("https://odd.example.com"))).toContain("no address");
    expect(await end(() => open([net("*")]).fetch("https://none.invalid"))).toContain(
      "handle-failed: net(none.invalid)",
    );
  });

  it("that were not granted are not even looked up", async () => {
    const { port, asked } = named({});
    const { fetch } = open([net("api.example.com")], { port });
    await end(() => fetch("https://secret-data.evil.com"));
    expect(asked).toEqual([]);
  });
});

describe("answers", () => {
  const read = (maxBytes?: number) =>
    end(async () => (await here().fetch(server.origin, { maxBytes })).text());

  it("are decompressed, and counted as they are then", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    server.answer = (_request, response) =>
      void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    expect(await read()).toContain("more than 10000000 bytes");
    expect(await read(60_000_000)).toHaveLength(50_000_000);
    expect(await read(50_000_000)).toHaveLength(50_000_000);
    expect(await read(49_999_999)).toContain("more than 49999999 bytes");
  });

  it("that never end are cut off, and their connection is closed", async () => {
    let isOpen = true;
    server.answer = (_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
        if (!response.destroyed) response.once("drain", more);
      };
      response.once("close", () => (isOpen = false));
      more();
    };
    expect(await read(1_000_000)).toContain("more than 1000000 bytes");
    await expect.poll(() => isOpen).toBe(false);
  });

  it("that are damaged, cut or encoded in an unknown way fail", async () => {
    const compressed = gzipSync("hello".repeat(1000));
    server.answer = (_request, response) =>
      void response.writeHead(200, { "content-encoding": "gzip" }).end(compressed.subarray(0, 20));
    expect(await read()).toContain("handle-failed");
    server.answer = (_request, response) =>
      void response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip");
    expect(await read()).toContain("handle-failed");
    for (const coding of ["zip", "gzip, gzip", "constructor"]) {
      server.answer = (_request, response) =>
        void response.writeHead(200, { "content-encoding": coding }).end(compressed);
      expect(await read()).toContain("encoded in a way that is not read");
    }
    server.answer = (request, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("x", () => setTimeout(() => request.socket.destroy(), 5));
    };
    expect(await read()).toContain("handle-failed");
  });

  it("that drip end with the signal, and with the call", async () => {
    server.answer = (_request, response) => {
      response.write("x");
      const drip = setInterval(() => response.write("x"), 5);
      response.once("close", () => clearInterval(drip));
    };
    const { fetch } = here();
    const late = new AbortController();
    const response = await fetch(server.origin, { signal: late.signal });
    setTimeout(() => late.abort(new DOMException("too late", "TimeoutError")), 30);
    await expect(response.text()).rejects.toMatchObject({ name: "TimeoutError" });
    const closing = here();
    const dripping = await closing.fetch(server.origin);
    setTimeout(closing.close, 30);
    expect(await end(() => dripping.text())).toBe(
      "capability-closed: fetch was used after its call had ended.",
    );
  });

  it("that never begin end with the signal, and with the call", async () => {
    server.answer = () => undefined;
    await expect(here().fetch(server.origin, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({
      name: "TimeoutError",
    });
    const stopped = new AbortController();
    const waiting = open([net(server.origin)], { signal: stopped.signal }).fetch(server.origin);
    setTimeout(() => stopped.abort(new Error("the run was cancelled")), 30);
    await expect(waiting).rejects.toThrow("the run was cancelled");
    const closing = here();
    setTimeout(closing.close, 30);
    expect(await end(() => closing.fetch(server.origin))).toContain("capability-closed");
  });
});

describe("after the call", () => {
  it("nothing works any more", async () => {
    const { fetch, close } = here();
    close();
    close();
    expect(await end(() => fetch(server.origin))).toBe(
      "capability-closed: fetch was used after its call had ended.",
    );
    expect(server.requests).toEqual([]);
  });
});
