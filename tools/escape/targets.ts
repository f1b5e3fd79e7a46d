import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createPipeServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFiles } from "../../src/adapters/isolate/node-files.ts";
import type { Targets } from "./attempts.ts";

/** The targets for one kind of code, and whether one was reached, as seen from this process. */
export interface Scene {
  readonly targets: Targets;
  /** Whether a target was reached since the last call. */
  readonly wasReached: () => boolean;
  readonly end: () => void;
}

/** Sets up the targets that must not be reached. The secret is also in the environment of this process, under the name `variable`. */
export async function setOut(variable: string): Promise<Scene> {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "writ-escape-")));
  const at = (name: string): string => join(outside, name);
  const secret = `escaped-${process.pid}-${Math.trunc(performance.now() * 1_000)}`;
  process.env[variable] = secret;
  writeFileSync(at("secret"), secret);
  mkdirSync(at("tool"));
  symlinkSync(at("secret"), at("tool/link"));
  symlinkSync(outside, at("tool/folder"));
  const listening = await listen(secret, at("socket"));
  const made = { newFile: at("newFile"), newDatabase: at("newDatabase"), newReport: at("newReport") };
  return {
    targets: {
      secret,
      secretFile: at("secret"),
      folder: at("tool"),
      fileLink: at("tool/link"),
      folderLink: at("tool/folder"),
      climbing: `${at("tool")}/../secret`,
      ...made,
      library: nodeFiles().find(({ to }) => to.includes("libm."))?.from ?? process.execPath,
      variable,
      ...listening.ports,
      unixSocket: at("socket"),
      parentPid: process.pid,
    },
    wasReached() {
      const files = Object.values(made).filter((path) => existsSync(path));
      for (const path of files) rmSync(path);
      const isChanged = Reflect.has({}, "escaped");
      Reflect.deleteProperty(Object.prototype, "escaped");
      return listening.takeSeen() || files.length > 0 || isChanged;
    },
    end() {
      listening.end();
      rmSync(outside, { recursive: true, force: true });
    },
  };
}

type Ports = Pick<Targets, "httpPort" | "redirectPort" | "udpPort" | "witnessPid">;

/** Starts servers that notice each connection, one that redirects to another, and a process with the secret in its environment. */
async function listen(
  secret: string,
  socket: string,
): Promise<{ readonly ports: Ports; readonly takeSeen: () => boolean; readonly end: () => void }> {
  let isSeen = false;
  const seen = (): void => {
    isSeen = true;
  };
  const http = createServer((_request, response) => response.end(secret)).on("connection", seen);
  const redirect = createServer((_request, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${portOf(http)}/` }).end();
  });
  const pipe = createPipeServer(seen);
  const udp = createSocket("udp4", seen);
  const wait = ["-e", "setTimeout(() => undefined, 600_000)"];
  const witness = spawn(process.execPath, wait, { stdio: "ignore" });
  await Promise.all([
    once(http.listen(0, "127.0.0.1"), "listening"),
    once(redirect.listen(0, "127.0.0.1"), "listening"),
    once(pipe.listen(socket), "listening"),
    once(udp.bind(0, "127.0.0.1"), "listening"),
  ]);
  const { port: udpPort } = udp.address();
  const witnessPid = witness.pid ?? 0;
  return {
    ports: { httpPort: portOf(http), redirectPort: portOf(redirect), udpPort, witnessPid },
    takeSeen() {
      const was = isSeen;
      isSeen = false;
      return was;
    },
    end() {
      for (const server of [http, redirect]) server.close().closeAllConnections();
      pipe.close();
      udp.close();
      witness.kill();
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
