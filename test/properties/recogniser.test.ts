import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recogniser } from "../../src/driver/recognise/recogniser.ts";
import type { RecogniserMode } from "../../src/driver/recognise/recognise.ts";
import { tools } from "../unit/driver/recognise/tools.ts";

const modes: readonly RecogniserMode[] = ["strict", "safe", "lenient"];
const names = new Set(tools.map(({ name }) => name));

/** Pieces of which texts are made that look like calls. */
const pieces = [
  "<tool_call>|</tool_call>|```|```json\n|[TOOL_CALLS]|<function=ping>|<parameter=a>|@tool |get_weather|math.add|ping|(|)|[|]|{|}|\"|'|,",
  ':|=|\\|\n| |"name": |"arguments": |city=\'Lima\'|a=1|1|True|null|__proto__|For example, |[]',
].flatMap((line) => line.split("|"));
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join("")),
);

describe("the recogniser", () => {
  it("never throws, and takes calls of known tools alone, whatever the text", () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...modes), fc.boolean(), (given, mode, cut) => {
        const { calls, refused } = recogniser(tools, mode).read(given, { cut, said: given.slice(0, 50) });
        expect(calls.every(({ name }) => names.has(name))).toBe(true);
        if (cut) expect(calls).toEqual([]);
        expect([...calls, ...refused].length === 0 || given.trim() !== "").toBe(true);
        expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  it("takes no more in a stricter mode", () => {
    fc.assert(
      fc.property(text, (given) => {
        const [strict = 0, safe = 0, lenient = 0] = modes.map(
          (mode) => recogniser(tools, mode).read(given, { said: "" }).calls.length,
        );
        expect(strict === 0 || strict <= lenient).toBe(true);
        expect(safe).toBeLessThanOrEqual(lenient);
      }),
      { numRuns: 1000 },
    );
  });

  it("reads back any arguments, as JSON and between tags", () => {
    const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 3 }), {
      maxKeys: 4,
    });
    const finder = recogniser(
      [{ name: "save", inputSchema: { type: "object", additionalProperties: true } }],
      "strict",
    );
    fc.assert(
      fc.property(args, (given) => {
        fc.pre(!/"(?:__proto__|prototype)"/.test(JSON.stringify(given))); // refused, as in all JSON from outside
        const call = JSON.stringify({ name: "save", arguments: given });
        const expected = [{ name: "save", arguments: JSON.parse(JSON.stringify(given)) as unknown }];
        for (const written of [call, `<tool_call>\n${call}\n</tool_call>`, `[TOOL_CALLS] [${call}]`])
          expect(finder.read(written).calls).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it("shows of a stream only its beginning, and never a part of a call", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 40 }), (given, sizes) => {
        const stream = recogniser(tools).stream();
        let shown = "";
        let at = 0;
        for (let index = 0; at < given.length; index += 1) {
          const end = at + 1 + (sizes[index % sizes.length] ?? 0);
          shown += stream.push(given.slice(at, end));
          at = end;
        }
        expect(given.startsWith(shown)).toBe(true);
        expect(stream.end({ said: given })).toEqual(recogniser(tools).read(given, { said: given }));
        expect(recogniser(tools, "lenient").read(shown).calls).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("hostile text", () => {
  const units = [
    "[|{|(|<|'|\"|\\|`|\n| |#|//|a-|a.|a::|1|1,111|9**|1+|f(|f(a=|f(a='|{\"a\":|['f', |f {|f()\n|[# |A, |a=b, |f(a=x(|```f(|```json",
    "<tool_call>|<tool_call>f\n|<arg_value>|<parameter=a>|[TOOL_CALLS]f[CALL_ID]|Action: f\n|@tool f |x[|g(",
  ].flatMap((line) => line.split("|"));
  const beginnings = ["", "[", "f(a=", '{"a": "', "[TOOL_CALLS]f", "```"];

  it("of 20 kB is read in steps that grow with its length: what is more than that comes to no end here", () => {
    const finder = recogniser([{ name: "f", inputSchema: { properties: { a: { type: "string" } } } }]);
    const call = '{"name": "f", "arguments": {"a": "x"}}';
    for (const unit of units) {
      const repeated = unit.repeat(20_000 / unit.length);
      for (const beginning of beginnings) finder.read(beginning + repeated);
      finder.read(call, { said: repeated });
      for (const piece of [repeated, unit]) finder.stream().push(piece);
    }
  });
});

const outputs = join(import.meta.dirname, "../../../shared/data/bfcl-raw-outputs/result");
const isThere = existsSync(outputs);
if (!isThere) console.log("skipped: the recorded outputs of BFCL are not in ../shared/data/bfcl-raw-outputs");

describe.skipIf(!isThere)("on what 25 models wrote", () => {
  it("throws on no prefix of 2 000 of their outputs", () => {
    const texts = readdirSync(outputs).flatMap((model) =>
      readdirSync(join(outputs, model)).flatMap((file) =>
        readFileSync(join(outputs, model, file), "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => (JSON.parse(line) as { result: unknown }).result)
          .filter((result) => typeof result === "string"),
      ),
    );
    const finder = recogniser(tools);
    const chosen = texts
      .filter((_text, index) => index % Math.floor(texts.length / 2000) === 0)
      .slice(0, 2000);
    expect(chosen).toHaveLength(2000);
    for (const written of chosen)
      for (let end = 0; end <= written.length; end += Math.max(1, Math.floor(written.length / 40)))
        finder.read(written.slice(0, end));
  });
});
