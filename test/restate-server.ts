import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** The program below the folder that `npm install --prefix FOLDER @restatedev/restate-server` filled, which `WRIT_RESTATE` names. */
function program(): string | undefined {
  const folder = process.env["WRIT_RESTATE"];
  if (folder === undefined) return undefined;
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const path = join(folder, "node_modules", name, "bin/restate-server");
  return existsSync(path) ? path : undefined;
}

/** The reason why Restate cannot run here, printed as well; undefined when it can. */
export function restateMissing(): string | undefined {
  if (program() !== undefined) return undefined;
  const reason = "WRIT_RESTATE names no folder with @restatedev/restate-server (216 MB)";
  console.log(`skipped: Restate: ${reason}`);
  return reason;
}

/** What it logs: its ports. */
const logged = "off,restate_core::network=info,restate_ingress_http=info";

/** A Restate of its own, in a temporary folder, at free ports of this machine. */
export interface RestateServer {
  readonly ingress: string;
  readonly admin: string;
  /** Stops it and removes its folder. */
  close(this: void): Promise<void>;
}

/** Starts a server. */
export async function startRestate(): Promise<RestateServer> {
  const folder = mkdtempSync(join(tmpdir(), "writ-restate-"));
  const words = ["--use-random-ports", "true", "--bind-ip", "127.0.0.1", "--no-logo", "--base-dir", folder];
  const server = spawn(program() ?? "", [...words, "--default-num-partitions", "2", "--log-format", "json"], {
    env: { ...process.env, RESTATE_DISABLE_TELEMETRY: "true", RESTATE_LISTEN_MODE: "tcp", RUST_LOG: logged },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [ingress, admin] = await portsOf(server);
  return {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    async close() {
      const gone = once(server, "exit");
      server.kill("SIGKILL");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Reads the ports from the log, and goes on reading it: a full pipe would hold the server up. */
function portsOf({ stdout }: ChildProcess): Promise<readonly [ingress: number, admin: number]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly [number, number]>();
  const ports = new Map<string, number>();
  const lines = createInterface({ input: stdout ?? process.stdin });
  lines.on("line", (line) => {
    const server = /"server\.port":(\d+),"server_name":"([a-z-]+)"/.exec(line);
    if (server !== null) ports.set(server[2] ?? "", Number(server[1]));
    const [ingress, admin] = [ports.get("http-ingress-server"), ports.get("admin-api-server")];
    if (ingress !== undefined && admin !== undefined) resolve([ingress, admin]);
  });
  lines.on("close", () => reject(new Error("Restate ended before it listened")));
  return promise;
}
