import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pullUrl } from "../../../src/adapters/model-files/pull-url.ts";

const bytes = Buffer.from("GGUF and what is behind it");
const sha256 = createHash("sha256").update(bytes).digest("hex");

let folder: string;
let path: string;
const servers: Server[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "writ-model-url-"));
  path = join(folder, "models", "m.gguf");
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true, force: true });
});

/** The address of a file on a server of its own. */
async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/m.gguf`;
}

const whole: RequestListener = (_request, response) =>
  void response.writeHead(200, { "content-length": bytes.length }).end(bytes);

describe("a model of any address", () => {
  it("is fetched under its name, and is not fetched again", async () => {
    let requests = 0;
    const url = await served((request, response) => {
      requests += 1;
      whole(request, response);
    });
    const asked = { url, sha256: sha256.toUpperCase() };
    expect(await pullUrl(asked, { folder })).toBe(path);
    expect(await readFile(path)).toEqual(bytes);
    expect(requests).toBe(2); // its size, then the file
    expect(await pullUrl(asked, { folder })).toBe(path);
    expect(requests).toBe(2);
  });

  it("is not kept where its bytes are others, and takes no place of another file", async () => {
    const url = await served(whole);
    const other = "0".repeat(64);
    await expect(pullUrl({ url, sha256: other }, { folder })).rejects.toMatchObject({
      code: "checksum-mismatch",
    });
    expect(existsSync(path)).toBe(false);
    await pullUrl({ url, sha256 }, { folder });
    await expect(pullUrl({ url, sha256: other }, { folder })).rejects.toMatchObject({
      code: "option-invalid",
      message: expect.stringContaining("--sha256"),
    });
    expect(await readFile(path)).toEqual(bytes);
  });

  it.each([
    ["no address", "m.gguf", sha256],
    ["another protocol", "file:///tmp/m.gguf", sha256],
    ["another file", "https://127.0.0.1/m.bin", sha256],
    ["a way out", "https://127.0.0.1/%2e%2e%2f.gguf", sha256],
    ["half a checksum", "https://127.0.0.1/m.gguf", "abc"],
  ])("is refused for %s", async (_what, url, sum) => {
    await expect(pullUrl({ url, sha256: sum }, { folder })).rejects.toMatchObject({ code: "option-invalid" });
    expect(existsSync(join(folder, "models"))).toBe(false);
  });

  it("says what the server said", async () => {
    const gone = await served((_request, response) => void response.writeHead(404).end());
    const sizeless = await served((_request, response) => void response.writeHead(200).end());
    await expect(pullUrl({ url: gone, sha256 }, { folder })).rejects.toThrow("answered 404");
    await expect(pullUrl({ url: sizeless, sha256 }, { folder })).rejects.toThrow(
      "does not announce its size",
    );
    await expect(pullUrl({ url: "http://127.0.0.1:9/m.gguf", sha256 }, { folder })).rejects.toMatchObject({
      code: "download-failed",
      message: expect.stringContaining("fetch failed (bad port)") as string, // or why it cannot be reached
    });
  });
});
