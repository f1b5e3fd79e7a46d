/** The results of the runtimes, as results.json stores them, and the list of the runtimes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Verdict } from "./suite/contract.ts";
import { aboutOf } from "./suite/play.ts";

export type Told = Verdict & { readonly ms?: number };

export type Results = Record<
  string,
  { readonly versions: readonly string[]; readonly cases: Readonly<Record<string, Told>> }
>;

export const resultsFile = fileURLToPath(new URL("results.json", import.meta.url));

const folder = new URL("runtimes/", import.meta.url);

/** writ first, because all of its cases must pass; then the others in the order of the list below. */
export const runtimes: readonly string[] = readdirSync(folder).toSorted(
  (one, other) => rank(one) - rank(other),
);

function rank(name: string): number {
  return (
    ["writ", "ai", "openai-agents", "mastra", "langchain", "strands", "tanstack", "pydantic-ai"].indexOf(
      name,
    ) >>> 0
  );
}

export function isInstalled(runtime: string): boolean {
  if (runtime === "writ") return true; // found around this folder, with nothing installed
  return ["node_modules", ".venv"].some((name) => existsSync(new URL(`${runtime}/${name}`, folder)));
}

/** The packages of a runtime with the versions that are pinned and installed. */
export function versionsOf(runtime: string): readonly string[] {
  return aboutOf(runtime).packages.map((name) => {
    const python = new URL(`${runtime}/requirements.txt`, folder);
    if (existsSync(python)) {
      const line =
        readFileSync(python, "utf8")
          .split("\n")
          .find((one) => one.startsWith(name)) ?? name;
      return line.replace(/\[.*\]/, "").replace("==", " ");
    }
    const own = new URL(`${runtime}/node_modules/${name}/package.json`, folder);
    const manifest = readFileSync(
      existsSync(own) ? own : new URL("../package.json", import.meta.url),
      "utf8",
    );
    return `${name} ${(JSON.parse(manifest) as { readonly version: string }).version}`;
  });
}
