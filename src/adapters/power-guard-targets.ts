import childProcess from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import workerThreads from "node:worker_threads";

/** Functions of Node that reach the world. */
export interface Target {
  /** Object that holds them; each is replaced there. */
  readonly holder: object;
  readonly names: readonly string[];
  /** Name of the power in the message. */
  readonly power: string;
  /** The handle to take instead. */
  readonly handle: string;
  /** Node calls them for itself too, and that is no use by the tool. */
  readonly isUsedByNode?: boolean;
  /** They fail by what they give, and throw nothing. */
  readonly givesPromise?: boolean;
}

/** The functions of `node:fs` that take a path; those of an open file come after one of them. */
const fileNames: readonly string[] = [
  "access appendFile chmod chown copyFile cp createReadStream createWriteStream exists glob lchmod lchown link",
  "lstat lutimes mkdir mkdtemp open openAsBlob opendir readFile readdir readlink ReadStream realpath rename rm",
  "rmdir stat statfs symlink truncate unlink utimes watch watchFile writeFile WriteStream",
].flatMap((line) => line.split(" "));
const files = { power: "the file system", handle: "fs", isUsedByNode: true } as const;
const network = { power: "the network", handle: "fetch" } as const;
const programs = { power: "programs", handle: "exec" } as const;
const resolvers = Object.keys(dns).filter((name) => /^(?:lookup|resolve|reverse|Resolver)/.test(name));

/** Everything that the guard replaces. What else speaks over the network, like WebSocket, ends in one of these. */
export const targets: readonly Target[] = [
  { holder: globalThis, names: ["fetch"], ...network, givesPromise: true },
  { holder: http, names: ["request", "get"], ...network },
  { holder: https, names: ["request", "get"], ...network },
  { holder: net, names: ["connect", "createConnection"], ...network },
  { holder: net.Socket.prototype, names: ["connect"], ...network },
  { holder: tls, names: ["connect"], ...network },
  { holder: dgram.Socket.prototype, names: ["bind", "connect", "send"], ...network },
  { holder: dns, names: resolvers, ...network },
  { holder: dns.promises, names: resolvers, ...network, givesPromise: true },
  { holder: fs, names: fileNames.flatMap((name) => [name, `${name}Sync`]), ...files },
  { holder: fs.promises, names: fileNames, ...files, givesPromise: true },
  { holder: fs.realpath, names: ["native"], ...files },
  { holder: fs.realpathSync, names: ["native"], ...files },
  {
    holder: childProcess,
    names: ["spawn", "exec", "execFile", "fork", "spawnSync", "execSync", "execFileSync"],
    ...programs,
  },
  { holder: childProcess.ChildProcess.prototype, names: ["spawn"], ...programs },
  { holder: workerThreads, names: ["Worker"], power: "threads", handle: "exec" },
];
