import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** The folders of the packages that these modules come from, each once. */
export function packageFolders(modules: readonly string[]): string[] {
  const foreign = modules.filter((id) => id.includes(`${sep}node_modules${sep}`));
  return [...new Set(foreign.map(packageFolder))].toSorted();
}

/** The folder below the innermost `node_modules`: a package may have others in it, with a package.json of their own. */
function packageFolder(path: string): string {
  const place = path.lastIndexOf(`${sep}node_modules${sep}`) + `${sep}node_modules${sep}`.length;
  const [scope = "", name = ""] = path.slice(place).split(sep);
  return path.slice(0, place) + (scope.startsWith("@") ? join(scope, name) : scope);
}

/**
 * The page of the packages whose code is part of ours: name, version, licence, and the text of the licence.
 *
 * @throws Error when a package has no text of its licence
 */
export function thirdPartyText(folders: readonly string[]): string {
  const parts = folders.map((folder) => {
    const { name, version, license } = readJson(join(folder, "package.json"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${folder}: there is no text of the licence`);
    const text = readFileSync(join(folder, file), "utf8").trim();
    return `## ${String(name)} ${String(version)}\n\nLicence: ${String(license)}\n\n\`\`\`text\n${text}\n\`\`\`\n`;
  });
  return ["# Packages that are part of writ's JavaScript\n", ...parts].join("\n");
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, unknown>>;
}
