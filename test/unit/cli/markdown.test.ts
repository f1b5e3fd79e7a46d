import { describe, expect, it } from "vitest";
import { markdownWriter } from "../../../src/cli/chat/markdown.ts";

/** Shows a text that comes in pieces; styles are written as tags. */
function show(text: string, { columns = 80, size = text.length, isStyled = true } = {}): string {
  let shown = "";
  const writer = markdownWriter({
    write: (piece) => (shown += piece),
    style: (style, piece) => `<${style}>${piece}</>`,
    columns: () => columns,
    isStyled,
  });
  for (let at = 0; at < text.length; at += size) writer.push(text.slice(at, at + size));
  writer.end();
  return shown;
}

const page = `# The **weather**

It is **very warm** in \`Oslo\`, 2 ** 3 is 8.

- one thing
  - a deeper thing
1. first
> said
---
| a | b |

\`\`\`ts
const a = "**";

  indented();
\`\`\`
End`;

describe("Markdown at a terminal", () => {
  it("shows headings, bold, code, lists, quotes, rules and blocks of code", () => {
    const shown = show(page);
    expect(shown).toContain(
      "<bold>The</> <bold>weather</>\n\nIt is <bold>very</> <bold>warm</> in <cyan>Oslo</>, 2 ** 3 is 8.",
    );
    expect(shown).toContain("• one thing\n  • a deeper thing\n1. first\n<dim>│</> said\n<dim>────");
    expect(shown).toContain("| a | b |\n");
    expect(shown).toContain('  <cyan>const a = "**";</>\n\n  <cyan>  indented();</>\nEnd\n');
    expect(shown).not.toContain("```");
  });

  it.each([1, 2, 3, 7, 16])("shows the same in pieces of %i characters", (size) => {
    expect(show(page, { size })).toBe(show(page));
    expect(show(page, { size, columns: 12 })).toBe(show(page, { columns: 12 }));
  });

  it("shows each word as soon as it has ended, and each wide character", () => {
    const shown: string[] = [];
    const writer = markdownWriter({
      write: (piece) => shown.push(piece),
      style: (_style, piece) => piece,
      columns: () => 80,
      isStyled: true,
    });
    writer.push("Hello wor");
    expect(shown.join("")).toBe("Hello");
    writer.push("ld 天気は");
    expect(shown.join("")).toBe("Hello world 天気");
  });

  it("breaks between words at 20 columns; a list goes on under itself", () => {
    expect(show("- one thing that is long enough", { columns: 20 })).toBe(
      "• one thing that is\n  long enough\n",
    );
    expect(show("天気は晴れです、明日も晴れです", { columns: 10 }).split("\n")).toEqual([
      "天気は晴れ",
      "です、明日",
      "も晴れです",
      "",
    ]);
  });

  it("leaves it as it was written where there are no colours, and breaks no line of code", () => {
    const text = "# A\n\n- **b**\n\n```ts\nconst name = 'longer than the terminal';\n```\n";
    expect(show(text, { isStyled: false, columns: 20 })).toBe(text);
  });

  it("ends a block of code that the model did not end", () => {
    expect(show("```\na")).toBe("  <cyan>a</>\n");
    expect(show("```\na\n```")).toBe("  <cyan>a</>\n");
  });

  it("writes out what would steer the terminal, also in pieces", () => {
    for (const size of [1, 2, 30])
      expect(show("a\u001B[31mb\r\u001B[Kc\u202Ed", { size })).toBe(
        String.raw`a\u{1b}[31mb\u{d}\u{1b}[Kc\u{202e}d` + "\n",
      );
  });
});
