/** What stands in a text that is one code block of Markdown and nothing else; undefined for any other text. */
export function insideFence(text: string): string | undefined {
  const block = text.trim();
  const start = block.indexOf("\n") + 1;
  const isFenced = start > 0 && /^```[\w-]*\s*$/.test(block.slice(0, start)) && block.endsWith("```");
  const inner = isFenced ? block.slice(start, -3) : "```";
  return inner.includes("```") ? undefined : inner.trim();
}
