import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasTmux, openTerminal, type Terminal } from "./terminal.ts";

const root = resolve(import.meta.dirname, "../..");
const page = ["terminal", "chat"]
  .map((name) => readFileSync(join(root, `docs/${name}.md`), "utf8"))
  .join("\n");
const main = join(root, "dist/cli/main.js");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-screens-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/writ"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const [program = ""] = block("ts run").split("process.exitCode");
  writeFileSync(join(folder, "desk.ts"), program);
  writeFileSync(
    join(folder, "slow.ts"),
    program.replace(
      "execute: ({ id }) =>",
      "execute: async ({ id }) => (await new Promise(() => setInterval(() => {}, 1000))) ??",
    ),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first block of its kind in the two pages. */
function block(kind: string): string {
  const [, text] = new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page) ?? [];
  if (text === undefined) throw new Error(`No page has a block "${kind}"`);
  return text;
}

/** A screen without what differs from one time to the next. */
function steady(screen: string): string {
  return screen
    .replaceAll(/\b\d+(?:\.\d+)? m?s\b/g, "0 ms")
    .replace(/^\[ended with \d+\]$/m, "")
    .trim();
}

function writ(...words: readonly string[]): Terminal {
  return openTerminal([process.execPath, main, ...words], { cwd: folder, rows: 50 });
}

/** Answers the question on the screen: what is typed before it waits for an answer is dropped. */
async function answer(terminal: Terminal, said: string): Promise<void> {
  await terminal.shows("(n why) >");
  terminal.line(said);
}

describe.skipIf(!hasTmux)("docs/terminal.md and docs/chat.md", () => {
  it("shows calls that have not ended as they stand", async () => {
    using terminal = writ("run", "slow.ts", "The kettle of A17 came broken.");
    const lines = steady(block("console live").replaceAll(/\d+ s$/gm, "0 ms"));
    const standing = lines.split("\n").map((line) =>
      line
        .split("0 ms")
        .map((text) => RegExp.escape(text))
        .join("[1-9]\\d* s"),
    );
    expect(standing).toHaveLength(2);
    await terminal.shows(new RegExp(`^${standing.join("\n")}$`, "m"));
    terminal.keys("C-c");
    expect(await terminal.exit()).toBe(130);
    expect(terminal.screen()).toContain("Stopping. Press Ctrl-C again to exit at once.");
  });

  it("shows a run with an approval", async () => {
    using terminal = writ("run", "desk.ts", "The kettle of A17 came broken.");
    await answer(terminal, "y");
    expect(await terminal.exit()).toBe(0);
    const [, ...documented] = steady(block("console run")).split("\n");
    expect(steady(terminal.screen()).split("\n")).toEqual(documented);
  });

  it("shows a conversation", async () => {
    using terminal = writ("chat", "desk.ts");
    await terminal.shows(/^>$/m);
    terminal.line("The kettle of A17 came broken.");
    await answer(terminal, "n ask her first");
    await terminal.shows(/^>$/m);
    terminal.line("/help");
    await terminal.shows("leaves.");
    terminal.line("/quit");
    expect(await terminal.exit()).toBe(0);
    const [, ...documented] = steady(block("console chat")).split("\n");
    expect(steady(terminal.screen()).split("\n")).toEqual(documented);
  });
});
