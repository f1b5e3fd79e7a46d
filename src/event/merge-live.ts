import type { RunEvent } from "./event.ts";

/** An event, with or without its envelope. */
type Told = RunEvent & { readonly runId?: string };

/** Merges two successive live events into one, for a reader that is behind. Returns undefined for facts, and for events that do not fit together. */
export function mergeLive<Event extends Told>(last: Event, next: Event): Event | undefined {
  if (last.runId !== next.runId) return undefined;
  if (last.type === "tool-progress") {
    return next.type === "tool-progress" && next.callId === last.callId
      ? { ...next, merged: count(last) }
      : undefined;
  }
  if (last.type === "output-delta")
    return next.type === "output-delta" ? { ...next, merged: count(last) } : undefined;
  if (last.type === "call-delta") {
    const same = next.type === "call-delta" && next.callId === last.callId;
    return same ? { ...last, text: last.text + next.text, merged: count(last) } : undefined;
  }
  if (last.type !== "text-delta" && last.type !== "reasoning-delta") return undefined;
  return next.type === last.type ? { ...last, text: last.text + next.text, merged: count(last) } : undefined;
}

function count({ merged = 1 }: { readonly merged?: number }): number {
  return merged + 1;
}
