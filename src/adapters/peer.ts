import { WritError } from "../error/writ-error.ts";
import { codeOf } from "../util/thrown.ts";

/** An optional package, as the error of its absence names it. */
export interface Peer {
  readonly package: string;
  readonly purpose: string;
  /** The command that installs it. Default: `npm i` and its name. */
  readonly command?: string;
}

/** Imports an optional package. @throws WritError `peer-missing` when it is not installed */
export async function importPeer<Library>(load: () => Promise<Library>, peer: Peer): Promise<Library> {
  try {
    return await load();
  } catch (cause) {
    if (codeOf(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new WritError("peer-missing", { command: `npm i ${peer.package}`, ...peer }, { cause });
  }
}
