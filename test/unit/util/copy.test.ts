import { describe, expect, test } from "vitest";
import { copyOfPlain } from "../../../src/util/json.ts";

describe("copyOfPlain", () => {
  test("copies JSON as structuredClone does, a field __proto__ too", () => {
    const value: unknown = JSON.parse(
      '{"list":[1,{"a":null},[]],"text":"x","__proto__":{"admin":true},"constructor":{"b":-0}}',
    );
    const copy = copyOfPlain(value);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(structuredClone(value)));
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy).not.toHaveProperty("admin");
  });

  test("copies an object without a prototype", () => {
    const bare: unknown = Object.assign(Object.create(null) as object, { list: [{ x: 1 }] });
    expect(copyOfPlain(bare)).toEqual({ list: [{ x: 1 }] });
    expect(copyOfPlain(bare)).not.toBe(bare);
  });

  test("shares no list and no plain object with what it copied", () => {
    const value = { list: [{ deep: [1] }], fields: { left: undefined } };
    const copy = copyOfPlain(value);
    value.list[0]?.deep.push(2);
    expect(copy).toStrictEqual({ list: [{ deep: [1] }], fields: { left: undefined } });
    expect(copy.fields).not.toBe(value.fields);
  });

  test("keeps an object of a class as it is", () => {
    const at = new Date(0);
    expect(copyOfPlain({ at }).at).toBe(at);
  });
});
