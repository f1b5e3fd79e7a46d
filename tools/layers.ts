import { posix } from "node:path";
import { importsOf, type SourceFile } from "./source-files.ts";

/**
 * The folders of src, from the lowest to the highest: a folder imports from itself and from lower ones. A folder inside another is a layer of its own
 * where it is listed, and part of the folder around it where it is not.
 */
export const layers: readonly string[] = [
  "util",
  "error",
  "schema",
  "message",
  "tool",
  "policy",
  "event",
  "policy/study",
  "journal",
  "model",
  "driver",
  "hook",
  "run",
  "call",
  "turn",
  "session",
  "agent",
  "durable",
  "adapters",
  "eval",
  "client",
  "server",
  "inspect",
  "cli",
];

/** The layers that know no machine: no Node import, and nothing but the JSON Schema validator from outside. */
const core = new Set(layers.slice(0, layers.indexOf("adapters")));
const corePackages = new Set(["re2js", "@standard-schema/spec"]);

/** What is wrong with the imports of these files: upward imports, unknown folders, and outside packages in the core. */
export function layerComplaints(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const layer = layerOf(file.path);
    if (layer === undefined) return [];
    if (!layers.includes(layer)) return [`${file.path}: "${layer}" is no layer`];
    return importsOf(file).flatMap((specifier) => importComplaint(file.path, layer, specifier));
  });
}

function importComplaint(path: string, layer: string, specifier: string): string[] {
  if (!specifier.startsWith(".")) {
    return core.has(layer) && !corePackages.has(specifier)
      ? [`${path}: the core imports "${specifier}"`]
      : [];
  }
  const target = layerOf(posix.join(posix.dirname(path), specifier));
  if (target === undefined) return [`${path}: imports the entry "${specifier}"`];
  return layers.indexOf(target) > layers.indexOf(layer)
    ? [`${path}: "${layer}" imports from "${target}" above it`]
    : [];
}

/** The layer that a file is in: the innermost of its folders that is one, else its first folder; undefined for the entries, which stand in src itself. */
function layerOf(path: string): string | undefined {
  const folders = path.split("/").slice(1, -1);
  const around = folders.map((_, depth) => folders.slice(0, depth + 1).join("/"));
  return around.findLast((folder) => layers.includes(folder)) ?? around[0];
}

/** The circles among these files, each as the list of its files; type imports count. */
export function cycles(files: readonly SourceFile[]): string[] {
  const graph = new Map(
    files.map((file) => [file.path, importsOf(file).flatMap((specifier) => localPath(file.path, specifier))]),
  );
  const state = new Map<string, "open" | "done">();
  const found: string[] = [];
  function visit(path: string, trail: readonly string[]): void {
    if (state.get(path) === "done") return;
    if (state.get(path) === "open") {
      found.push([...trail.slice(trail.indexOf(path)), path].join(" > "));
      return;
    }
    state.set(path, "open");
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, "done");
  }
  for (const path of graph.keys()) visit(path, []);
  return found;
}

function localPath(path: string, specifier: string): string[] {
  return specifier.startsWith(".") ? [posix.join(posix.dirname(path), specifier)] : [];
}
