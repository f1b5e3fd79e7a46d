import type { Handles } from "../../src/tool/handles.ts";
import type { Found, Targets } from "./attempts.ts";

type Attempt = (targets: Targets, handles: Handles) => Promise<string | undefined | void>;

/** The same attempts with only the handles of a context. A row that is not here has no handle that could do it. */
const attempts: Readonly<Record<string, Attempt>> = {
  "read a file outside": ({ secretFile }, { fs }) => fs.readText(secretFile),
  "read with `../`": ({ climbing }, { fs }) => fs.readText(climbing),
  "read through a link to a file": ({ fileLink }, { fs }) => fs.readText(fileLink),
  "read through a link to a folder": ({ folderLink }, { fs }) => fs.readText(`${folderLink}/secret`),
  "read /proc/self/environ": (_, { fs }) => fs.readText("/proc/self/environ"),
  "read /proc/1/environ, and another's": async ({ witnessPid }, { fs }) => {
    const all = await Promise.allSettled([1, witnessPid].map((pid) => fs.readText(`/proc/${pid}/environ`)));
    return all.map((each) => (each.status === "fulfilled" ? each.value : "")).join("");
  },
  "write a file outside": ({ newFile }, { fs }) => fs.writeText(newFile, "escaped"),
  "process.env": async ({ variable }, { env }) => env(variable),
  "fetch a host that was not granted": async ({ httpPort }, { fetch }) => {
    const response = await fetch(`http://127.0.0.1:${httpPort}/`);
    return response.text();
  },
  "a redirect from a host that was": async ({ redirectPort }, { fetch }) => {
    const response = await fetch(`http://127.0.0.1:${redirectPort}/`);
    return response.text();
  },
  "child_process: a program": async ({ secret }, { exec }) => {
    const { stdout } = await exec("/bin/sh", ["-c", `echo ${secret}`]);
    return stdout;
  },
  "child_process: Node itself": async ({ secret }, { exec }) => {
    const { stdout } = await exec(process.execPath, ["-p", JSON.stringify(secret)]);
    return stdout;
  },
};

/** Makes one attempt through the handles; undefined where no handle could do it. */
export async function tryThrough(
  row: string,
  targets: Targets,
  handles: Handles,
): Promise<Found | undefined> {
  const attempt = attempts[row];
  if (attempt === undefined) return undefined;
  try {
    const text = await attempt(targets, handles);
    return text?.includes(targets.secret) === true ? "reached" : "held";
  } catch {
    return "held";
  }
}
