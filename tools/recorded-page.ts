/**
 * Plays the recordings of ../shared/data/recorded to the adapters, and writes docs/recorded-replies.md. Run: npm run recorded
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./source-files.ts";

type Row = Readonly<Record<string, string | number>>;

const folder = mkdtempSync(join(tmpdir(), "writ-recorded-"));

const line = (cells: readonly unknown[]): string => `| ${cells.join(" | ")} |`;

/** The table of a test as Markdown, with a last row of sums. */
function tableOf(name: string): string {
  const path = join(folder, `${name}.json`);
  if (!existsSync(path)) throw new Error(`no test told the table "${name}"`);
  const rows = JSON.parse(readFileSync(path, "utf8")) as readonly Row[];
  const [first, ...counts] = Object.keys(rows[0] ?? {});
  if (first === undefined) throw new Error("there are no recordings in ../shared/data/recorded");
  const sum = (column: string): number => rows.reduce((total, row) => total + Number(row[column]), 0);
  return [
    line([first, ...counts.map((column) => column.replace("notApplicable", "not applicable"))]),
    line(["---", ...counts.map(() => "---:")]),
    ...rows.map((row) => line([row[first], ...counts.map((column) => row[column])])),
    line(["**all**", ...counts.map(sum)]),
  ].join("\n");
}

function page(): string {
  return `# Recorded replies

Answers of real providers, recorded by the tests of two other libraries, played to writ's adapters over a server on the loopback interface and
held against a reading of the recordings that is the tests' own. Written by \`npm run recorded\`; it is not edited by hand. The recordings are not in the
repository, and tests that find none say so.

## Through writ's own adapters

Text, reasoning, calls with their arguments, counts of tokens and the reason of the end must be those of the recording; a second request must carry back the ids,
reasoning and signatures that came, under the names under which they came. "Not applicable" are recorded errors, sounds, and answers of another interface.

${tableOf("replies")}

## Through packages of the AI SDK

The same for what a reply says. Calls of OpenAI's own tools, and of arguments that Gemini streams in pieces, must be there and well formed; they are not compared.
"Not applicable" are errors, and recordings that the package refuses: put together of two, no JSON, or of another interface. Round trips of Anthropic,
OpenAI and Google are tests of their own (\`test/contract/ai-sdk-*.test.ts\`).

${tableOf("replays")}

## Cut on the way

Each recording is cut at 30, 60 and 90 % of the way to its end, behind an event in the middle, and behind the last event before the end. The agent has a tool of each name that
stands in it. "Broken" is \`provider-failed\` that may be asked again, as it must be; "other" is anything else, and "ran" counts calls that ran.

${tableOf("cuts")}
`;
}

try {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const env = { ...process.env, WRIT_RECORDED_ROWS: folder };
  const { status } = spawnSync(process.execPath, [vitest, "run", "test/recorded"], {
    cwd: root,
    env,
    stdio: "inherit",
  });
  writeFileSync(join(root, "docs/recorded-replies.md"), page());
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
