import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { makePowers } from "../../src/adapters/capability/node-powers.ts";
import { isWritError, WritError } from "../../src/error/writ-error.ts";
import { whyNot } from "../../src/policy/powers.ts";
import { env, exec, fs, net, resourceText, type Capability } from "../../src/tool/capability.ts";
import type { Handles } from "../../src/tool/handles.ts";
import type { Faults } from "./checks.ts";
import { shown } from "./play-agent.ts";

/** A thing that a tool asks its real handles for. */
export interface WorldScene {
  readonly handle: "fetch" | "read" | "write" | "list" | "env" | "exec";
  readonly what: number;
  readonly lookup: number;
  readonly tail: string;
}

const outside = "this stands outside of the grant";

const urls = [
  "https://good.example/",
  "https://good.example./",
  "https://GOOD.example:443/x",
  "https://sub.good.example/",
  "http://good.example/",
  "https://good.example:8443/",
  "https://good.example@evil.example/",
  "https://u:p@good.example/",
  "https://evil.example/?good.example",
  "https://good.example.evil.example/",
  "https://xgood.example/",
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://0/",
  "https://0.0.0.0/",
  "https://[::]/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[fe80::1%25eth0]/",
  "https://[64:ff9b::7f00:1]/",
  "https://169.254.169.254/latest/meta-data",
  "https://localhost/",
  "https://good.example:0/",
  "https://good.example:65536/",
  "//evil.example/",
  "\\\\evil.example\\x",
  "https:\\\\good.example",
  "https://good.exam\tple/",
  "https://good.example\n.evil.example/",
  "https://good%2eexample/",
  "file:///etc/passwd",
  "data:text/plain,x",
  "javascript:1",
  "ftp://good.example/",
  "https://",
  "",
  "https://gооd.example/",
  "https://ｇood.example/",
] as const;

/** What the resolver says: nothing that could be reached, so that whatever is connected to is a fault. */
const lookups: readonly (() => unknown)[] = [
  () => [{ address: "127.0.0.1", family: 4 }],
  () => [
    { address: "93.184.216.34", family: 4 },
    { address: "10.0.0.1", family: 4 },
  ],
  () => [{ address: "::ffff:127.0.0.1", family: 6 }],
  () => [{ address: "169.254.169.254", family: 4 }],
  () => [{ address: "fd00::1", family: 6 }],
  () => [{ address: "100.64.0.1", family: 4 }],
  () => [{ address: "0.0.0.0", family: 4 }],
  () => [{ address: "not an address", family: 4 }],
  () => [],
  () => {
    throw new Error("no such name");
  },
];

const paths = [
  "a",
  "in/b",
  "../out/secret",
  "in/../../out/secret",
  "link",
  "folder-link/secret",
  "hard",
  "dangling",
  "in//b",
  "./a",
  "a\u0000",
  "in/./b",
  "",
  ".",
  "..",
  "/etc/passwd",
  "/proc/self/environ",
  "/proc/self/root/etc/passwd",
  "/dev/fd/0",
  "~",
  "%2e%2e/out/secret",
  "in/*",
  "A",
  "in",
  "loop/loop/loop/a",
  "new",
  "in/new",
  "..new",
  "x".repeat(300),
] as const;

const names = [
  "CITY_A",
  "CITY",
  "PATH",
  "HOME",
  "__proto__",
  "constructor",
  "CITY_A=B",
  "",
  "city_a",
] as const;
const programs = [
  "true",
  "/usr/bin/true",
  "/bin/true",
  "sh",
  "/bin/sh",
  "./true",
  "true;id",
  "-x",
  "",
  "../bin/true",
  "true\u0000",
  "TRUE",
] as const;

export const worldScene: fc.Arbitrary<WorldScene> = fc.record({
  handle: fc.constantFrom("fetch", "fetch", "read", "read", "write", "list", "env", "exec"),
  what: fc.nat(60),
  lookup: fc.nat(lookups.length - 1),
  tail: fc.constantFrom("", "", "/", "/..", "\u0000", " ", "?", "#x"),
});

interface World {
  readonly root: string;
  readonly secret: string;
}

let world: World | undefined;

/** A folder with a granted part and everything that leads out of it; made once, removed when the process ends. */
function worldOf(): World {
  if (world !== undefined) return world;
  const base = mkdtempSync(join(tmpdir(), "writ-fuzz-"));
  const root = join(base, "data");
  const secret = join(base, "out", "secret");
  mkdirSync(join(root, "in"), { recursive: true });
  mkdirSync(join(base, "out"));
  writeFileSync(secret, outside);
  writeFileSync(join(root, "a"), "inside");
  writeFileSync(join(root, "in", "b"), "inside");
  symlinkSync(secret, join(root, "link"));
  symlinkSync(join(base, "out"), join(root, "folder-link"));
  symlinkSync(join(base, "nothing"), join(root, "dangling"));
  symlinkSync(root, join(root, "loop"));
  linkSync(secret, join(root, "hard"));
  process.once("exit", () => rmSync(base, { recursive: true, force: true }));
  world = { root, secret };
  return world;
}

/** Asks real handles for hostile things: nothing outside of the grant is read, written, connected to or started. */
export async function playWorld({ handle, what, lookup, tail }: WorldScene): Promise<Faults> {
  const { root, secret } = worldOf();
  const faults: Faults = [];
  const grants: Capability[] = [
    net("good.example"),
    net("*.good.example"),
    fs.read(root),
    fs.write(join(root, "in")),
    env("CITY_*"),
    exec("true"),
  ];
  const port = makePowers(async () => (lookups[lookup]?.() ?? []) as never);
  const scope = { tool: "t", callId: "c", powers: [grants, grants] };
  const opened = port.open({
    scope,
    kinds: new Set(grants.map(({ kind }) => kind)),
    signal: new AbortController().signal,
    use(resource) {
      const reason = whyNot(scope.powers, resource);
      if (reason !== undefined)
        throw new WritError("capability-denied", { resource: resourceText(resource), reason });
    },
  });
  const connected = (): void => void faults.push(`a socket was opened for ${urls[what % urls.length]}`);
  subscribe("net.client.socket", connected);
  const path = `${paths[what % paths.length]}${tail}`;
  const place = path.startsWith("/") ? path : `${root}/${path}`;
  try {
    const got = await uses[handle](opened.handles as Handles, { what, place });
    const text = typeof got === "string" ? got : JSON.stringify(got ?? null);
    // A hard link is inside, whatever else it is called.
    if (text.includes(outside) && !place.startsWith(`${root}/hard`))
      faults.push(`${handle} of ${JSON.stringify(place)} gave what stands outside`);
    if (text.includes("root:") || text.includes("PATH="))
      faults.push(`${handle} of ${place} gave a file of the machine`);
  } catch (error) {
    if (!isWritError(error)) faults.push(`${handle} threw ${shown(error)}`);
  } finally {
    opened.close();
    unsubscribe("net.client.socket", connected);
  }
  if (readFileSync(secret, "utf8") !== outside) {
    writeFileSync(secret, outside);
    faults.push(`writing ${JSON.stringify(place)} changed what stands outside`);
  }
  return faults;
}

const uses: Readonly<
  Record<
    WorldScene["handle"],
    (handles: Handles, at: { readonly what: number; readonly place: string }) => Promise<unknown>
  >
> = {
  fetch: async (handles, { what }) => (await handles.fetch(urls[what % urls.length] ?? "")).text(),
  read: (handles, { place }) => handles.fs.readText(place),
  write: (handles, { place }) => handles.fs.writeText(place, "written"),
  list: (handles, { place }) => handles.fs.list(place),
  env: async (handles, { what }) => {
    const name = names[what % names.length] ?? "";
    const value = handles.env(name);
    if (!name.startsWith("CITY_") && value !== undefined) return "PATH=";
    return value;
  },
  exec: async (handles, { what }) => {
    // A program that is granted is a program that starts: what is tried is what is not.
    const program = programs[1 + (what % (programs.length - 1))] ?? "";
    return handles.exec(program, []);
  },
};
