/**
 * Packs writ, installs it into fresh projects in a temporary folder, as its users do, and prints what came of it as a table. Needs the
 * registry: `npm run fresh`, or `npm run fresh -- bundler` for the projects whose names contain a text.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { nextFiles } from "./fresh-next.ts";
import { root } from "./source-files.ts";

/** A project: the packages beside writ and zod, its files, and what is run in it, one program after another. */
interface FreshProject {
  readonly name: string;
  readonly packages?: readonly string[];
  /** Installs the packages in the place of npm. It comes from the registry, into a folder of its own. */
  readonly manager?: Manager;
  readonly files: Readonly<Record<string, string>>;
  readonly commands: readonly string[];
  /** The text that the last command must print. */
  readonly prints: string;
  /** True if the last command must fail with that text. */
  readonly fails?: boolean;
}

/** A package manager: its package, and its command, before the packages. */
interface Manager {
  readonly package: string;
  readonly add: string;
}

const run = promisify(execFile);
const pnpm: Manager = { package: "pnpm", add: "pnpm add" };
const yarn: Manager = { package: "@yarnpkg/cli-dist", add: "yarn add" };

const program = `import { agent } from "writ";
const greeter = agent({ name: "greeter", model: () => "Hello." });
greeter("Hi").then((answer) => console.log(answer));
`;
const everything = readEntries()
  .map((entry, index) => `import * as part${index} from ${JSON.stringify(entry)};\nvoid part${index};\n`)
  .join("");
const typed = `${everything}${program}`;
const settings = (options: object): string =>
  JSON.stringify({
    compilerOptions: { strict: true, noEmit: true, target: "es2024", lib: ["es2024", "dom"], ...options },
    files: ["main.ts"],
  });
const nodenext = { module: "nodenext", types: ["node"] };
const bundler = { module: "esnext", moduleResolution: "bundler", types: ["node"] };
const types = ["@types/node@24.19.2"];

/** Optional packages, installed where writ itself may not see them; and the line in which `writ doctor` says that it sees one. */
const optional = ["ollama", "@ai-sdk/openai"];
const doctor = "writ doctor --model openai/gpt-5-mini";
const found = "openai/gpt-5-mini goes through @ai-sdk/openai";

const projects: readonly FreshProject[] = [
  ...["5.5", "5.9", "7.0"].map((version) => ({
    name: `TypeScript ${version}, nodenext, skipLibCheck false`,
    packages: [`typescript@${version}`, ...types],
    files: { "main.ts": typed, "tsconfig.json": settings({ ...nodenext, ...older(version) }) },
    commands: ["tsc", "node --version"],
    prints: "v",
  })),
  {
    name: "TypeScript 5.9, bundler, exactOptionalPropertyTypes",
    packages: ["typescript@5.9", ...types],
    files: {
      "main.ts": `${typed}agent({ name: "b", model: () => "", instructions: undefined });\n`,
      "tsconfig.json": settings({
        ...bundler,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
      }),
    },
    commands: ["tsc", "node --version"],
    prints: "v",
  },
  ...["22.18", "24", "26"].map((version) => ({
    name: `Node ${version}`,
    packages: [`node@${version}`],
    files: { "main.js": program },
    commands: ["node main.js"],
    prints: "Hello.",
  })),
  {
    name: "Node 20: says that it is too old",
    packages: ["node@20"],
    files: { "main.js": program },
    commands: ["node main.js"],
    prints: "node-outdated",
    fails: true,
  },
  {
    name: "Node 20: so does `writ doctor`",
    packages: ["node@20"],
    files: {},
    commands: ["node node_modules/writ/dist/cli/main.js doctor"],
    prints: "npm i -D node@24",
    fails: true,
  },
  {
    name: "CommonJS `require`",
    packages: ["node@24"],
    files: {
      "main.cjs": program.replace('import { agent } from "writ"', 'const { agent } = require("writ")'),
    },
    commands: ["node main.cjs"],
    prints: "Hello.",
  },
  ...["esm", "cjs"].map((format) => ({
    name: `esbuild, ${format}, nothing external`,
    packages: ["node@24", "esbuild"],
    files: { "main.js": program },
    commands: [
      `esbuild main.js --bundle --platform=node --format=${format} --outfile=out/main.${format === "esm" ? "mjs" : "cjs"}`,
      `node out/main.${format === "esm" ? "mjs" : "cjs"}`,
    ],
    prints: "Hello.",
  })),
  {
    name: "Vite SSR, nothing external",
    packages: ["node@24", "vite"],
    files: {
      "main.js": program,
      "vite.config.js": `export default { ssr: { noExternal: true }, build: { ssr: "main.js", outDir: "out" } };\n`,
    },
    commands: ["vite build", "node out/main.js"],
    prints: "Hello.",
  },
  ...[
    ["serverExternalPackages", '{ serverExternalPackages: ["writ"] }'],
    ["writ in its bundle", "{}"],
  ].map(([name = "", config = ""]) => ({
    name: `Next.js 16, route handler, ${name}`,
    packages: ["node@24", "next@16", "react", "react-dom"],
    files: nextFiles(config),
    commands: ["next build", "node ask.mjs"],
    prints: "200 1 call: It said Hello.",
  })),
  {
    name: "pnpm, nothing hoisted, optional packages, TypeScript 5.9",
    manager: pnpm,
    packages: ["typescript@5.9", ...types, ...optional],
    files: {
      "main.ts": typed,
      "tsconfig.json": settings(nodenext),
      "main.js": program,
      "pnpm-workspace.yaml": "hoist: false\nautoInstallPeers: false\n",
    },
    commands: ["pnpm exec tsc", "node main.js", `pnpm exec ${doctor}`],
    prints: found,
  },
  {
    name: "Yarn 4, Plug'n'Play, optional packages",
    manager: yarn,
    packages: optional,
    files: { "main.js": program, "yarn.lock": "" },
    commands: ["yarn node main.js", `yarn ${doctor}`],
    prints: found,
  },
  {
    name: "Yarn 4, node_modules",
    manager: yarn,
    files: { "main.js": program, "yarn.lock": "", ".yarnrc.yml": "nodeLinker: node-modules\n" },
    commands: ["yarn node main.js"],
    prints: "Hello.",
  },
  {
    name: "Bun",
    packages: ["bun"],
    files: { "main.ts": program },
    commands: ["bun main.ts"],
    prints: "Hello.",
  },
  {
    name: "Deno",
    packages: ["deno"],
    files: { "main.ts": program },
    commands: ["deno run --allow-all --node-modules-dir=manual main.ts"],
    prints: "Hello.",
  },
];

/** The entries of the package, as users import them. */
function readEntries(): readonly string[] {
  const names = execFileSync("node", ["-p", "Object.keys(require('./package.json').exports).join()"], {
    cwd: root,
    encoding: "utf8",
  });
  return names
    .trim()
    .split(",")
    .filter((name) => name !== "./package.json")
    .map((name) => name.replace(/^\./, "writ"));
}

/** What an older TypeScript does not know yet. */
function older(version: string): object {
  return version === "5.5" ? { target: "es2023", lib: ["esnext", "dom"] } : {};
}

/** The environment of a project: its programs first, then its package manager's, which asks the registry that npm does. */
function environment(folder: string): NodeJS.ProcessEnv {
  const folders = [folder, managerFolder(folder)].map((each) => join(each, "node_modules/.bin"));
  const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  return {
    ...process.env,
    PATH: [...folders, dirname(process.execPath), process.env["PATH"]].join(delimiter),
    NO_COLOR: "1",
    OPENAI_API_KEY: "none",
    NEXT_TELEMETRY_DISABLED: "1",
    YARN_ENABLE_TELEMETRY: "0",
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_UNSAFE_HTTP_WHITELIST: new URL(registry).hostname,
  };
}

function managerFolder(folder: string): string {
  return `${folder}-manager`;
}

function installing({ manager, packages = [] }: FreshProject, folder: string, tarball: string): string {
  if (manager === undefined) return `npm i --no-audit --no-fund ${[tarball, "zod", ...packages].join(" ")}`;
  const fetched = `npm i --no-audit --no-fund --prefix ${managerFolder(folder)} ${manager.package}`;
  return `${fetched} && ${manager.add} ${[`writ@file:${tarball}`, "zod", ...packages].join(" ")}`;
}

/** The result of a project: the first line of the error, or undefined when nothing went wrong. */
async function tryProject(
  project: FreshProject,
  folder: string,
  tarball: string,
): Promise<string | undefined> {
  mkdirSync(folder);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "fresh", private: true, type: "module" }),
  );
  for (const [path, text] of Object.entries(project.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const env = environment(folder);
  const within = { cwd: folder, env, shell: true, timeout: 180_000, maxBuffer: 2 ** 26 } as const;
  try {
    const installed = await run(installing(project, folder, tarball), [], within);
    if (/writ@.*(?:prepare|install):/.test(installed.stderr)) return "npm warns of a script of writ's";
    const [last = "", ...before] = project.commands.toReversed();
    for (const command of before.toReversed()) await run(command, [], within);
    const ended = await run(last, [], within).catch((error: unknown) => failedText(error));
    const printed = typeof ended === "string" ? ended : ended.stdout;
    if ((typeof ended === "string") !== (project.fails === true)) return firstLine(printed);
    return printed.includes(project.prints) ? undefined : firstLine(printed);
  } catch (error) {
    return firstLine(failedText(error));
  }
}

/** What a program that failed has printed. */
function failedText(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  const { stdout = "", stderr = "" } = error as Error & {
    readonly stdout?: string;
    readonly stderr?: string;
  };
  return `${stdout}${stderr}` || error.message;
}

function firstLine(text: string): string {
  const line = text.split("\n").find((each) => /error|fail|cannot/i.test(each));
  return (line ?? text).trim().slice(0, 160);
}

const [, , wanted = ""] = process.argv;
const parent = mkdtempSync(join(tmpdir(), "writ-fresh-"));
try {
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", parent], {
    cwd: root,
    stdio: "ignore",
  });
  const tarball = join(parent, readdirSync(parent).find((name) => name.endsWith(".tgz")) ?? "");
  console.log("| project | result |\n|---|---|");
  for (const [index, project] of projects.entries()) {
    if (!project.name.toLowerCase().includes(wanted.toLowerCase())) continue;
    const fault = await tryProject(project, join(parent, String(index)), tarball);
    console.log(
      `| ${project.name} | ${fault === undefined ? "works" : `fails: ${fault.replaceAll("|", "/")}`} |`,
    );
    if (fault !== undefined) process.exitCode = 1;
  }
} finally {
  rmSync(parent, { recursive: true, force: true });
}
