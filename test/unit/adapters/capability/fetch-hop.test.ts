import { spawnSync } from "node:child_process";
import { createServer } from "node:https";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Hop, nextHop } from "../../../../src/adapters/capability/fetch-hop.ts";
import { net } from "../../../../src/tool/capability.ts";
import { placeOf } from "../../../../src/tool/net-scope.ts";
import { end, openHandles } from "./open-handles.ts";

function hop(address: string): Hop {
  const url = new URL(address);
  const place = placeOf(url);
  if (typeof place === "string") throw new Error(place);
  return { url, place, method: "GET", headers: new Map([["authorization", "x"]]) };
}
const next = (from: string, location: string | undefined, status = 302): Hop | undefined =>
  nextHop(hop(from), { status, location, followed: 0 });

describe("the next request of a chain", () => {
  it("stays encrypted", () => {
    expect(() => next("https://a.com/x", "http://a.com/x")).toThrow("from https to http");
    expect(() => next("https://a.com/x", "http://b.com/x")).toThrow("from https to http");
    expect(next("http://a.com/x", "https://a.com/x")?.place.protocol).toBe("https:");
  });

  it("keeps what says who asks for the same scheme, host and port alone", () => {
    const keeps = (from: string, location: string): boolean | undefined =>
      next(from, location)?.headers.has("authorization");
    expect(keeps("https://a.com/x", "/y")).toBe(true);
    expect(keeps("https://a.com/x", "https://A.com.:443/y")).toBe(true);
    expect(keeps("https://a.com/x", "https://a.com:8443/y")).toBe(false);
    expect(keeps("https://a.com/x", "https://b.a.com/y")).toBe(false);
    expect(keeps("http://a.com/x", "https://a.com/y")).toBe(false);
  });

  it("is none when the answer is no redirect", () => {
    expect(next("https://a.com", undefined)).toBeUndefined();
    for (const status of [200, 300, 304, 305, 306, 404])
      expect(next("https://a.com", "/x", status)).toBeUndefined();
  });
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
if (!hasOpenssl) console.log("skipped: certificates are made with openssl, which is not installed");

describe.skipIf(!hasOpenssl)("certificates", () => {
  it("are checked, whatever the environment says", async () => {
    const folder = await mkdtemp(join(tmpdir(), "writ-tls-"));
    const files = { key: join(folder, "key"), cert: join(folder, "cert") };
    const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
    const names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", files.key, "-out", files.cert];
    spawnSync("openssl", [...words.split(" "), ...names]);
    let requests = 0;
    const server = createServer(
      { key: readFileSync(files.key), cert: readFileSync(files.cert) },
      (_request, response) => {
        requests += 1;
        response.end("hello");
      },
    );
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const { fetch } = openHandles([net(origin)]);
      expect(await end(() => fetch(origin))).toMatch(/handle-failed: .*self-signed certificate/);
      expect(requests).toBe(0);
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    }
  });
});
