import { spawnSync } from "node:child_process";
import { dirname } from "node:path";

/**
 * Returns the command that puts a program into a box of bubblewrap. The program sees the system's programs and the folder, cannot change either, and does
 * not have a network. The command is empty if bubblewrap is not installed or may not make boxes.
 */
export function boxFor(folder: string): readonly string[] {
  const system = ["/usr", "/lib", "/lib64", "/bin", dirname(process.execPath)];
  const seen = system.flatMap((path) => ["--ro-bind-try", path, path]);
  const empty = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]; // these come first: Node or the folder may lie inside one
  const own = ["--ro-bind", folder, folder, "--chdir", folder];
  const box = ["--unshare-all", "--die-with-parent", "--new-session", ...empty, ...seen, ...own];
  const { status } = spawnSync("bwrap", [...box, process.execPath, "--version"], { stdio: "ignore" });
  return status === 0 ? ["bwrap", ...box] : [];
}
