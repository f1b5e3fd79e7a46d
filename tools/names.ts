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

/** Code without comments and without the contents of texts. */
function withoutTexts(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\/\/.*$/gm, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, '""');
}
