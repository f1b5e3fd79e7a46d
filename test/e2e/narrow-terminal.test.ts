import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { hasTmux, openTerminal, type Terminal } from "./terminal.ts";

const main = join(resolve(import.meta.dirname, "../.."), "dist/cli/main.js");
const columns = 40;
const colour = "\u{1B}[";

/** The lines that the terminal broke between words. It breaks a path that is longer than a line. */
async function brokenIn(terminal: Terminal): Promise<readonly string[]> {
  const whole = await terminal.shows("[ended with"); // lines that the terminal broke are one line here
  const broken = whole.split("\n").filter((line) => line.length > columns && !line.startsWith("Usage:"));
  return broken.filter((line) => line.split(" ").every((word) => word.length <= columns - 9));
}

describe.skipIf(!hasTmux)("a terminal of 40 columns", () => {
  it.each([
    ["writ --help", ["--help"]],
    ["writ run --help", ["run", "--help"]],
    ["writ doctor", ["doctor"]],
    ["an error", ["run", "nowhere.ts", "hi"]],
    ["an unknown option", ["run", "--nothing"]],
  ])(
    "shows %s in lines that break between words, and without colours where NO_COLOR is set",
    async (_what, words) => {
      using terminal = openTerminal([process.execPath, main, ...words], {
        columns,
        rows: 50,
        cwd: tmpdir(),
        env: { NO_COLOR: "1" },
      });
      await terminal.exit();
      expect(await brokenIn(terminal)).toEqual([]);
      expect(terminal.colours()).not.toContain(colour);
    },
  );

  it("shows the demo so, but for the answers of its agents", async () => {
    const command = `${process.execPath} ${main} demo > /dev/null`;
    using terminal = openTerminal(["sh", "-c", command], { columns, rows: 50, cwd: tmpdir() });
    await terminal.exit();
    expect(await brokenIn(terminal)).toEqual([]);
  });
});
