import type { RunEvent } from "./event.ts";

/** Makes one live event of two that follow each other, for a reader who is behind. Facts, and what does not fit together, stay apart. */
export function mergeLive(last: RunEvent, next: RunEvent): RunEvent | undefined {
  if (last.type === "tool-progress") {
    return next.type === "tool-progress" && next.callId === last.callId
      ? { ...next, merged: count(last) }
      : undefined;
  }
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
