import { posix } from "node:path";
import type { SourceFile } from "./source-files.ts";

const bannedFiles = new Set([
  "utils",
  "util",
  "helpers",
  "helper",
  "common",
  "misc",
  "types",
  "manager",
  "service",
  "index",
]);
const bannedWords =
  /\b\w*(?:guardrail|whitelist|blacklist)\w*\b|\b(?:iteration|manager|service|helper)s?\b/gi;

/** File names and words that the house does not use: each thing has one name, and these say nothing. */
export function nameComplaints(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const name = posix.basename(path).replace(/\.[a-z.]+$/, "");
    const isEntry = path === "src/index.ts";
    const inName = bannedFiles.has(name) && !isEntry ? [`${path}: a file is not called "${name}"`] : [];
    const code = withoutTexts(text);
    const words = [...code.matchAll(bannedWords)].map((match) => `${path}: the word "${match[0]}"`);
    const assistant =
      /\bassistant\w*/i.exec(code) === null ? [] : [`${path}: "assistant" as a name: the word is agent`];
    const all = /^export \*/m.test(text) ? [`${path}: export *`] : [];
    return [...inName, ...words, ...assistant, ...all];
  });
}

/** Names that the public part gave up (docs/decisions/0019-public-names.md). */
const formerNames =
  /\b(?:onUnknownTool|throwOnToolFailure|stopOnToolBlock|stopOn|abortSignal|agentName|ExecuteCallsOptions)\b/g;
/** Files that need them: the errors that say what is written now, the AI SDK's own options, and the names that another system has. */
const homesOfFormerNames = new Set([
  "src/agent/renamed.ts",
  "src/adapters/model/ai-sdk.ts",
  "src/adapters/model/ai-sdk-agent.ts",
  "src/tool/from-ai-sdk.ts",
  "docs/from/instructor-php.md",
  "docs/coming-from/ai-sdk.md",
]);

/** Places that use a name that was given up. */
export function formerNameComplaints(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => !homesOfFormerNames.has(path) && !path.startsWith("docs/decisions/"))
    .flatMap(({ path, text }) => [...text.matchAll(formerNames)].map(([name]) => `${path}: "${name}"`));
}

/** Code without comments and without the contents of strings. */
function withoutTexts(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\/\/.*$/gm, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, '""');
}

/** The folders of the flow of a run. */
const flow = /^src\/(?:run|call|turn)\//;

/** Types of a run's flow that share their name with a type of another file: one name would stand for two ideas. `core` are the files to look at. */
export function typeNameComplaints(core: readonly SourceFile[]): string[] {
  const homes = new Map<string, string[]>();
  for (const { path, text } of core)
    for (const [, name = ""] of text.matchAll(/^(?:export )?(?:interface|type|class) (\w+)/gm))
      homes.set(name, [...(homes.get(name) ?? []), path]);
  return [...homes].flatMap(([name, paths]) =>
    paths.length > 1 && paths.some((path) => flow.test(path)) ? [`${name}: ${paths.join(", ")}`] : [],
  );
}
