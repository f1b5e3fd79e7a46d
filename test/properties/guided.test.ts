import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { guidedDriver } from "../../src/drivers.ts";
import { tool } from "../../src/index.ts";
import { callsOf, userMessage } from "../../src/message/message.ts";
import {
  addReply,
  addUser,
  emptyTranscript,
  settleAll,
  type ReadyTranscript,
} from "../../src/message/transcript.ts";
import { datesIn } from "../../src/driver/guided/places.ts";
import type { DriverDecision, TurnInput } from "../../src/driver/driver.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../src/util/json.ts";
import { readGbnf } from "../gbnf.ts";
import { replyOf, turnOf } from "../unit/driver/turn.ts";
import { randomFrom } from "../random.ts";

const names = [
  "city",
  "date",
  "amount",
  "count",
  "title",
  "text",
  "room",
  "on",
  "kind",
  "guests",
  "start",
  "code",
];
const values: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom<JsonObject>(
    { type: "string" },
    { type: "string", description: "like C-100" },
    { type: "string", description: "YYYY-MM-DD" },
    { type: "string", minLength: 3, maxLength: 8 },
    { type: "string", pattern: "^[a-z]+$" },
    { type: "number" },
    { type: "number", description: "a percentage" },
    { type: "integer", minimum: 1, maximum: 50 },
    { type: "boolean" },
    { enum: ["low", "high", 3] },
    { const: "fixed" },
    { type: "array", items: { type: "number" }, minItems: 2 },
    { type: "array", items: { type: "string" } },
    { type: ["string", "null"] },
    { anyOf: [{ type: "integer" }, { type: "null" }] },
  ),
);
const objects = (depth: number): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(
      fc.dictionary(fc.constantFrom(...names), depth === 0 ? values : fc.oneof(values, objects(depth - 1)), {
        maxKeys: 4,
      }),
      fc.boolean(),
    )
    .map(([properties, all]) => ({
      type: "object",
      properties,
      required: all ? Object.keys(properties) : Object.keys(properties).slice(0, 1),
      additionalProperties: false,
    }));
const tools = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("weather", "set_light", "add", "calendar.v1.add_event"),
    description: fc.constantFrom("The weather in a city", "Switch a light", "Add numbers: a + b", ""),
    inputSchema: objects(1),
  }),
  { minLength: 1, maxLength: 4, selector: ({ name }) => name },
);
const words = fc.constantFrom(
  "weather",
  "in",
  "Oslo",
  "and",
  "Cairo",
  "light",
  "add",
  "3",
  "-4.5",
  "1,200",
  "C-204",
  "2031-05-06",
  "14:30",
  '"Budget review"',
  "the",
  "kitchen",
  "off",
  "high",
  "5%",
  "half",
  "two",
  "wie",
  "ist",
  "das",
  "Wetter",
  "quel",
  "temps",
  "on",
  "plan.txt",
  "(",
  ")",
  "+",
  ",",
  ":",
  "'s",
  "Müller",
  "\n",
  "世界",
  "title",
  "date",
);
const requests = fc.oneof(
  fc.array(words, { maxLength: 14 }).map((list) => list.join(" ")),
  fc.string(),
  fc.string({ unit: "binary" }),
);

/** A turn whose request is this text, with the calls and results before it. */
function turnWith(
  request: string,
  made: readonly Tool[],
  { results }: { readonly results: readonly string[] },
): TurnInput {
  const base = turnOf({ tools: made, features: { format: "grammar", completion: true, small: true } });
  let transcript: ReadyTranscript = addUser(emptyTranscript(), userMessage(request));
  results.forEach((text, index) => {
    const id = `call_${index}`;
    const name = made[index % made.length]?.name ?? "add";
    const open = addReply(transcript, {
      role: "assistant",
      parts: [{ type: "tool-call", id, name, arguments: {} }],
    });
    if (open.state === "open") transcript = settleAll(open, () => ({ status: "ok", text }));
  });
  return { ...base, transcript };
}

/** A decision whose model writes anything that its grammar allows. */
async function decided(
  turn: TurnInput,
  seed: number,
): Promise<{ readonly decision: DriverDecision; readonly written: readonly string[] }> {
  const written: string[] = [];
  const random = randomFrom(seed);
  const decision = await guidedDriver().decide?.(turn, async ({ format }: ModelRequest) => {
    const text = format?.type === "grammar" ? (readGbnf(format.grammar).sample(random) ?? "") : "So be it.";
    written.push(text);
    return replyOf(text);
  });
  if (decision === undefined) throw new Error("the driver decides");
  return { decision, written };
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((each: Json) => textsIn(each));
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** All that was said: the request, the results, the texts inside results, and dates in their canonical spelling. */
function saidIn(request: string, results: readonly string[]): string {
  const inside = results.flatMap((text) => {
    const parsed = parseJson(text);
    return parsed.ok ? textsIn(parsed.value) : [];
  });
  const texts = [request, ...results, ...inside];
  const dates = texts.flatMap((text) => datesIn(text).map(({ value }) => String(value)));
  return [...texts, ...dates].join("\n");
}

/** Values that the schema names. */
function named(schema: Json): readonly Json[] {
  if (Array.isArray(schema)) return schema.flatMap((each: Json) => named(each));
  if (!isJsonObject(schema)) return [];
  const { enum: choices, const: only } = schema;
  const own = [...(Array.isArray(choices) ? choices : []), ...(only === undefined ? [] : [only])];
  return [...own, ...Object.values(schema).flatMap(named)];
}

const results = fc.array(
  fc.oneof(
    fc.constantFrom(
      '{"id":"C-204"}',
      '"sunny in Oslo"',
      "42",
      '["Birch","Cedar"]',
      '{"day":{"date":"2031-05-06"}}',
      "null",
    ),
    fc.string(),
    fc.json(),
  ),
  { maxLength: 2 },
);

describe("guided, whatever is said", () => {
  it("never throws, calls only what is there, with arguments that the schema takes and texts that were said, named or written", async () => {
    let called = 0;
    await fc.assert(
      fc.asyncProperty(
        tools,
        fc.tuple(requests, results),
        fc.nat(),
        async (definitions, [request, before], seed) => {
          const made = definitions.map((definition) => tool({ ...definition, execute: () => null }));
          const { decision, written } = await decided(turnWith(request, made, { results: before }), seed);
          if (decision.type !== "calls") return;
          const calls = "calls" in decision ? decision.calls : callsOf(decision.message);
          const said = saidIn(request, before);
          const byModel = written.flatMap((text) => {
            const parsed = parseJson(text);
            return parsed.ok ? textsIn(parsed.value) : [];
          });
          for (const { name, arguments: args } of calls) {
            const own = made.find((each) => each.name === name);
            expect(own, name).toBeDefined();
            expect(await own?.input.parse(args)).toMatchObject({ ok: true });
            const known = new Set<Json>([...named(own?.input.jsonSchema ?? null), ...byModel]);
            for (const text of textsIn(args)) expect(known.has(text) || said.includes(text), text).toBe(true);
            called += 1;
          }
        },
      ),
      { numRuns: 1500, seed: 19 },
    );
    expect(called).toBeGreaterThan(50);
  });

  it("decides a request of any length in bounded work", async () => {
    const long = "weather in Oslo and 3 'x y' at 14:30 that ".repeat(20_000);
    const [definition] = fc.sample(tools, 1);
    if (definition === undefined) return;
    const made = definition.map((each) => tool({ ...each, execute: () => null }));
    const { decision } = await decided(turnWith(long, made, { results: [long] }), 1);
    expect(["calls", "final", "violation"]).toContain(decision.type);
  });
});
