import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCallJson, repeatedKey } from "../../../src/util/call-json.ts";
import { parseJson } from "../../../src/util/json.ts";

const text = fc.oneof(fc.string(), fc.constantFrom("a", "a:b", '"a":', "\\", "{", "}", ":", "\u0061"));
/** Keys without `\` alone: after it, V8 reads the key `"\u0061"` in an object with the same keys before it as `\`, too (nodejs/node#63785). */
const keys = text.filter((each) => each !== "\\");
const blank = fc.constantFrom("", " ", "\n\t");

/** JSON as a model may write it: with blanks, colons in its strings, other spellings of its keys, and keys that stand twice. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text.map((each) => JSON.stringify(each)),
    fc.constantFrom("1", "null", "true"),
    fc.array(tie("json"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    fc
      .array(fc.tuple(keys, fc.boolean(), blank, tie("json")), { maxLength: 4 })
      .map(
        (fields) =>
          `{${fields.map(([key, isEscaped, space, value]) => `${keyText(key, isEscaped)}${space}:${space}${value}`).join(",")}}`,
      ),
  ),
}));

function keyText(key: string, isEscaped: boolean): string {
  return isEscaped ? JSON.stringify(key).replaceAll("a", String.raw`\u0061`) : JSON.stringify(key);
}

describe("JSON of a call", () => {
  it("is refused where a key stands twice in one object, and nowhere else", () => {
    let refused = 0;
    fc.assert(
      fc.property(json, (written) => {
        const parsed = parseJson(written);
        fc.pre(parsed.ok && typeof parsed.value === "object");
        const twice = repeatedKey(written);
        if (twice !== undefined) refused += 1;
        expect(parseCallJson(written).ok).toBe(twice === undefined);
      }),
      { numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(50);
  });

  it("reads what JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = JSON.stringify(value);
        fc.pre(parseJson(written).ok);
        expect(parseCallJson(written)).toStrictEqual(parseJson(written));
      }),
    );
  });
});
