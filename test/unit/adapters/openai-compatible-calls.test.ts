import { describe, expect, it } from "vitest";
import { callReader } from "../../../src/adapters/model/openai-compatible-calls.ts";
import { growth } from "../../cpu-time.ts";

/** Reads so many calls of a reply, each of which comes in one piece. */
function readCalls(count: number, at: (place: number) => object): number {
  const reader = callReader("server");
  for (let place = 0; place < count; place += 1)
    reader.read([{ function: { name: "add", arguments: "{}" }, ...at(place) }]);
  reader.end();
  return reader.count;
}

describe("the calls of a reply", () => {
  it.each<[string, (place: number) => object]>([
    ["an index and an id", (index) => ({ index, id: `call_${index}` })],
    ["an id alone", (place) => ({ id: `call_${place}` })],
    ["neither", () => ({})],
    ["arguments that never end", (index) => ({ index, function: { name: "add", arguments: "{" } })],
  ])("take time that grows as their number does: with %s", (_how, at) => {
    expect(readCalls(9, at)).toBe(9);
    expect(growth(1000, (count) => readCalls(count, at))).toBeLessThan(5);
  });
});
