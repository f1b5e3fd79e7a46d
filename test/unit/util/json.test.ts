import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { maxJsonDepth, parseJson, toJson } from "../../../src/util/json.ts";

describe("JSON from outside", () => {
  it("reads what JSON.parse reads, and never throws", () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        const parsed = parseJson(text);
        if (parsed.ok && !/\d{16}/.test(text)) expect(parsed.value).toEqual(JSON.parse(text));
      }),
    );
    fc.assert(fc.property(fc.json(), fc.nat(), (text, cut) => void parseJson(text.slice(0, cut))));
    fc.assert(fc.property(fc.string(), (text) => void parseJson(text)));
  });

  it("reads past a byte order mark", () => {
    expect(parseJson("\ufeff{}")).toEqual({ ok: true, value: {} });
    expect(parseJson("\ufeff\ufeff{}").ok).toBe(false);
  });

  it("never rounds an integer", () => {
    expect(
      parseJson('{"id": 9007199254740993, "n": -12345678901234567890, "ok": 9007199254740991, "f": 0.5}'),
    ).toEqual({
      ok: true,
      value: {
        id: "9007199254740993",
        n: "-12345678901234567890",
        ok: 9007199254740991,
        f: 0.5,
      },
    });
  });

  it("refuses bombs of brackets before it parses, but not brackets in texts", () => {
    expect(parseJson("[".repeat(1e6))).toMatchObject({
      ok: false,
      reason: expect.stringContaining("deeper"),
    });
    expect(parseJson("[".repeat(maxJsonDepth) + "]".repeat(maxJsonDepth)).ok).toBe(true);
    expect(parseJson("[".repeat(maxJsonDepth + 1) + "]".repeat(maxJsonDepth + 1)).ok).toBe(false);
    expect(parseJson(JSON.stringify({ text: '[{"\\'.repeat(1000) })).ok).toBe(true);
  });

  it("refuses keys that change prototypes in careless code", () => {
    for (const text of [
      '{"__proto__": {"a": 1}}',
      '[{"x": {"__proto__": 1}}]',
      '{"\\u005f_proto__": 1}',
      '{"constructor": {"prototype": {}}}',
    ]) {
      expect(parseJson(text).ok, text).toBe(false);
    }
    expect(parseJson('{"constructor": "Acme", "text": "__proto__"}').ok).toBe(true);
  });

  it("makes JSON of what code built", () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(toJson(cyclic).ok).toBe(false);
    expect(toJson({ a: undefined, b: 1n, c: new Date(0), d: () => 1 })).toEqual({
      ok: true,
      value: { b: "1", c: "1970-01-01T00:00:00.000Z" },
    });
    expect(toJson(Number.NaN)).toEqual({ ok: true, value: null });
    expect(toJson(undefined)).toEqual({ ok: true, value: null });
  });

  it("copies rows of a database as they stand: with dates, and without a prototype", () => {
    const bare = Object.assign(Object.create(null) as object, { id: 2, at: new Date(0) });
    const rows = [{ id: 1, at: new Date(1e12), never: new Date(Number.NaN) }, bare];
    const expected: unknown = JSON.parse(JSON.stringify(rows));
    const spies = [vi.spyOn(JSON, "stringify"), vi.spyOn(JSON, "parse")];
    const made = toJson(rows);
    const calls = spies.map(({ mock }) => mock.calls.length);
    for (const spy of spies) spy.mockRestore();
    expect(made).toEqual({ ok: true, value: expected });
    expect(calls).toEqual([0, 0]);
    const [, copy] = (made as { readonly value: readonly object[] }).value;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  it("follows JSON for a date that says otherwise, or is none", () => {
    const said = Object.assign(new Date(0), { toJSON: () => ({ day: 1 }) });
    expect(toJson([said])).toEqual({ ok: true, value: [{ day: 1 }] });
    expect(toJson([Object.create(Date.prototype)])).toMatchObject({ ok: false });
    const polluting: unknown = Object.create(null, { ["__proto__"]: { value: {}, enumerable: true } });
    expect(toJson([polluting])).toMatchObject({ ok: false });
  });
});
