import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { root } from "../../tools/source-files.ts";

const run = promisify(execFile);

describe("the escape table", () => {
  it("is what happens on this machine, cell by cell", async () => {
    const args = ["--no-warnings", join(root, "tools/escape-table.ts"), "--check"];
    const { stdout } = await run(process.execPath, args, { cwd: root }).catch(
      ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
        throw new Error(`${stdout}${stderr}`);
      },
    );
    if (stdout.includes("is not tried")) console.log(stdout); // where a column cannot be tried, the others are
    expect(stdout).toMatch(/\d+ rows are as the page says/);
  });

  it("says that isolated code reaches nothing, that code around its handles does, and has every row of the design", () => {
    const page = readFileSync(join(root, "docs/escape-table.md"), "utf8");
    const [ways = "", answers = ""] = page.split("<!-- answers -->");
    expect(answers.match(/^\| (?!-|what).*/gm)?.length).toBeGreaterThan(15);
    expect(answers).not.toMatch(/^\|[^|]+\|[^|]+\|.*reached/m);
    const rows = ways.split("\n").flatMap((line) => {
      if (!/^\| (?!-|what)/.test(line)) return [];
      return [
        line
          .split("|")
          .map((cell) => cell.trim())
          .slice(1, -1),
      ];
    });
    expect(rows.length).toBeGreaterThan(29);
    for (const [row = "", through, around, ...isolated] of rows) {
      expect(["held", "–"], row).toContain(through);
      expect(around, row).toBe("**reached**");
      for (const cell of isolated) expect(["held", "inside"], row).toContain(cell);
      const reachesOut =
        /read a|read with|write|sqlite|process\.env|fetch|redirect|http|socket|DNS|datagram|program|spawn/;
      if (reachesOut.test(row) && !row.includes("report")) expect(isolated, row).toEqual(["held", "held"]);
    }
  });
});
