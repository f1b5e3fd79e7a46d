import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Debian's place of the programs that are not on the path: a folder for each version. */
const debian = "/usr/lib/postgresql";

/** The only password of a cluster. */
export const password = "kept secret";

/** The reason why PostgreSQL cannot run here, printed as well; undefined when it can. */
export function postgresMissing(): string | undefined {
  if (programs() !== undefined) return undefined;
  const reason = "PostgreSQL is not installed (initdb is neither on the path nor below /usr/lib/postgresql)";
  console.log(`skipped: PostgreSQL: ${reason}`);
  return reason;
}

/** A PostgreSQL of its own, in a temporary folder, at a free port of this machine. */
export interface PostgresServer {
  /** For its owner, who may do everything. */
  readonly url: string;
  /** Ends at once without finishing anything, as a machine that loses its power does, or after all that is open. */
  stop(this: void, mode: "immediate" | "fast"): void;
  start(this: void): void;
  /** Stops it and removes its folder. */
  close(this: void): void;
}

/** Makes a cluster and starts it. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "writ-postgres-"));
  const data = join(folder, "data");
  const secret = join(folder, "password");
  writeFileSync(secret, password);
  const account = accountOf();
  if (account !== undefined) for (const path of [folder, secret]) chownSync(path, account.uid, account.gid);
  chmodSync(folder, 0o755);
  const port = await freePort();
  const run = (program: string, words: readonly string[]): void => {
    // Its output goes nowhere: the server would keep a pipe open for as long as it lives.
    execFileSync(join(programs() ?? "", program), words, { ...account, cwd: folder, stdio: "ignore" });
  };
  const settings = `-h 127.0.0.1 -p ${port} -k ${folder} -c max_connections=200`;
  const start = (): void =>
    run("pg_ctl", ["start", "-w", "-D", data, "-l", join(folder, "log"), "-o", settings]);
  const stop = (mode: string): void => run("pg_ctl", ["stop", "-w", "-D", data, "-m", mode]);
  run("initdb", ["-D", data, "-U", "writ", "-A", "scram-sha-256", "-E", "UTF8", "--pwfile", secret, "-N"]);
  start();
  return {
    url: `postgresql://writ:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    stop,
    start,
    close() {
      if (existsSync(join(data, "postmaster.pid"))) stop("immediate");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The folder of initdb and its like: the path, else Debian's newest. */
function programs(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(":");
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const all = [...folders, ...versions.map((version) => join(debian, version, "bin"))];
  return all.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl")));
}

/** PostgreSQL refuses to run as root: then it has the account that its package made. */
export function accountOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (what: string): number => Number(spawnSync("id", [what, "postgres"]).stdout.toString());
  return { uid: idOf("-u"), gid: idOf("-g") };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  await new Promise((resolve) => void server.close(resolve));
  return port;
}
