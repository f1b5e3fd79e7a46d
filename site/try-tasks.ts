/**
 * Reads the built site as a newcomer does: for each task it goes from the first page by at most two links to the page of the task, takes the program from
 * there, pastes it into a fresh project with the packed writ, and runs it. Needs the registry, for zod. npm run site:tasks
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../tools/source-files.ts";
import { tasks } from "./home.ts";

const dist = join(import.meta.dirname, "dist");
const read = (page: string): string => readFileSync(join(dist, `${page}.html`), "utf8");

/** The pages to which a page links, without their anchors. */
function linksOf(page: string): string[] {
  return [...read(page).matchAll(/href="\/([\w/-]*)(?:#[\w-]*)?"/g)].map(([, path = ""]) =>
    path === "" || path.endsWith("/") ? `${path}index` : path,
  );
}

/** The number of clicks from the first page to another one, or undefined where it takes more than two. */
function clicksTo(page: string): number | undefined {
  const first = linksOf("index");
  if (first.includes(page)) return 1;
  return first.some((one) => linksOf(one).includes(page)) ? 2 : undefined;
}

/** The first program of a page that prints something, and what it prints, as the page shows both. */
function programOf(page: string): { readonly code: string; readonly printed: string } | undefined {
  const blocks = [
    ...read(page).matchAll(/<div class="language-(\w+)[\s\S]*?<code[^>]*>([\s\S]*?)<\/code><\/pre>/g),
  ];
  const at = blocks.findIndex(
    ([, language], index) => language === "ts" && blocks[index + 1]?.[1] === "text",
  );
  const code = blocks[at]?.[2];
  const printed = blocks[at + 1]?.[2];
  return code === undefined || printed === undefined
    ? undefined
    : { code: textOf(code), printed: textOf(printed) };
}

const signs: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  amp: "&",
  "#39": "'",
  "#x27": "'",
  "#123": "{",
  "#125": "}",
};

function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll(/&(#?\w+);/g, (whole, name: string) => signs[name] ?? whole);
}

/** A project as a newcomer has it, with the packed writ. */
function freshProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-tasks-"));
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root, encoding: "utf8" }),
  ) as [{ readonly filename: string }];
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "newcomer", private: true, type: "module" }),
  );
  execFileSync(
    "npm",
    [
      "install",
      "--silent",
      "--no-audit",
      "--no-fund",
      join(folder, packed.filename),
      "zod",
      "ai",
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/server",
    ],
    { cwd: folder },
  );
  return folder;
}

const project = freshProject();
let failed = 0;
for (const { want, page: place } of tasks) {
  const [page = ""] = place.split("#");
  const clicks = clicksTo(page);
  const program = programOf(page);
  let how = "the page has no program with what it prints";
  if (program !== undefined) {
    writeFileSync(join(project, "task.ts"), program.code);
    const { stdout, stderr } = spawnSync(process.execPath, ["--no-warnings", "task.ts"], {
      cwd: project,
      encoding: "utf8",
      timeout: 120_000,
    });
    how =
      stdout.trim() === program.printed.trim()
        ? "runs, and prints what the page says"
        : `printed\n${stdout}${stderr}`;
  }
  const isGood = clicks !== undefined && how.startsWith("runs");
  if (!isGood) failed += 1;
  console.log(
    `${isGood ? "✓" : "✗"} ${want}: /${place}, ${clicks ?? "more than 2"} click${clicks === 1 ? "" : "s"}; ${how}`,
  );
}
console.log(`${tasks.length - failed} of ${tasks.length} tasks`);
process.exitCode = failed === 0 ? 0 : 1;
