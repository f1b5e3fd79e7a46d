import { describe, expect, it } from "vitest";
import { plainJson } from "../../../src/util/plain-json.ts";

const valueOf = (value: unknown): unknown => {
  const json = plainJson(value);
  return json.ok ? json.value : json.reason;
};

describe("plain JSON of a value that code built", () => {
  it("shows all of it: Sets, Maps, dates, links and large numbers too", () => {
    const at = new Date(0);
    const page = new URL("https://example.com/x");
    const built = {
      to: new Set(["ada", new Set([1])]),
      access: new Map<unknown, unknown>([
        ["eve", "editor"],
        [{ id: 1 }, new Map()],
      ]),
      at,
      page,
      big: 2n ** 64n,
      gone: undefined,
      nothing: null,
      list: [undefined, true],
      bare: Object.assign(Object.create(null) as object, { x: 1 }),
    };
    expect(valueOf(built)).toEqual({
      to: ["ada", [1]],
      access: [
        ["eve", "editor"],
        [{ id: 1 }, []],
      ],
      at: "1970-01-01T00:00:00.000Z",
      page: "https://example.com/x",
      big: "18446744073709551616",
      nothing: null,
      list: [null, true],
      bare: { x: 1 },
    });
  });

  it("is a copy", () => {
    const inner = { list: [1] };
    const json = valueOf({ inner }) as { inner: { list: number[] } };
    json.inner.list.push(2);
    expect(inner).toEqual({ list: [1] });
  });

  it("is none where JSON has no word for something in it", () => {
    class Recipient {
      readonly to = "eve";
    }
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const thrower = {
      get to(): string {
        throw new Error("no");
      },
    };
    const none: readonly (readonly [unknown, RegExp])[] = [
      [new Recipient(), /class/],
      [{ list: [new Uint8Array(2)] }, /class/],
      [/x/, /class/],
      [() => 1, /function/],
      [Symbol("x"), /symbol/],
      [{ [Symbol("x")]: 1 }, /symbol/],
      [Number.NaN, /NaN/],
      [Infinity, /Infinity/],
      [cyclic, /nested deeper/],
      [JSON.parse('{"__proto__":{"to":"eve"}}'), /__proto__/],
      [thrower, /no/],
    ];
    for (const [value, reason] of none) {
      expect(plainJson({ value }).ok).toBe(false);
      expect(valueOf({ value })).toMatch(reason);
    }
  });
});
