import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { createInterface } from "node:readline";
import { type RandomModelOptions, writeRandomModel } from "../../tools/random-model.ts";

/** The Python that has xllamacpp. */
const python = process.env["WRIT_TEST_PYTHON"] ?? "python3";

/** Why llama.cpp's server cannot run here, printed as well; undefined when it can. */
export function llamaServerMissing(): string | undefined {
  const { status } = spawnSync(python, ["-c", "import xllamacpp"], { stdio: "ignore", timeout: 30_000 });
  if (status === 0) return undefined;
  const reason = `${python} has no package xllamacpp (set WRIT_TEST_PYTHON to one that has)`;
  console.log(`skipped: llama.cpp's own server: ${reason}`);
  return reason;
}

/** llama.cpp's server, with a model. */
export interface LlamaServer {
  /** Without a path. */
  readonly url: string;
  /** Whether it works on a request. */
  busy(this: void): Promise<boolean>;
  close(this: void): Promise<void>;
}

/** The model that is served, and how. */
export interface LlamaServerOptions {
  /** A file; default: random weights. */
  readonly path?: string;
  readonly random?: RandomModelOptions;
  /** A chat template in place of the model's. */
  readonly template?: string;
  readonly jinja?: false;
}

/** Starts it at a free port of this machine. */
export async function startLlamaServer(options: LlamaServerOptions = {}): Promise<LlamaServer> {
  const folder = mkdtempSync(join(tmpdir(), "writ-llama-server-"));
  const path = options.path ?? join(folder, "random.gguf");
  if (options.path === undefined) writeRandomModel(path, options.random);
  const template = join(folder, "template.jinja");
  if (options.template !== undefined) writeFileSync(template, options.template);
  const script = join(import.meta.dirname, "../../tools/llama-server.py");
  const words = [
    script,
    path,
    ...(options.template === undefined ? [] : ["--template", template]),
    ...(options.jinja === false ? ["--no-jinja"] : []),
  ];
  const child = spawn(python, words, { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  async function close(): Promise<void> {
    child.stdin.end();
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    const url = await listening(child);
    return { url, busy: () => isBusy(url), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listening(child: ChildProcessByStdio<Writable, Readable, null>): Promise<string> {
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("{")) return (JSON.parse(line) as { readonly url: string }).url;
  }
  throw new Error("the server ended before it listened");
}

async function isBusy(url: string): Promise<boolean> {
  const response = await fetch(`${url}/slots`);
  const slots = (await response.json()) as readonly { readonly is_processing: boolean }[];
  return slots.some((slot) => slot.is_processing);
}
