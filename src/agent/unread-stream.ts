import type { Host } from "../journal/host.ts";

/** So many milliseconds after it was awaited somebody should be reading a stream. */
const unreadMs = 1000;

/** Warns of a stream that was awaited, and that nobody reads. What it gives takes the sign back. */
export function unreadSign(name: string, host: Host): () => void {
  const text = `\`await ${name}.stream(...)\` has begun no run: a stream runs while it is read. Write \`for await (const event of ${name}.stream(...))\`, or \`await ${name}.run(...)\`.`;
  return host.timer(unreadMs, () => host.warn?.({ code: "WRIT_STREAM_UNREAD", text, isDeprecation: false }));
}
