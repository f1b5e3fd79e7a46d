import { checkArguments } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { assertNever } from "../util/assert-never.ts";
import { fits, record, string } from "../util/shape.ts";
import { readProgram, readVariable, readVariableScope, variableCovers } from "./name-scope.ts";
import { netCovers, placeText, readNetScope } from "./net-scope.ts";
import { pathCovers, readPathScope } from "./path-scope.ts";
import { noScope, readScope, type ScopeReading } from "./scope-reading.ts";

/** All kinds, in the order of the documentation. */
export const capabilityKinds = ["net", "fs.read", "fs.write", "env", "secret", "exec", "llm"] as const;

/** A kind of thing outside the program that it can reach. */
export type CapabilityKind = (typeof capabilityKinds)[number];

/**
 * A power over a part of the world, as data. A tool *needs* capabilities and an agent *grants* them. A capability opens nothing by itself: a tool runs
 * with the powers that both lists cover. `scope` is canonical: two capabilities with the same kind and scope are the same power.
 */
export interface Capability<Kind extends CapabilityKind = CapabilityKind> {
  readonly kind: Kind;
  /** A host pattern, a folder, a name, a program; empty for `llm`. */
  readonly scope: string;
}

/** One thing to reach, in canonical form, so that it can be compared. */
export type Resource =
  | {
      readonly kind: "net";
      readonly protocol: "http:" | "https:";
      /** Lower case, Punycode, without a final dot; an IP address in its canonical spelling, in brackets for version 6. */
      readonly host: string;
      readonly port: number;
    }
  | {
      readonly kind: "fs.read" | "fs.write";
      /** Absolute, with all links resolved. */
      readonly path: string;
      /** The real places of scopes with links in them, by scope; any other scope leads where it says. */
      readonly roots?: ReadonlyMap<string, string>;
    }
  | { readonly kind: "env" | "secret"; readonly name: string }
  /** The program as it was named: a bare name or an absolute path. */
  | { readonly kind: "exec"; readonly program: string }
  | { readonly kind: "llm" };

function invalidCapability(text: string, reason: string): WritError<"capability-invalid"> {
  return new WritError("capability-invalid", { text, reason });
}

const readers: Readonly<Record<CapabilityKind, (text: string) => ScopeReading>> = {
  net: readNetScope,
  "fs.read": readPathScope,
  "fs.write": readPathScope,
  env: readVariableScope,
  secret: readVariable,
  exec: readProgram,
  llm: (text) => (text === "" ? readScope("") : noScope("there is only one llm: it has no scope.")),
};

function isKind(kind: unknown): kind is CapabilityKind {
  return typeof kind === "string" && Object.hasOwn(readers, kind);
}

function make<Kind extends CapabilityKind>(kind: Kind, written: unknown): Capability<Kind> {
  const reading = typeof written === "string" ? readers[kind](written) : noScope("it must be a text.");
  if (!reading.ok) throw invalidCapability(rawText(kind, written), reading.reason);
  return Object.freeze({ kind, scope: reading.scope });
}

function rawText(kind: string, scope: unknown): string {
  return kind === "llm" && scope === "" ? kind : `${kind}(${String(scope)})`;
}

/**
 * Makes a capability for the network: one host, `*.suffix` for all hosts beneath a name of two parts or more (not the name itself), or `*` for every
 * public host. It means https on port 443 unless you write a scheme or a port. A tool reaches a host that leads to a private address only if you name that
 * address, or `localhost`, itself.
 *
 * @throws WritError `capability-invalid`
 * @example
 * ```ts
 * import { net } from "writ";
 *
 * export const needs = [net("api.weather.com"), net("*.weather.com"), net("api.x:8443"), net("http://127.0.0.1:18080")];
 * ```
 */
export function net(host: string): Capability<"net"> {
  return make("net", host);
}

/**
 * Make capabilities for files: a file, or a folder and everything beneath it. Paths are absolute, or `file:` addresses; `/**` at the end changes nothing.
 * `/` does not reach into /proc, /sys and /dev.
 *
 * @throws WritError `capability-invalid`
 * @example
 * ```ts
 * import { fs } from "writ";
 *
 * export const needs = [fs.read("/data"), fs.write("/data/out")];
 * ```
 */
export const fs: {
  /** Reads, inspects and lists. */
  readonly read: (path: string | URL) => Capability<"fs.read">;
  /** Writes, makes folders and removes; it does not include reading. */
  readonly write: (path: string | URL) => Capability<"fs.write">;
} = Object.freeze({
  read: (path: string | URL) => make("fs.read", path instanceof URL ? path.href : path),
  write: (path: string | URL) => make("fs.write", path instanceof URL ? path.href : path),
});

/**
 * Makes a capability for the value of an environment variable, or for all variables with a prefix: `APP_*`.
 *
 * @throws WritError `capability-invalid`
 * @example
 * ```ts
 * import { env } from "writ";
 *
 * export const needs = [env("CITY"), env("APP_*")];
 * ```
 */
export function env(name: string): Capability<"env"> {
  return make("env", name);
}

/**
 * Makes a capability for a secret, which stands in the environment variable of that name. The tool can send the secret, but can neither read nor print it.
 *
 * @throws WritError `capability-invalid`
 * @example
 * ```ts
 * import { net, secret } from "writ";
 *
 * export const needs = [net("api.weather.com"), secret("WEATHER_KEY")];
 * ```
 */
export function secret(name: string): Capability<"secret"> {
  return make("secret", name);
}

/**
 * Makes a capability for a program: its bare name, which is looked up in /usr/local/bin, /usr/bin and /bin, or its absolute path. The program can do
 * anything once it runs.
 *
 * @throws WritError `capability-invalid`
 * @example
 * ```ts
 * import { exec } from "writ";
 *
 * export const needs = [exec("git")];
 * ```
 */
export function exec(program: string): Capability<"exec"> {
  return make("exec", program);
}

/**
 * The capability to ask the run's model.
 *
 * @example
 * ```ts
 * import { llm } from "writ";
 *
 * export const needs = [llm];
 * ```
 */
export const llm: Capability<"llm"> = make("llm", "");

/**
 * Reads a capability as written on a command line: `net=api.weather.com`, `fs.read=/data`, `llm`.
 *
 * @throws WritError `capability-invalid`; for an unknown kind it names the known ones
 * @example
 * ```ts
 * import { parseCapability } from "writ/tools";
 *
 * export const granted = parseCapability("net=api.weather.com");
 * ```
 */
export function parseCapability(text: string): Capability {
  checkArguments("parseCapability()", { text }, { text: string });
  const at = text.indexOf("=");
  const kind = at === -1 ? text : text.slice(0, at);
  if (!isKind(kind)) throw invalidCapability(text, unknownKind(kind));
  if (at === -1 && kind !== "llm") throw invalidCapability(text, `write ${kind}=…`);
  if (at !== -1 && kind === "llm") throw invalidCapability(text, "there is only one llm: it has no scope.");
  return make(kind, text.slice(at === -1 ? text.length : at + 1));
}

/**
 * Reads a comma-separated list of capabilities; `none` is the empty list. A scope with a comma in it cannot be written this way.
 *
 * @throws WritError `capability-invalid`
 * @example
 * ```ts
 * import { parseCapabilities } from "writ/tools";
 *
 * export const ceiling = parseCapabilities("net=api.weather.com,fs.read=/data,llm");
 * ```
 */
export function parseCapabilities(text: string): readonly Capability[] {
  checkArguments("parseCapabilities()", { text }, { text: string });
  if (text.trim() === "none") return [];
  return text.split(",").map((part) => parseCapability(part.trim()));
}

/**
 * Reads a capability from any value, such as an entry of `needs`, `grants` or a JSON file, and returns it with its scope in canonical spelling.
 *
 * @throws WritError `capability-invalid`
 */
export function readCapability(value: unknown): Capability {
  const { kind, scope } = fits(record, value) ? value : {};
  if (kind === undefined) throw invalidCapability(shownOf(value), "it is not a capability.");
  if (!isKind(kind)) throw invalidCapability(rawText(shownOf(kind), scope), unknownKind(shownOf(kind)));
  return make(kind, scope);
}

/** A capability as people read it: `net(api.weather.com)`, `llm`. */
export function capabilityText({ kind, scope }: Capability): string {
  return rawText(kind, scope);
}

/** A resource as people read it, in the spelling of the capability that would cover just this. */
export function resourceText(resource: Resource): string {
  return capabilityText(exactly(resource));
}

/** The smallest capability that covers a resource. */
export function exactly(resource: Resource): Capability {
  switch (resource.kind) {
    case "net":
      return { kind: "net", scope: placeText(resource) };
    case "fs.read":
    case "fs.write":
      return { kind: resource.kind, scope: resource.path };
    case "env":
    case "secret":
      return { kind: resource.kind, scope: resource.name };
    case "exec":
      return { kind: "exec", scope: resource.program };
    case "llm":
      return llm;
    default:
      return assertNever(resource);
  }
}

/** True if a capability covers a resource. A scope that is not canonical covers nothing beyond itself. */
export function covers({ kind, scope }: Capability, resource: Resource): boolean {
  if (kind !== resource.kind) return false;
  switch (resource.kind) {
    case "net":
      return netCovers(scope, resource);
    case "fs.read":
    case "fs.write":
      return pathCovers(resource.roots?.get(scope) ?? scope, resource.path);
    case "env":
      return variableCovers(scope, resource.name);
    case "secret":
      return scope === resource.name && readVariable(scope).ok;
    case "exec":
      return scope === resource.program && readProgram(scope).ok;
    case "llm":
      return true;
    default:
      return assertNever(resource);
  }
}

function unknownKind(kind: string): string {
  return `"${kind}" is not a kind of capability. There are ${capabilityKinds.join(", ")}.`;
}

function shownOf(value: unknown): string {
  return typeof value === "string" ? value : value === null ? "null" : typeof value;
}
