import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type Stats } from "node:fs";
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fs } from "../../../../src/tool/capability.ts";
import { end, openHandles, type Opened } from "./open-handles.ts";

const isLinux = process.platform === "linux";
if (!isLinux) console.log("skipped where it is about /proc: this is not Linux");

let top: string;
let data: string;
let outside: string;

/** top/data is granted; top/outside, top/data2 and all else are not. */
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "writ-files-")));
  data = join(top, "data");
  outside = join(top, "outside");
  await Promise.all([data, outside, join(top, "data2")].map((folder) => mkdir(folder)));
  await Promise.all([
    writeFile(join(data, "a.txt"), "inside"),
    writeFile(join(outside, "secret.txt"), "outside"),
    writeFile(join(top, "data2/b.txt"), "neighbour"),
  ]);
  await mkdir(join(data, "sub"));
  await writeFile(join(data, "sub/b.txt"), "beneath");
});

afterEach(async () => {
  await rm(top, { recursive: true, force: true });
});

const open = (): Opened => openHandles([fs.read(data), fs.write(data)]);
const content = (path: string): Promise<string> => readFile(path, "utf8");

describe("reading [Y11]", () => {
  it("gives what stands beneath the folder", async () => {
    const { fs, looks } = open();
    expect(await fs.readText(join(data, "a.txt"))).toBe("inside");
    expect(await fs.readBytes(join(data, "sub/b.txt"))).toEqual(new TextEncoder().encode("beneath"));
    expect(await fs.list(data)).toEqual([
      { name: "a.txt", type: "file" },
      { name: "sub", type: "folder" },
    ]);
    expect(await fs.stat(join(data, "a.txt"))).toMatchObject({ type: "file", bytes: 6 });
    expect((await fs.stat(join(data, "a.txt")))?.modifiedMs).toBe((await stat(join(data, "a.txt"))).mtimeMs);
    expect(await fs.stat(join(data, "sub"))).toMatchObject({ type: "folder" });
    expect(await fs.stat(join(data, "nothing"))).toBeUndefined();
    expect(await fs.stat(join(data, "a.txt/nothing"))).toBeUndefined();
    expect(looks[0]).toBe(`fs.read(${data}/a.txt)`);
  });

  it("takes every spelling of a path for what it leads to", async () => {
    const { fs } = open();
    for (const path of [
      `${data}//a.txt`,
      `${data}/./a.txt`,
      `${data}/sub/../a.txt`,
      `${outside}/../data/a.txt`,
    ])
      expect(await fs.readText(path)).toBe("inside");
  });

  it.each([
    ["DATA/../outside/secret.txt", "capability-denied"],
    ["DATA/sub/../../outside/secret.txt", "capability-denied"],
    ["DATA2/b.txt", "capability-denied"],
    ["DATA/../nothing", "capability-denied"],
    ["DATA/nothing/../../outside/secret.txt", "capability-denied"],
    ["/etc/passwd", "capability-denied"],
    ["/etc/nothing-of-this-name", "capability-denied"],
    ["/", "capability-denied"],
    ["a.txt", "must be absolute"],
    ["./a.txt", "must be absolute"],
    ["", "must be absolute"],
    ["file:///etc/passwd", "must be absolute"],
    ["DATA/a.txt\0/../../outside/secret.txt", "NUL"],
    ["DATA/nothing", "nothing there"],
    ["DATA/sub", "it is a folder"],
    ["DATA/a.txt/", "no folder"],
    ["DATA/a.txt/..", "no folder"],
  ])("refuses %j", async (path, reason) => {
    const { fs } = open();
    const real = path.replace("DATA", data);
    expect(await end(() => fs.readText(real))).toContain(reason);
    if (reason === "capability-denied") {
      expect(await end(() => fs.stat(real))).toContain(reason);
      expect(await end(() => fs.list(real))).toContain(reason);
    }
  });

  it("takes what leads to the root of all files for the root", async () => {
    const { fs: handle } = openHandles([fs.read("/")]);
    for (const path of ["/", "/nothing-of-this-name/.."])
      expect(await end(() => handle.readText(path)), path).not.toContain("capability-denied");
  });

  it("follows links that stay inside, and no link that leads out", async () => {
    await symlink("a.txt", join(data, "near"));
    await symlink("near", join(data, "chain"));
    await symlink(outside, join(data, "folder"));
    await symlink("../outside/secret.txt", join(data, "file"));
    await symlink("file", join(data, "long"));
    await symlink(join(data, "a.txt"), join(outside, "back"));
    await symlink("loop", join(data, "loop"));
    await symlink("nothing", join(data, "dangling"));
    await symlink("../outside/nothing", join(data, "away"));
    await symlink("../outside/circle", join(data, "round"));
    await symlink("circle", join(outside, "circle"));
    const { fs } = open();
    expect(await fs.readText(join(data, "near"))).toBe("inside");
    expect(await fs.readText(join(data, "chain"))).toBe("inside");
    expect(await fs.readText(join(outside, "back"))).toBe("inside");
    for (const name of [
      "file",
      "long",
      "folder/secret.txt",
      "folder/../outside/secret.txt",
      "folder/nothing",
      "away",
      "away/deeper",
      "round",
    ])
      expect(await end(() => fs.readText(`${data}/${name}`)), name).toContain("capability-denied");
    expect(await end(() => fs.list(join(data, "folder")))).toContain("capability-denied");
    for (const name of ["loop", "dangling", "dangling/deeper"])
      expect(await end(() => fs.readText(join(data, name))), name).toContain("handle-failed");
    expect((await fs.list(data)).find(({ name }) => name === "folder")).toEqual({
      name: "folder",
      type: "other",
    });
  });

  it("gives a part of a file, of any size [C38]", async () => {
    const { fs } = open();
    const part = async (from: number, bytes: number, name = "a.txt"): Promise<string> =>
      Buffer.from(await fs.readBytes(join(data, name), { from, bytes })).toString();
    expect(await part(0, 100)).toBe("inside");
    expect(await part(2, 3)).toBe("sid");
    expect(await part(6, 3)).toBe("");
    expect(await part(600, 3)).toBe("");
    expect(await part(2, 0)).toBe("");
    await truncate(join(data, "a.txt"), 3_000_000_000); // holes take no room
    expect(await end(() => fs.readBytes(join(data, "a.txt")))).toContain("more than 100000000 bytes");
    expect(await part(2_999_999_999, 100)).toBe("\0");
    for (const [from, bytes] of [
      [-1, 1],
      [0, -1],
      [0.5, 1],
      [Number.NaN, 1],
      [0, Number.POSITIVE_INFINITY],
      [0, 100_000_001],
    ] as const)
      expect(await end(() => part(from, bytes))).toContain("handle-failed");
    expect(await end(() => part(0, 1, "sub"))).toContain("it is a folder");
  });

  it("looks for no path that is longer than any can be", async () => {
    const { fs, looks } = open();
    expect(await end(() => fs.readText(`${data}/${"a/".repeat(200_000)}x`))).toContain(
      "more than 4096 bytes",
    );
    expect(await end(() => fs.readText(`${data}/${"ä".repeat(128)}`))).toContain("more than 255 bytes");
    expect(looks).toEqual([]);
  });

  it("grants that are links themselves lead where they lead", async () => {
    const alias = join(top, "alias");
    await symlink(data, alias);
    const { fs: granted, looks } = openHandles([fs.read(alias)]);
    expect(await granted.readText(join(alias, "a.txt"))).toBe("inside");
    expect(await granted.readText(join(data, "a.txt"))).toBe("inside");
    expect(await end(() => granted.readText(join(top, "data2/b.txt")))).toContain("capability-denied");
    expect(looks).toEqual([
      `fs.read(${data}/a.txt)`,
      `fs.read(${data}/a.txt)`,
      `not fs.read(${top}/data2/b.txt)`,
    ]);
    // each of both lists must lead there
    const narrow = openHandles([fs.read(alias)], { grants: [fs.read(join(alias, "sub"))] });
    expect(await narrow.fs.readText(join(data, "sub/b.txt"))).toBe("beneath");
    expect(await end(() => narrow.fs.readText(join(alias, "a.txt")))).toContain("capability-denied");
  });

  it("refuses what is no data at rest, and waits for nothing", async () => {
    spawnSync("mkfifo", [join(data, "pipe")]);
    const server: Server = createServer();
    await new Promise<void>((resolve) => void server.listen(join(data, "socket"), resolve));
    const { fs } = open();
    expect(await end(() => fs.readText(join(data, "pipe")))).toContain("no regular file");
    expect(await end(() => fs.readText(join(data, "socket")))).toContain("handle-failed");
    expect(await fs.stat(join(data, "pipe"))).toMatchObject({ type: "other" });
    expect((await fs.list(data)).filter(({ type }) => type === "other").map(({ name }) => name)).toEqual([
      "pipe",
      "socket",
    ]);
    expect(await end(() => fs.appendText(join(data, "pipe"), "x"))).toContain("no regular file");
    expect(await end(() => fs.writeText(join(data, "pipe"), "x"))).toContain("no regular file");
    server.close();
  });

  it.skipIf(!isLinux)("reaches /proc and /dev only when they are named", async () => {
    const everything = openHandles([fs.read("/")]).fs;
    for (const path of ["/proc/self/environ", "/proc/1/environ", `/proc/${process.pid}/cmdline`, "/dev/null"])
      expect(await end(() => everything.readText(path)), path).toContain("capability-denied");
    expect(await everything.readText(`/proc/self/root${data}/a.txt`)).toBe("inside");
    const narrow = open().fs;
    for (const path of [
      `/proc/self/root${outside}/secret.txt`,
      `/proc/self/cwd/package.json`,
      "/dev/fd/0",
      "/dev/stdin",
    ])
      expect(await end(() => narrow.readText(path)), path).toMatch(/capability-denied|handle-failed/);
    const named = openHandles([fs.read("/proc/self")]).fs;
    expect(await named.readText("/proc/self/comm")).not.toBe("");
    expect(await end(() => named.readText("/proc/1/comm"))).toContain("capability-denied");
  });

  it("refuses a file that is too large to be read whole", async () => {
    await writeFile(join(data, "large"), "");
    const { truncate } = await import("node:fs/promises");
    await truncate(join(data, "large"), 100_000_001);
    expect(await end(() => open().fs.readText(join(data, "large")))).toContain("more than 100000000 bytes");
  });
});

describe("writing [Y11]", () => {
  it("creates, replaces, appends, makes folders and removes", async () => {
    const { fs, looks } = open();
    const path = join(data, "new.txt");
    await fs.writeText(path, "one");
    expect([(await stat(path)).mode & 0o777, await content(path)]).toEqual([0o600, "one"]);
    await chmod(path, 0o640);
    await fs.writeBytes(path, new TextEncoder().encode("two"));
    expect([(await stat(path)).mode & 0o777, await content(path)]).toEqual([0o640, "two"]);
    await fs.appendText(path, " three");
    expect(await content(path)).toBe("two three");
    await fs.appendText(join(data, "log"), "first");
    expect((await stat(join(data, "log"))).mode & 0o777).toBe(0o600);
    await fs.makeFolder(join(data, "folder"));
    await fs.makeFolder(join(data, "folder"));
    expect(((await stat(join(data, "folder"))) satisfies Stats).mode & 0o777).toBe(0o700);
    expect(await end(() => fs.makeFolder(path))).toContain("something is there already");
    await fs.remove(join(data, "folder"));
    await fs.remove(path);
    await fs.remove(join(data, "log"));
    expect(await readdir(data)).toEqual(["a.txt", "sub"]);
    expect(new Set(looks)).toEqual(
      new Set([`fs.write(${path})`, `fs.write(${data}/log)`, `fs.write(${data}/folder)`]),
    );
  });

  it.each([
    ["DATA/../outside/new.txt", "capability-denied"],
    ["DATA/../new.txt", "capability-denied"],
    ["DATA2/new.txt", "capability-denied"],
    ["DATA/nothing/new.txt", "nothing there"],
    ["DATA/a.txt/new.txt", "no folder"],
    ["DATA/", "end in a name"],
    ["DATA/sub/.", "end in a name"],
    ["DATA/sub/..", "end in a name"],
    ["new.txt", "must be absolute"],
    ["DATA/new\0.txt", "NUL"],
    ["/etc/nothing/new", "capability-denied"],
  ])("refuses %j", async (path, reason) => {
    const { fs } = open();
    const real = path.replace("DATA", data);
    for (const write of [
      () => fs.writeText(real, "x"),
      () => fs.appendText(real, "x"),
      () => fs.makeFolder(real),
      () => fs.remove(real),
    ])
      expect(await end(write)).toContain(reason);
    expect(await readdir(top)).toEqual(["data", "data2", "outside"]);
    expect(await readdir(data)).toEqual(["a.txt", "sub"]);
  });

  it("follows no link: not at the end, and not on the way out", async () => {
    await symlink("../outside/secret.txt", join(data, "file"));
    await symlink("a.txt", join(data, "near"));
    await symlink("../outside/new.txt", join(data, "dangling"));
    await symlink(outside, join(data, "folder"));
    const { fs } = open();
    for (const name of ["file", "near", "dangling"]) {
      expect(await end(() => fs.writeText(join(data, name), "x"))).toContain("a link");
      expect(await end(() => fs.appendText(join(data, name), "x"))).toContain("a link");
      expect(await end(() => fs.makeFolder(join(data, name)))).toContain("something is there already");
    }
    expect(await end(() => fs.writeText(join(data, "folder/new.txt"), "x"))).toContain("capability-denied");
    expect(await end(() => fs.remove(join(data, "folder/secret.txt")))).toContain("capability-denied");
    await fs.remove(join(data, "file")); // the link, not what it leads to
    expect(await content(join(outside, "secret.txt"))).toBe("outside");
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    expect(await content(join(data, "a.txt"))).toBe("inside");
  });

  it("changes no file that has another name", async () => {
    await link(join(outside, "secret.txt"), join(data, "hard"));
    const { fs } = open();
    expect(await end(() => fs.writeText(join(data, "hard"), "x"))).toContain("hard link");
    expect(await end(() => fs.appendText(join(data, "hard"), "x"))).toContain("hard link");
    expect(await content(join(outside, "secret.txt"))).toBe("outside");
    await fs.remove(join(data, "hard"));
    expect(await content(join(outside, "secret.txt"))).toBe("outside");
  });

  it("reads nothing with the power to write, and writes nothing with the power to read", async () => {
    const reader = openHandles([fs.read(data)]);
    const writer = openHandles([fs.write(data)]);
    expect(Object.keys(reader.fs).toSorted()).toEqual(["list", "readBytes", "readText", "stat"]);
    expect(Object.keys(writer.fs).toSorted()).toEqual([
      "appendText",
      "makeFolder",
      "remove",
      "writeBytes",
      "writeText",
    ]);
    const mixed = openHandles([fs.read(outside), fs.write(data)]).fs;
    expect(await end(() => mixed.readText(join(data, "a.txt")))).toContain("capability-denied");
    expect(await end(() => mixed.writeText(join(outside, "secret.txt"), "x"))).toContain("capability-denied");
  });

  it("is whole: who reads sees the old text or the new one, and nothing is left behind", async () => {
    const { fs } = open();
    const path = join(data, "whole.txt");
    const texts = ["a".repeat(300_000), "b".repeat(300_000)];
    await fs.writeText(path, texts[0] ?? "");
    const over = new AbortController();
    const watching = (async () => {
      const seen = new Set<string>();
      while (!over.signal.aborted) seen.add(await content(path));
      return seen;
    })();
    for (let count = 0; count < 20; count += 1) await fs.writeText(path, texts[count % 2] ?? "");
    over.abort();
    for (const text of await watching) expect(texts).toContain(text);
    expect(await readdir(data)).toEqual(["a.txt", "sub", "whole.txt"]);
  });
});

/** Another program, which exchanges a folder and a link to elsewhere as fast as it can, with rests of up to a millisecond. */
const swapper = `
  const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
  const [real, aside, outside] = process.argv.slice(1);
  const rest = (most) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * most);
  for (const until = Date.now() + 10_000; Date.now() < until; ) {
    renameSync(real, aside);
    symlinkSync(outside, real);
    rest(0.5);
    unlinkSync(real);
    renameSync(aside, real);
    rest(1);
  }
`;

describe.skipIf(!isLinux)("a folder that is swapped for a link while handles work in it", () => {
  it("lets nothing be read or written outside", async () => {
    const real = join(data, "swap");
    const aside = join(top, "data2/aside");
    await mkdir(real);
    await writeFile(join(real, "secret.txt"), "inside");
    const swapping = spawn(process.execPath, ["-e", swapper, real, aside, outside], { stdio: "ignore" });
    const { fs } = open();
    const ends = new Map<string, number>();
    const count = (key: string): void => void ends.set(key, (ends.get(key) ?? 0) + 1);
    for (const until = Date.now() + 2500; Date.now() < until;) {
      const text = await end(() => fs.readText(join(real, "secret.txt")));
      count(text === "inside" ? "read" : "refused");
      expect(text).not.toBe("outside");
      const written = await end(() => fs.writeText(join(real, "new.txt"), "x"));
      count(written === undefined ? "written" : "refused");
      await end(() => fs.appendText(join(real, "log.txt"), "x"));
      await end(() => fs.makeFolder(join(real, "made")));
    }
    swapping.kill();
    await once(swapping, "exit");
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    // The race was a race: both happened.
    expect(ends.get("read")).toBeGreaterThan(0);
    expect(ends.get("refused")).toBeGreaterThan(0);
  });
});

describe("after the call", () => {
  it("nothing works any more, and a write that was under way changes nothing", async () => {
    const { fs, close } = open();
    const path = join(data, "late.txt");
    const writing = end(() => fs.writeText(path, "x".repeat(5_000_000)));
    close();
    expect(await writing).toBe("capability-closed: fs.writeText was used after its call had ended.");
    for (const work of [
      () => fs.readText(path),
      () => fs.list(data),
      () => fs.stat(path),
      () => fs.remove(join(data, "a.txt")),
    ])
      expect(await end(work)).toContain("capability-closed");
    await expect.poll(() => readdir(data)).toEqual(["a.txt", "sub"]);
    expect((await lstat(join(data, "a.txt"))).isFile()).toBe(true);
  });

  it("the abort of the call is the reason that is given", async () => {
    const stopped = new AbortController();
    const { fs: files } = openHandles([fs.read(data)], { signal: stopped.signal });
    stopped.abort(new Error("cancelled"));
    await expect(files.readText(join(data, "a.txt"))).rejects.toThrow("cancelled");
  });
});
