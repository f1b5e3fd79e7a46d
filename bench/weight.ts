/** The weight of a peer before it runs anything: its import, and its installed packages. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Figure } from "./bench-case.ts";
import { median } from "./measure.ts";
import { runNode } from "./run-worker.ts";

const projectFolder = fileURLToPath(new URL("../", import.meta.url));

/** The modules that a program that uses the peer imports. */
const entries: Readonly<Record<string, string>> = {
  floor: "ajv",
  writ: "writ",
  ai: "ai",
  "openai-agents": "@openai/agents",
  langchain: "langchain",
  mastra: "@mastra/core/agent",
};

export function peerFolder(peer: string): string {
  return fileURLToPath(new URL(`peers/${peer}/`, import.meta.url));
}

/** The time of a process that imports the peer, over that of one that imports nothing; medians of `samples` of each, in turns. */
export async function importFigures(peer: string, samples = 5): Promise<readonly Figure[]> {
  const cwd = peerFolder(peer);
  const bare: number[] = [];
  const importing: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    for (const [code, times] of [
      ["", bare],
      [`await import(${JSON.stringify(entries[peer])});`, importing],
    ] as const) {
      const ended = await runNode(["--input-type=module", "--eval", `${code} process.exit(0)`], { cwd });
      if (ended.code !== 0) throw new Error(`the import failed: ${ended.stderr.trim().slice(-300)}`);
      times.push(ended.ms);
    }
  }
  return [{ label: "import over bare Node, ms", value: Math.max(0, median(importing) - median(bare)) }];
}

/** Packages and megabytes in the peer's node_modules; writ is packed and installed like a user would. */
export function installFigures(peer: string): readonly Figure[] {
  if (peer !== "writ") return weigh(join(peerFolder(peer), "node_modules"));
  const folder = mkdtempSync(join(tmpdir(), "writ-install-"));
  try {
    const packed = npm(["pack", "--ignore-scripts", "--pack-destination", folder, "--json"], projectFolder);
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name: "user", private: true })}\n`);
    npm(
      ["install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", join(folder, filename)],
      folder,
    );
    return weigh(join(folder, "node_modules"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync("npm", [...args, "--loglevel", "error"], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function weigh(modules: string): readonly Figure[] {
  if (!existsSync(modules)) throw new Error("not installed: npm run bench:install");
  let packages = 0;
  let bytes = 0;
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) bytes += statSync(path).size;
    else if (entry.isDirectory() && isPackage(path)) packages += 1;
  }
  return [
    { label: "packages installed", value: packages },
    { label: "MB installed", value: bytes / 1024 ** 2 },
  ];
}

/** A folder of node_modules, or of a scope in it, that has a package.json. */
function isPackage(path: string): boolean {
  const parent = dirname(path);
  const holder = basename(parent).startsWith("@") ? dirname(parent) : parent;
  return basename(holder) === "node_modules" && existsSync(join(path, "package.json"));
}
