/**
 * Makes the JavaScript of the package: one file for each entry of package.json, and chunks for what several share or what is loaded on demand.
 * Importing two hundred small files takes Node longer than all that writ does at its start. The types stay one file a module.
 */
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { filesUnder, root } from "./source-files.ts";

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
const files = [...Object.values(manifest.exports), ...Object.values(manifest.bin)].map((entry) =>
  typeof entry === "string" ? entry : entry.default,
);
const names = files.flatMap((file) => /^\.\/dist\/(.+)\.js$/.exec(file)?.[1] ?? []);
const input = Object.fromEntries(names.map((name) => [name, join(root, `src/${name}.ts`)]));

for (const { path } of [...filesUnder("dist", ".js"), ...filesUnder("dist", ".js.map")])
  rmSync(join(root, path));
/** The programs of isolated tools: each whole in its folder, which is all of the package that their boxes see. */
const cells = ["main", "canaries", "quickjs"].map((name) => `adapters/isolate/child/${name}`);

async function build(input: Readonly<Record<string, string>>): Promise<void> {
  const bundle = await rolldown({
    input: { ...input },
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith(root),
  });
  await bundle.write({
    dir: join(root, "dist"),
    // Chunks stand as deep as the modules of most layers do: paths relative to them stay right.
    chunkFileNames: "chunks/[name]-[hash].js",
    entryFileNames: "[name].js",
    sourcemap: true,
  });
  await bundle.close();
}

await build(input);
for (const name of cells) await build({ [name]: join(root, `src/${name}.ts`) });
for (const program of Object.values(manifest.bin)) chmodSync(join(root, program), 0o755);
