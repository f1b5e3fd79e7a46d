import { spawnSync } from "node:child_process";
import { dirname } from "node:path";

/**
 * The words before a program that put it into a box of bubblewrap: it sees the system's programs and the folder, can change neither, and has no
 * network. None where bubblewrap is not on this machine or may not make boxes.
 */
export function boxFor(folder: string): readonly string[] {
  const system = ["/usr", "/lib", "/lib64", "/bin", dirname(process.execPath)];
  const seen = system.flatMap((path) => ["--ro-bind-try", path, path]);
  const empty = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]; // first: Node or the folder may stand below one
  const own = ["--ro-bind", folder, folder, "--chdir", folder];
  const box = ["--unshare-all", "--die-with-parent", "--new-session", ...empty, ...seen, ...own];
  const { status } = spawnSync("bwrap", [...box, process.execPath, "--version"], { stdio: "ignore" });
  return status === 0 ? ["bwrap", ...box] : [];
}
