/**
 * Installs the peers of the benchmark, each in its own folder, at the exact versions that its package.json names. They are no dependency of
 * the project, and nothing of them is committed. Run: npm run bench:install [-- ai langchain …]
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

const peersFolder = new URL("peers/", import.meta.url);
const wanted = process.argv.slice(2);
const peers = readdirSync(peersFolder).filter((name) =>
  existsSync(new URL(`${name}/package.json`, peersFolder)),
);
const unknown = wanted.filter((name) => !peers.includes(name));
if (unknown.length > 0) {
  console.error(`No peer is called ${unknown.join(", ")}. There are: ${peers.join(", ")}.`);
  process.exitCode = 2;
} else {
  for (const name of peers.filter((peer) => wanted.length === 0 || wanted.includes(peer))) {
    console.log(`${name}:`);
    const npmArguments = [
      "install",
      "--no-package-lock",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel",
      "error",
    ];
    try {
      execFileSync("npm", npmArguments, { cwd: new URL(`${name}/`, peersFolder), stdio: "inherit" });
    } catch {
      console.error(`${name} could not be installed; the benchmark will leave it out.`);
      process.exitCode = 1;
    }
  }
}
