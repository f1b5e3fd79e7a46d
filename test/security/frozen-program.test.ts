import { describe, expect, it } from "vitest";
import { readFields } from "../../src/adapters/files/located.ts";
import { mcpTools } from "../../src/adapters/mcp/tools.ts";
import { agent, guarded, tool } from "../../src/index.ts";
import type { JsonSchema } from "../../src/tools.ts";
import { toSchema } from "../../src/schema/to-schema.ts";
import { scripted } from "../../src/testing.ts";
import type { Json } from "../../src/util/json.ts";
import { cpuMsUntil } from "../cpu-time.ts";

const list = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));
const within = (part: JsonSchema): JsonSchema => ({ type: "object", properties: { a: part } });

/** A pair of a schema and a value that took 16 s to hours: their product had no bound. */
const pairs: readonly [what: string, part: JsonSchema, value: () => Json][] = [
  ["items that must differ", { uniqueItems: true }, () => list(20_000, (k) => ({ k }))],
  [
    "hundreds of alternatives for each item",
    { items: { anyOf: list(900, (each) => ({ const: `x${each}` })) } },
    () => list(20_000, () => "zzzz"),
  ],
  [
    "a long choice for each item",
    { items: { enum: list(4000, (each) => `x${each}`) } },
    () => list(100_000, () => "x3999"),
  ],
];

async function answerOfServer(outputSchema: JsonSchema, structuredContent: Json): Promise<string> {
  const listed = { tools: [{ name: "go", inputSchema: { type: "object" }, outputSchema }] };
  const client = {
    listTools: async () => listed,
    callTool: async () => ({ content: [], structuredContent }),
  };
  const tools = await mcpTools(client, { server: "s", timeoutMs: 1000 });
  const model = scripted([{ calls: [{ name: "s/go", arguments: {} }] }, "ok"]);
  const run = await agent({ name: "a", model, tools }).run("x");
  return run.outcome.type;
}

async function argumentsOfModel(part: JsonSchema, value: Json): Promise<string> {
  const parameters = { a: { role: "target", type: "email" } } as const;
  const about = { description: "d", effect: "irreversible", inputSchema: within(part), parameters } as const;
  const send = tool({ name: "send", ...about, execute: () => "sent" });
  const model = scripted([{ calls: [{ name: "send", arguments: { a: value } }] }, "ok"]);
  const sender = agent({ name: "a", model, tools: [send], policy: guarded() });
  return (await sender.run("Write to ada@example.com", { approve: () => false })).outcome.type;
}

// A quarter of a megabyte; 100 ms of work on a quiet machine.
const bound = 1500;

describe("a stranger's data under a stranger's schema", () => {
  it.each(pairs)(
    "give the program back at once, as an answer of a server: %s",
    async (_what, part, value) => {
      const given = value();
      const ms = await cpuMsUntil(bound, async () => {
        expect(await answerOfServer(within(part), { a: given })).toBe("answered");
      });
      expect(ms).toBeLessThan(bound);
    },
  );

  it.each(pairs)("do so as arguments of a model, up to the question: %s", async (_what, part, value) => {
    const given = value();
    const ms = await cpuMsUntil(bound, async () => {
      expect(await argumentsOfModel(part, given)).toBe("answered");
    });
    expect(ms).toBeLessThan(bound);
  });

  // The same small program makes more than the engine of patterns can keep.
  const text = list(3000, (index) => "ab"[(index * index * 7 + (index >> 3)) % 2] ?? "").join("");
  it.each<[string, JsonSchema]>([
    ["one that remembers much", { pattern: "[ab]{0,900}[ac]{0,900}$" }],
    ["one that remembers each place", { pattern: "^[ab]*a[ab]{900}$" }],
    [
      "a thousand that remember some",
      { allOf: list(1000, (each) => ({ pattern: `^[ab]*a[ab]{20}[a-z]{${each % 7},${(each % 9) + 7}}$` })) },
    ],
    [
      "a thousand that are long when written out",
      {
        properties: Object.fromEntries(
          list(1400, (each) => [`k${each}`, { pattern: `[ab]{0,999}x{${each % 900}}` }]),
        ),
      },
    ],
    ["look-ahead after look-ahead", { pattern: `^${"(?!ab)".repeat(6000)}x` }],
  ])("cost little however the patterns are made: %s", async (_what, schema) => {
    const values = ["", "a".repeat(3000), text, text.replaceAll("b", "c"), text.slice(7) + text.slice(0, 7)];
    const ms = await cpuMsUntil(bound, async () => {
      const made = toSchema(schema, { name: "t", role: "output" });
      for (const value of values) await made.parse(value);
    });
    expect(ms).toBeLessThan(bound);
  });

  it("takes patterns that people write, however much text they judge", async () => {
    const patterns: readonly [string, string][] = [
      ["^\\d{4}-\\d{2}-\\d{2}$", "2026-01-31"],
      [
        "^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
        "123e4567-e89b-12d3-a456-426614174000",
      ],
      ["^\\p{L}{1,64}( \\p{L}{1,64}){0,8}$", "Anna Maria Lüdenscheidt von Arnim"],
      ["^(https?://)?([\\w-]+\\.)+[\\w-]+(/[\\w- ./?%&=]*)?$", "https://www.example.com/some/path?x=1"],
      ["[\\w.+-]+@[\\w-]+\\.[\\w.]+", "somebody.else+tag@mail.example.com"],
      ["^[A-Za-z0-9+/=]{4,1000}$", "c29tZSB0ZXh0IHRoYXQgaXMgYmFzZTY0IG9mIHNvbWV0aGluZw=="],
    ];
    for (const [pattern, text] of patterns) {
      const made = toSchema({ items: { pattern } }, { name: "t", role: "output" });
      expect(await made.parse(list(20_000, () => text)), pattern).toMatchObject({ ok: true });
    }
  });
});

describe("a file of a stranger", () => {
  it("with 20 000 names is read at once", async () => {
    const text = `metadata:\n${list(20_000, (index) => `  k${index}: v`).join("\n")}`;
    const ms = await cpuMsUntil(bound, async () => {
      expect(await readFields({ text, format: "strings" })).toMatchObject({ ok: true });
    });
    expect(ms).toBeLessThan(bound);
  });
});
