/**
 * Begins a project of each template of `writ init` in a fresh folder, with the packed writ and what the registry has, as users do, and prints how long
 * that took: `npm run init:templates`, or `npm run init:templates -- support-desk` for those that are named. Exits with 1 when one does not work.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { templateNames } from "../src/cli/init.ts";
import { root } from "./source-files.ts";

const run = promisify(execFile);
const parent = mkdtempSync(join(tmpdir(), "writ-templates-"));
const env = {
  ...process.env,
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  NO_COLOR: "1",
};

/** Seconds from the empty folder to the last command. */
async function tryTemplate(template: string, tarball: string): Promise<number> {
  const startedAt = performance.now();
  const shell = { cwd: parent, env, shell: true, timeout: 300_000 } as const;
  await run(
    `node tool/node_modules/writ/dist/cli/main.js init ${template}-agent --template ${template}`,
    [],
    shell,
  );
  const within = { ...shell, cwd: join(parent, `${template}-agent`) };
  const commands = [`npm i --no-audit --no-fund ${tarball}`, "npm test", "npm run types"];
  for (const command of commands) await run(command, [], within);
  if (template !== "serve") await run("npm start", [], within);
  return (performance.now() - startedAt) / 1000;
}

try {
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", parent], {
    cwd: root,
    stdio: "ignore",
  });
  const tarball = join(parent, readdirSync(parent).find((name) => name.endsWith(".tgz")) ?? "");
  execFileSync("npm", ["i", "--no-audit", "--no-fund", "--prefix", join(parent, "tool"), tarball], {
    stdio: "ignore",
    env,
  });
  console.log("| template | seconds |\n|---|---|");
  const named = process.argv.slice(2);
  for (const template of named.length > 0 ? named : templateNames)
    console.log(`| ${template} | ${(await tryTemplate(template, tarball)).toFixed(1)} |`);
} finally {
  rmSync(parent, { recursive: true, force: true });
}
