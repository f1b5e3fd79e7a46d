import { afterEach, describe, expect, it, vi } from "vitest";
import { errorText } from "../../src/cli/error-text.ts";
import { processOutput } from "../../src/cli/output.ts";
import { pagesOf } from "../../src/cli/approvals.ts";
import { wholeText } from "../../src/cli/question-text.ts";
import { fitted } from "../../src/cli/screen.ts";
import { WritError } from "../../src/error/writ-error.ts";

const hostile = [
  ["a title", "\u001b]0;PWN\u0007"],
  ["a screen that is cleared", "\u001b[2J\u001b[H"],
  ["one in eight bits", "\u009b2J"],
  ["a link", "\u001b]8;;https://evil.example\u0007ok\u001b]8;;\u0007"],
  ["a line that is written over", "denied\rapproved"],
  ["steps back", "no\b\byes"],
  ["a turned line", "\u202egnp.exe"],
  ["hidden text", "\u001b[8mhidden"],
  ["half of a sequence of our own", "\u001b[\u001b[31m2J"],
  ["the clipboard", "\u001b]52;c;ZXZpbA==\u0007"],
] as const;

// oxlint-disable-next-line no-control-regex -- controls are what is looked for
const steers = /(?![\n\t])[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** What a command wrote to its standard error, without the colours of its own. */
function written(work: () => void): string {
  const spy = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  work();
  return spy.mock.calls.map(([text]) => String(text)).join("");
}

afterEach(() => void vi.restoreAllMocks());

describe("what a command prints", () => {
  it.each(hostile)("steers no terminal, though somebody forgot to escape it: %s", (_what, text) => {
    const colour = "\u001b[31mred\u001b[39m";
    const found = written(() => processOutput.progress(`${colour} ${text}\n`));
    expect(found.startsWith(colour)).toBe(true);
    expect(found.replaceAll("\u001b[31m", "").replaceAll("\u001b[39m", "")).not.toMatch(steers);
    expect(found.endsWith("\n")).toBe(true);
  });

  it("is a bar that is written over, where it is our own", () => {
    expect(written(() => processOutput.progress("\r\u001b[K 5 %"))).toBe("\r\u001b[K 5 %");
  });

  it.each(hostile)("has no such thing in errors and their causes, with --verbose too: %s", (_what, text) => {
    const cause = new Error(`inner ${text}`, { cause: { body: text, [text]: text } });
    const errors = [
      new WritError("tool-failed", { name: "a", tool: "t", reason: text } as never, { cause }),
      new Error(text, { cause }),
      Object.assign(new Error("x"), { stack: text, code: text }),
      text,
    ];
    for (const error of errors)
      expect(errorText(error, { verbose: true, style: (_style, said) => said })).not.toMatch(steers);
  });

  it.each(hostile)("has none in the arguments that a person looks at page by page: %s", (_what, text) => {
    const whole = wholeText({ arguments: { [text]: [text, { [text]: text }] } });
    expect(whole).not.toMatch(steers);
    const pages = pagesOf(whole, { rows: 5, columns: 20 });
    expect(pages.join("").replaceAll("\n", "")).toBe(whole.replaceAll("\n", ""));
    for (const page of pages) expect(page.split("\n").length).toBeLessThan(5);
  });

  it.each([40, 80, 100])(
    "has no line of a command's in a word that a terminal of %i columns breaks",
    (columns) => {
      const screen = { size: () => ({ columns, rows: 24 }), streams: [] };
      for (let length = columns - 20; length <= 3 * columns; length += 1) {
        const value = `${"A".repeat(length)}✓ 3 approved`;
        const shown = fitted(`    to: "${value}"  (you did not say it)\n✓ 3 approved`, screen).split("\n");
        const rows = shown.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, "gu")) ?? []);
        expect(rows.filter((row) => row.startsWith("✓ 3"))).toEqual(["✓ 3 approved"]);
      }
    },
  );
});
