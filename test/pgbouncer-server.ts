import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { accountOf, freePort, password, postgresMissing } from "./postgres-server.ts";

/** Where PgBouncer is looked for: the path of a user who is not root often lacks Debian's place of it. */
const places = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin"];

/** The reason why PgBouncer cannot run here, printed as well; undefined when it can. */
export function pgBouncerMissing(): string | undefined {
  const missing = postgresMissing();
  if (missing !== undefined || program() !== undefined) return missing;
  const reason = "PgBouncer is not installed (pgbouncer is neither on the path nor in /usr/sbin)";
  console.log(`skipped: PgBouncer: ${reason}`);
  return reason;
}

/** A PgBouncer before a PostgreSQL of `startPostgres`. */
export interface PgBouncer {
  /** The address of the same database, through the pooler. */
  readonly url: string;
  /** Ends it and removes its folder. */
  close(this: void): Promise<void>;
}

/** Starts a PgBouncer before a server, with settings like `pool_mode` beside those of the tests. */
export async function startPgBouncer(
  to: string,
  settings: Readonly<Record<string, string>>,
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "writ-pgbouncer-"));
  const users = join(folder, "users.txt");
  const config = join(folder, "pgbouncer.ini");
  const port = await freePort();
  const server = new URL(to);
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "plain",
    auth_file: users,
    default_pool_size: "50",
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(users, `"writ" "${password}"\n`);
  writeFileSync(
    config,
    `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  const account = accountOf();
  if (account !== undefined)
    for (const path of [folder, users, config]) chownSync(path, account.uid, account.gid);
  const running = spawn(program() ?? "", ["-q", config], { ...account, cwd: folder, stdio: "ignore" });
  const ended = once(running, "exit");
  await answers(port);
  server.port = String(port);
  return {
    url: server.href,
    async close() {
      running.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function program(): string | undefined {
  return places.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path));
}

/** Waits until somebody listens at a port. */
async function answers(port: number): Promise<void> {
  for (let triesLeft = 200; triesLeft > 0; triesLeft--) {
    const socket = connect(port, "127.0.0.1");
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (isThere) return;
    await sleep(25);
  }
  throw new Error("PgBouncer does not answer");
}
