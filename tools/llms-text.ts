/**
 * Writes llms.txt, which is in the package and not in the repository: the pages by path, each with its first sentence, for programs that read.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sections } from "../site/sections.ts";
import { root } from "./source-files.ts";

const beginning = `# writ

> A TypeScript runtime for tool-calling agents: the model proposes a call, the program decides whether it runs.

The pages stand in the package, under the paths below (\`node_modules/writ/docs/…\`). Each about a task begins with an example. Rules for coding agents are in
[skills/writ/SKILL.md](skills/writ/SKILL.md), every error code in [docs/errors.md](docs/errors.md), the words in [docs/concepts.md](docs/concepts.md), what changed
in [CHANGELOG.md](CHANGELOG.md), whole programs in \`examples/\`. Types and an example of each export: \`dist/*.d.ts\`.
`;

/** The text of llms.txt. */
export function llmsText(): string {
  const parts = sections.map(({ title, pages }) => {
    const lines = pages.filter((page) => !page.includes("/")).map(line);
    return lines.length === 0 ? "" : `\n## ${title}\n\n${lines.join("\n")}\n`;
  });
  return beginning + parts.join("");
}

function line(page: string): string {
  const path = `docs/${page}.md`;
  const [heading = "", ...paragraphs] = readFileSync(join(root, path), "utf8").split("\n\n");
  const prose = paragraphs.find((text) => /^[A-Z`*]/.test(text)) ?? "";
  return `- [${heading.replace(/^# /, "")}](${path}): ${firstSentence(prose)}`;
}

/** The first sentence of a paragraph, without its marks and links. */
function firstSentence(paragraph: string): string {
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\s+/g, " ")
    .replaceAll("**", "")
    .trim();
  return /^.*?[.?](?= [A-Z`]|$)/.exec(plain)?.[0] ?? plain.replace(/:$/, ".");
}

if (import.meta.main) writeFileSync(join(root, "llms.txt"), llmsText());
