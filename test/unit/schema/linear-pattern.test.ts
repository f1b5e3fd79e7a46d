import { describe, expect, it } from "vitest";
import { z } from "zod";
import { splitPattern } from "../../../src/schema/linear-pattern.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";

async function matches(pattern: string, text: string): Promise<boolean> {
  const result = await toSchema({ type: "string", pattern }, { name: "t", role: "output" }).parse(text);
  if (!result.ok && result.issues[0]?.message.includes("cannot be checked"))
    throw new Error(result.issues[0].message);
  return result.ok;
}

describe("a pattern", () => {
  it("that backtracks for ever elsewhere ends at once, since the engine is linear", async () => {
    // A backtracking engine needs 2^50000 steps for each of these: the test could not end.
    expect(await matches("^(a+)+$", `${"a".repeat(50_000)}!`)).toBe(false);
    expect(await matches("^(a|a)*$", `${"a".repeat(50_000)}!`)).toBe(false);
    expect(await matches("^(?!.*!$)(a+)+$", "a".repeat(50_000))).toBe(true);
    expect(await matches("^([a-z0-9]+\\.?)+@x$", "a".repeat(50_000))).toBe(false);
  });

  it("of a property name is linear too", async () => {
    const schema = toSchema({ patternProperties: { "^(a+)+$": false } }, { name: "t", role: "output" });
    expect((await schema.parse({ [`${"a".repeat(50_000)}!`]: 1 })).ok).toBe(true);
    expect((await schema.parse({ aaa: 1 })).ok).toBe(false);
  });

  it("is told from the others of its schema", async () => {
    const schema = toSchema(
      { properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } },
      { name: "t", role: "output" },
    );
    expect((await schema.parse({ a: "a", b: "b" })).ok).toBe(true);
    expect((await schema.parse({ a: "b", b: "b" })).ok).toBe(false);
    expect((await schema.parse({ a: "a", b: "a" })).ok).toBe(false);
  });

  const texts = [
    "",
    "a",
    "A",
    "ab",
    "a.b",
    ".a",
    "a..b",
    "a@b.cd",
    "2024-01-31",
    "x y",
    "é",
    "π",
    "a\n",
    "-",
    "_x9",
    "aa1Z",
  ];
  it.each([
    "^[\\w-.]+$",
    "^\\S+@\\S+\\.\\S+$",
    "^(?<year>\\d{4})-\\d\\d-\\d\\d$",
    "^\\p{L}+$",
    "\\p{Lowercase_Letter}",
    "^\\p{Script=Greek}$",
    "^$|^a",
    "^(?!\\.)(?!.*\\.\\.)[a-z.]+$",
    "^(?=.*\\d)(?=.*[A-Z]).{3,}$",
    "^(?!a|b)[a-z]*$",
    "^[^\\]]\\u0041?$",
    "\\.",
    "^.$",
  ])("%s matches what JavaScript matches", async (pattern) => {
    let regular: RegExp;
    try {
      regular = new RegExp(pattern, "u");
    } catch {
      regular = new RegExp(pattern);
    }
    for (const text of texts)
      expect([text, await matches(pattern, text)]).toEqual([text, regular.test(text)]);
  });

  it("of a mail address as zod wrote it for years is accepted", async () => {
    const mail =
      "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";
    expect(await matches(mail, "someone@example.org")).toBe(true);
    expect(await matches(mail, "some..one@example.org")).toBe(false);
    expect(await matches(mail, ".someone@example.org")).toBe(false);
  });

  it.each<readonly [name: string, source: z.ZodType, fits: string]>([
    ["email", z.email(), "a@b.cd"],
    ["uuid", z.uuid(), "123e4567-e89b-42d3-a456-426614174000"],
    ["ipv4", z.ipv4(), "10.0.0.1"],
    ["ipv6", z.ipv6(), "::1"],
    ["cidrv4", z.cidrv4(), "10.0.0.0/8"],
    ["base64", z.base64(), "YQ=="],
    ["datetime", z.iso.datetime(), "2024-01-31T10:00:00Z"],
    ["date", z.iso.date(), "2024-02-29"],
    ["time", z.iso.time(), "10:00:00"],
    ["e164", z.e164(), "+4712345678"],
  ])("that zod writes for %s is accepted", async (_name, source, fits) => {
    const pattern = z.toJSONSchema(source).pattern;
    expect(typeof pattern).toBe("string");
    expect(await matches(String(pattern), fits)).toBe(true);
    expect(await matches(String(pattern), "no such thing")).toBe(false);
  });

  it.each<readonly [pattern: string, feature: string]>([
    ["a(?=b)", "look-ahead"],
    ["(?=a)b", "look-ahead"],
    ["^(?=a)*b", "look-ahead"],
    ["^(?=a)b|c", "look-ahead"],
    ["^(?=a(?!b))c", "look-ahead"],
    ["(?<=a)b", "look-behind"],
    ["(?<!a)b", "look-behind"],
    ["(a)\\1", "a back-reference"],
    ["(?<n>a)\\k<n>", "a back-reference"],
    ["a{1001}", "more than 1000 repetitions"],
    ["a{1,2000}", "more than 1000 repetitions"],
  ])("%s is refused for %s", (pattern, feature) => {
    expect(splitPattern(pattern)).toEqual({
      fault: `is the pattern ${JSON.stringify(pattern)} with ${feature}, which cannot be matched in linear time`,
    });
  });

  it.each(["[(?=]", "\\(?=a", "[\\](?=]", "[(a)\\1]x{999}", "(?<name>a)", "\\\\1"])(
    "%s only looks like such",
    (pattern) => {
      expect(splitPattern(pattern)).toMatchObject({ body: pattern });
    },
  );
});
