import { statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WritError } from "../../error/writ-error.ts";

/** The file systems of other machines, by their numbers on Linux. */
const remote: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
]);

/** Refuses a file in a folder of another machine, which processes cannot share safely. @throws WritError `database-failed` */
export function refuseOtherMachines(path: string): void {
  if (path === ":memory:" || process.platform !== "linux") return;
  const kind = remote.get(typeOf(dirname(resolve(path))));
  if (kind === undefined) return;
  const reason = `the folder is on another machine (${kind}), where processes cannot share a file safely: use a local folder`;
  throw new WritError("database-failed", { path, reason });
}

function typeOf(folder: string): number {
  try {
    return statfsSync(folder).type;
  } catch {
    return 0; // opening the file will report the error
  }
}
