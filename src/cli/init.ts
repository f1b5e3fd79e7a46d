import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder } from "../adapters/make-folder.ts";
import { WritError } from "../error/writ-error.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { type OutputFlags, wordOf } from "./options.ts";
import { countText, oneLine, printable, processOutput, shellWord } from "./output.ts";
import { packageVersion } from "./package-version.ts";
import { writing } from "./writing.ts";

/** The options of `writ init`. */
export interface InitFlags extends OutputFlags {
  readonly template: string;
}

interface Template {
  /** The folder of its programs in `examples`. */
  readonly folder: string;
  /** The command that shows the agent at work; `npm start` runs it. */
  readonly start: string;
  /** The packages that it needs beside writ. */
  readonly packages?: Readonly<Record<string, string>>;
  /** Lines about its model. Default: they say that it has a stand-in. */
  readonly model?: readonly string[];
  /** The packages that it leaves out. */
  readonly without?: readonly string[];
}

/** The names of the templates of `writ init`: four small projects, then whole examples. */
export const templateNames = [
  "tool",
  "mcp",
  "approval",
  "serve",
  "support-desk",
  "coder",
  "research",
  "local-model",
] as const;

/** The templates of `writ init`, by name. */
export const templates: Readonly<Record<(typeof templateNames)[number], Template>> = {
  tool: { folder: "init/tool", start: 'writ run agent.ts "How warm is it in Oslo?"' },
  mcp: {
    folder: "init/mcp",
    start: 'writ run agent.ts "How long does tea steep?"',
    packages: { "@modelcontextprotocol/client": "^2.4.0", "@modelcontextprotocol/server": "^2.4.0" },
  },
  approval: { folder: "init/approval", start: 'writ run agent.ts "Refund order 17"' },
  serve: { folder: "init/serve", start: "writ serve agent.ts" },
  "support-desk": {
    folder: "support-desk",
    start: 'writ run agent.ts "The strainer of order 18 came broken"',
  },
  coder: { folder: "coder", start: "node main.ts" },
  research: {
    folder: "research",
    start: 'writ run agent.ts "How long do tea and coffee take? Mail it to ada@example.com"',
    packages: {
      "@modelcontextprotocol/client": "^2.4.0",
      "@modelcontextprotocol/server-filesystem": "^2026.8.31",
    },
  },
  "local-model": {
    folder: "local-model",
    start: 'writ run agent.ts "Lights off in the bedroom, and set a timer for 5 minutes"',
    packages: { "node-llama-cpp": "^3.21.1" },
    model: [
      "No key is needed: the model runs inside the process. Its file (98 MB) is fetched once:",
      "npx writ models pull smollm2-135m",
    ],
    without: [
      "linux-x64-cuda",
      "linux-x64-cuda-ext",
      "linux-x64-vulkan",
      "win-x64-cuda",
      "win-x64-cuda-ext",
      "win-x64-vulkan",
    ].map((name) => `@node-llama-cpp/${name}`),
  },
};

/** The packages with which every project checks its types. */
export const typePackages = { "@types/node": "^24.19.2", typescript: "^7.0.2" };

/** The package that is installed in place of one that is left out. */
const nothing = "npm:empty-npm-package@1.0.0";

/** `writ init [folder]`. @throws WritError `option-invalid` for an unknown template, and for a folder that already has one of the files */
export async function init(folder: string, flags: InitFlags): Promise<ExitCode> {
  const template = wordOf("--template", flags.template, templateNames);
  const files = filesOf(template, nameOf(folder));
  const taken = Object.keys(files).filter((name) => existsSync(join(folder, name)));
  if (taken.length > 0) {
    const advice = `It already has ${taken.join(", ")}; nothing was written. Name a folder without them.`;
    throw new WritError("option-invalid", { option: "<folder>", value: folder, advice });
  }
  const named = { option: "<folder>", path: folder, instead: "Name a folder that this process may make." };
  await writing(named, () => {
    for (const [name, text] of Object.entries(files)) {
      makeFolder(dirname(join(folder, name)));
      writeFileSync(join(folder, name), text, { flag: "wx" });
    }
  });
  await processOutput.answer(nextSteps(folder, template, Object.keys(files)));
  return exitCodes.answered;
}

function filesOf(template: keyof typeof templates, name: string): Readonly<Record<string, string>> {
  const { folder, start, packages, without } = templates[template];
  const programs = fileURLToPath(new URL(`../../examples/${folder}`, import.meta.url));
  return {
    "package.json": json({
      name,
      private: true,
      type: "module",
      scripts: { start, test: "node --test *.test.ts", types: "tsc" },
      dependencies: { writ: `^${packageVersion()}`, zod: "^4.6.7", ...packages },
      devDependencies: typePackages,
      ...(without === undefined
        ? {}
        : { overrides: Object.fromEntries(without.map((left) => [left, nothing])) }),
      engines: { node: ">=22.18" },
    }),
    "tsconfig.json": json({
      compilerOptions: {
        target: "es2024",
        module: "nodenext",
        types: ["node"],
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        erasableSyntaxOnly: true,
        skipLibCheck: true,
      },
    }),
    ".gitignore": "node_modules\n*.db\n*.db-*\n.env\ntokens.json\n",
    ...Object.fromEntries(
      programsIn(programs).map((path) => [path, readFileSync(join(programs, path), "utf8")]),
    ),
  };
}

/** The paths of the files in a folder and in those beneath it. */
function programsIn(folder: string): readonly string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return found.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** The name of the package: the name of the folder, as far as npm allows it. */
function nameOf(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-");
  return name.replaceAll(/^-+|-+$/g, "") || "agent";
}

/** The command that shows the agent at work, as it is typed in the folder. */
export function commandOf(template: keyof typeof templates): string {
  const { start } = templates[template];
  return start.startsWith("writ ") ? `npx ${start}` : start;
}

const standIn = [
  "No key is needed: model.ts has a stand-in. For a model set WRIT_MODEL, like openai/gpt-5-mini",
  "(npm i @ai-sdk/openai, and OPENAI_API_KEY) or ollama/qwen2.5:7b (npm i ollama).",
];

function nextSteps(folder: string, template: keyof typeof templates, files: readonly string[]): string {
  const { styleAnswer } = processOutput;
  const shown = oneLine(folder);
  const steps = [
    ...(resolve(folder) === process.cwd() ? [] : [`cd ${printable(shellWord(folder))}`]),
    "npm install",
    "npm test",
    commandOf(template),
  ];
  return [
    `${countText(files.length, "file")} in ${shown}: ${files.join(", ")}`,
    "",
    ...steps.map((step) => `  ${styleAnswer("bold", step)}`),
    "",
    ...(templates[template].model ?? standIn),
    "",
  ].join("\n");
}
