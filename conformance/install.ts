/**
 * Installs the runtimes, each in its own folder, at the exact versions that its package.json or requirements.txt names: node install.ts [ai langchain …].
 * Nothing of them is committed; scripts of packages do not run.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { runtimes } from "./results.ts";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !runtimes.includes(name));
if (unknown.length > 0)
  throw new Error(`No runtime is called ${unknown.join(", ")}. There are: ${runtimes.join(", ")}.`);

for (const name of runtimes.filter((one) => wanted.length === 0 || wanted.includes(one))) {
  const cwd = new URL(`runtimes/${name}/`, import.meta.url);
  const run = (program: string, ...args: readonly string[]): unknown =>
    execFileSync(program, args, { cwd, stdio: "inherit" });
  const quietly = ["--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
  try {
    if (existsSync(new URL("package.json", cwd))) run("npm", "install", ...quietly);
    if (existsSync(new URL("requirements.txt", cwd))) {
      run("python3", "-m", "venv", ".venv");
      run(".venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt");
    }
  } catch {
    console.error(`${name} could not be installed; the suite will leave it out.`);
    process.exitCode = 1;
  }
}
