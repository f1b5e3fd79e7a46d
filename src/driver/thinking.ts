/** What models that reason write before their reply. Some templates put the opening tag into the prompt, so that only the closing one comes. */
export function withoutThinking(text: string): { readonly thought?: string; readonly text: string } {
  const open = /^\s*<think(?:ing)?>/.exec(text)?.[0] ?? "";
  const close = /<\/think(?:ing)?>/.exec(text);
  if (open === "" && close === null) return { text };
  if (open === "" && /<think(?:ing)?>/.test(text.slice(0, close?.index))) return { text };
  const thought = text.slice(open.length, close?.index).trim();
  const rest = close === null ? "" : text.slice(close.index + close[0].length);
  return { text: rest, ...(thought === "" ? {} : { thought }) };
}
