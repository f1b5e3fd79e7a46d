import { expect } from "vitest";
import type { FinishReason } from "../../src/message/message.ts";
import { readArguments } from "../../src/model/assemble.ts";
import type { Delta } from "../../src/model/model.ts";
import type { Json } from "../../src/util/json.ts";

/** The form of a whole reply: see {@link Delta}. */
export function expectWellFormed(deltas: readonly Delta[]): void {
  const open = new Set<string>();
  const started = new Set<string>();
  deltas.forEach((delta, index) => {
    expect(delta.type === "end", "exactly one end, and last").toBe(index === deltas.length - 1);
    if (delta.type === "call-start") {
      expect(delta.id.trim(), "the id of a call").not.toBe("");
      expect([...started], "ids of one reply are distinct").not.toContain(delta.id);
      started.add(delta.id);
      open.add(delta.id);
    } else if (delta.type === "call-delta")
      expect([...open], "a piece of a call that is open").toContain(delta.id);
    else if (delta.type === "call-end")
      expect(open.delete(delta.id), "the end of a call that is open").toBe(true);
  });
  expect([...open], "calls without an end").toEqual([]);
  expect(deltas.length).toBeGreaterThan(0);
  for (const count of Object.values(endOf(deltas)?.usage ?? {})) {
    if (count !== undefined) expect(Number.isSafeInteger(count) && count >= 0, `${count} tokens`).toBe(true);
  }
}

/** A call as the deltas tell it. */
export interface ReadCall {
  readonly id: string;
  readonly name: string;
  readonly parsed: ReturnType<typeof readArguments>;
}

/** The calls of a reply. Fails when arguments that came in pieces differ from those that came whole. */
export function callsOf(deltas: readonly Delta[]): readonly ReadCall[] {
  return deltas.flatMap((start) => {
    if (start.type !== "call-start") return [];
    let pieces = "";
    let whole: Json | undefined;
    for (const delta of deltas) {
      if (delta.type === "call-delta" && delta.id === start.id) pieces += delta.text;
      if (delta.type === "call-end" && delta.id === start.id) whole = delta.arguments;
    }
    const parsed = readArguments(whole ?? pieces);
    if (pieces !== "" && whole !== undefined)
      expect(readArguments(pieces).arguments).toEqual(parsed.arguments);
    return [{ id: start.id, name: start.name, parsed }];
  });
}

/** The text or the reasoning of a reply. */
export function textOf(deltas: readonly Delta[], type: "text-delta" | "reasoning-delta"): string {
  return deltas.map((delta) => (delta.type === type ? delta.text : "")).join("");
}

/** The end of a reply. */
export function endOf(deltas: readonly Delta[]): Extract<Delta, { type: "end" }> | undefined {
  return deltas.findLast((delta) => delta.type === "end");
}

/** Why the model stopped. */
export function finishOf(deltas: readonly Delta[]): FinishReason | undefined {
  return endOf(deltas)?.finishReason;
}
