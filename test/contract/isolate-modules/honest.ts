/** What the author of an isolated tool writes. */
import type { IsolatedContext } from "../../../src/adapters/isolate/isolate.ts";
import type { Capability } from "../../../src/tool/capability.ts";
import { join } from "./join.ts";

type All = readonly Capability[];
type Context = IsolatedContext<All>;

let calls = 0;

export function execute({ words }: { readonly words: readonly string[] }): {
  readonly text: string;
  readonly calls: number;
} {
  calls += 1;
  return { text: join(words), calls };
}

export function about(_args: unknown, context: Context): unknown {
  const { callId, idempotencyKey } = context;
  return {
    callId,
    idempotencyKey,
    keys: Object.keys(context).toSorted(),
    files: Object.keys(context.fs ?? {}),
  };
}

export async function waits(_args: unknown, { signal, progress }: Context): Promise<string> {
  progress({ done: 0.5 });
  await new Promise((resolve) => {
    signal.addEventListener("abort", resolve, { once: true });
  });
  progress({ aborted: (signal.reason as Error).message });
  return "stopped";
}

export async function sleeps({ ms }: { readonly ms: number }): Promise<string> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
  return `slept ${ms}`;
}

export async function readsFile({ path }: { readonly path: string }, { fs }: Context): Promise<unknown> {
  const bytes = await fs?.readBytes(path);
  return {
    text: await fs?.readText(path),
    bytes: [...(bytes ?? [])],
    list: await fs?.list("/"),
    stat: await fs?.stat(path),
    missing: (await fs?.stat("/missing")) === undefined,
  };
}

export async function writesFile(_args: unknown, { fs }: Context): Promise<string> {
  await fs?.writeText("/a", "text");
  await fs?.appendText("/a", " more");
  await fs?.writeBytes("/b", new Uint8Array([0, 255, 10]));
  await fs?.writeBytes("/d", untyped("é"));
  await fs?.makeFolder("/c");
  await fs?.remove("/a");
  return "written";
}

export async function fetches(
  { url }: { readonly url: string },
  { fetch, secret }: Context,
): Promise<unknown> {
  if (fetch === undefined || secret === undefined) throw new Error("nothing to fetch with");
  const key = secret("KEY");
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: ["Bearer ", key], accept: "text/plain", "x-key": key },
    body: "sent",
  });
  const shown = [String(key), JSON.stringify(key), Object.values(key).join()];
  const { status, ok, url: at, redirected } = response;
  return {
    status,
    ok,
    at,
    redirected,
    type: response.headers.get("content-type"),
    text: await response.text(),
    shown,
  };
}

/** Sends bytes, and gives those that came back. */
export async function sendsBytes(
  { bytes }: { readonly bytes: readonly number[] },
  { fetch }: Context,
): Promise<unknown> {
  const options = { method: "POST", body: Uint8Array.from(bytes) };
  const response = await fetch?.("https://a.example", options);
  return [...new Uint8Array((await response?.arrayBuffer()) ?? [])];
}

export async function fetchesNothing(
  { url }: { readonly url: string },
  { fetch }: Context,
): Promise<unknown> {
  const response = await fetch?.(url);
  return { status: response?.status, text: await response?.text() };
}

export async function forgetsFetch({ url }: { readonly url: string }, { fetch }: Context): Promise<string> {
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("no patience")), 20);
  try {
    await fetch?.(url, { signal: stop.signal });
    return "fetched";
  } catch (error) {
    return (error as Error).message;
  }
}

export async function runsProgram(_args: unknown, { exec, secret, env }: Context): Promise<unknown> {
  const key = secret?.("KEY");
  const result = await exec?.("git", ["log", "-1"], {
    cwd: "/data",
    env: key ? { TOKEN: key } : {},
    input: "in",
  });
  return { result, home: env?.("HOME"), unset: env?.("UNSET") === undefined };
}

export async function reachesLimits(
  { path }: { readonly path: string },
  { fs, exec }: Context,
): Promise<unknown> {
  const bytes = await fs?.readBytes(path, { from: 2, bytes: 3 });
  const result = await exec?.("yes", [], { maxBytes: 100, onLimit: "cut" });
  return { part: Buffer.from(bytes ?? []).toString(), stoppedBy: result?.stoppedBy };
}

export async function asksModel({ prompt }: { readonly prompt: string }, { llm }: Context): Promise<unknown> {
  return llm?.(prompt);
}

/** Lets the failure of a handle through, or tells its code. */
export async function denied(
  { caught }: { readonly caught?: boolean },
  { fs, env }: Context,
): Promise<unknown> {
  if (caught !== true) return fs?.readText("/secret");
  const codes: unknown[] = [];
  await fs?.readText("/secret").catch((error: { readonly code?: string }) => codes.push(error.code));
  try {
    env?.("HIDDEN");
  } catch (error) {
    codes.push((error as { readonly code?: string }).code);
  }
  return codes;
}

let kept: Context | undefined;

/** Uses in the second call what it was given in the first. */
export async function keepsContext(_args: unknown, context: Context): Promise<unknown> {
  if (kept === undefined) {
    kept = context;
    return "kept";
  }
  return kept.fs?.readText("/late").catch((error: { readonly code?: string }) => error.code);
}

/** The same with a handle that gives its value at once. */
export function keepsVariables(_args: unknown, context: Context): string {
  if (kept === undefined) {
    kept = context;
    return "kept";
  }
  try {
    return kept.env?.("HOME") ?? "not set";
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

export const isNoFunction = 7;

/** Code without types may hand over a text where bytes are asked for. */
function untyped(text: string): never {
  return text as never;
}

/** Gives handles what they do not take, as code without types may. Each says so. */
export async function sendsOdd(_args: unknown, { fetch, fs, exec }: Context): Promise<readonly string[]> {
  const post = (odd: object): unknown => fetch?.("https://a.example", { method: "POST", ...odd });
  const attempts: readonly (() => unknown)[] = [
    () => post({ headers: new Headers({ authorization: "Bearer x" }) }),
    () => post({ headers: [["authorization", "Bearer x"]] }),
    () => post({ body: new URLSearchParams({ a: "1" }) }),
    () => post({ body: new ArrayBuffer(2) }),
    () => exec?.("git", [], { env: new Map([["TOKEN", "x"]]) as never }),
    () => exec?.("git", [], { input: new ArrayBuffer(2) as never }),
    () => fs?.writeBytes("/data/a", new ArrayBuffer(2) as never),
  ];
  const said: string[] = [];
  for (const attempt of attempts)
    try {
      await attempt();
      said.push("sent");
    } catch (error) {
      said.push((error as Error).message);
    }
  return said;
}

/** Gives what is no JSON. */
export function givesNoJson({
  what,
}: {
  readonly what: "bytes" | "buffer" | "function" | "holes" | "hidden";
}): unknown {
  if (what === "function") return () => 1;
  const list = [1];
  list.length = 3;
  if (what === "holes") return { list };
  if (what === "hidden") return { prices: new Map() };
  return { picture: what === "bytes" ? new Uint8Array([1, 2]) : Buffer.from("ab") };
}
