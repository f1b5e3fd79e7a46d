import { describe, expect, it } from "vitest";
import { recogniser } from "../../../../src/driver/recognise/recogniser.ts";
import type { KnownTool } from "../../../../src/driver/recognise/recognise.ts";
import { tools } from "./tools.ts";

const call = "get_weather(city='Lima')";
const json = '{"name": "get_weather", "arguments": {"city": "Lima"}}';

describe("what is no call", () => {
  const finder = recogniser(tools);
  it.each([
    ["prose", "It is warm in Lima."],
    ["the empty text", ""],
    ["an empty list", "[]"],
    ["an empty list, then an explanation", `[] // ${call} would not help`],
    ["an empty list with a blank, then an explanation", `[ ] // ${call} would not help`],
    ["an empty list, then a call on the next line", `[ ]\n${call}`],
    ["a name alone", "You could use get_weather for that."],
    ["an unknown tool", '<tool_call>{"name": "get_horror_movies", "arguments": {}}</tool_call>'],
    [
      "the definition of a tool",
      '[{"name": "get_weather", "description": "Weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]',
    ],
    ["a definition in code", "def get_weather(city='Lima'):\n    pass"],
    ["a program", "```python\nweather = get_weather(city='Lima')\nprint(weather)\n```"],
    [
      "what stands in an argument",
      '{"name": "notes.save", "arguments": {"note": {"text": "<tool_call>ping()</tool_call>"}}}',
    ],
  ])("%s", (_what, text) => {
    expect(finder.read(text).calls.filter(({ name }) => name !== "notes.save")).toEqual([]);
  });
});

describe("what only looks like a call, in every mode", () => {
  it.each([
    ["a quoted line", "The user wrote:\n> ping()"],
    ["a sentence that forbids it", "Never run ping() on production!"],
    ["a sentence that denies it", "I will not call ping()."],
    ["a sentence that tells of it", "I have called ping() and it worked."],
    ["a question", "Shall I run ping() now?"],
    ["another language", "Zum Beispiel könnte man ping() aufrufen."],
    ["a name and an object in a sentence", 'The tool ping {"x": 1} would do.'],
    ["an argument that is never closed", "note(text=\"then run get_weather(city='Lima')\""],
    ["an argument of an unknown call", 'I will use create_script(content="ping()")'],
    ["thinking", "<think>maybe <tool_call>ping()</tool_call>? No.</think>It is warm."],
    ["thinking further on", "Let me see. <think>a</think> Well. <think><tool_call>ping()</tool_call>"],
    ["thinking without a beginning", "<tool_call>ping()</tool_call></think>It is warm."],
    ["Mistral's thinking", "[THINK]\nping()\n[/THINK]\nIt is warm."],
    ["Harmony's thinking", "<|channel|>analysis<|message|>to=functions.ping {} <|end|>It is warm."],
    ["a list that was cut off", '[{"name": "ping", "arguments": {}}, {"name": "get_weather", "argu'],
    [
      "a call behind which another was cut off",
      '<tool_call>{"name": "ping", "arguments": {}}</tool_call>\n<tool_call>{"name": "get_we',
    ],
    ["the tool of another", "mailbox.ping()"],
    ["names alone", '["ping"]'],
    ["names alone in an object", '{"tools": ["ping"]}'],
    ["a definition without parameters", '{"name": "ping", "description": "Pings.", "parameters": {}}'],
    ["a definition as MCP has it", '{"name": "ping", "inputSchema": {"type": "object"}}'],
    ["a definition with an empty schema", '{"name": "ping", "parameters": {"type": "object"}}'],
    ["an argument that is given twice", "get_weather(city='Lima', city='Oslo')"],
    ["a call deep in lists", `[[[[[${json}]]]]]`],
    ["a comma in a number", "get_weather(city='Lima', days=1,000)"],
  ])("%s", (_what, text) => {
    for (const mode of ["strict", "safe", "lenient"] as const)
      expect(recogniser(tools, mode).read(text).calls, mode).toEqual([]);
  });

  it.each(["quote", "think", "b"])("marks of another kind around it, strictly: %s", (mark) => {
    const quoted = `<${mark}><tool_call>{"name": "ping", "arguments": {}}</tool_call></${mark}>`;
    expect(recogniser(tools, "strict").read(quoted).calls).toEqual([]);
  });

  it("is looked for in a mode that there is", () => {
    expect(() => recogniser(tools, "lax" as "safe")).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });

  it("takes no tool without a schema", () => {
    const bare = [{ name: "look" }] as unknown as readonly KnownTool[];
    const message =
      "recogniser(): `tools[0]` must be a tool or an object with `name` and `inputSchema`, got an object.";
    expect(() => recogniser(bare)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) }),
    );
  });

  it("says in a sentence what it converted", () => {
    const { repairs } = recogniser(tools).read(
      '{"name":"get_weather","arguments":{"city":"Lima","days":"3"}}',
    );
    expect(repairs).toEqual(['the argument "days" was converted to integer']);
  });

  it("takes only what safe may take of a quoted mark", () => {
    const quoted = 'The page says: "<tool_call>{"name": "ping", "arguments": {}}</tool_call>". I ignored it.';
    expect(recogniser(tools, "safe").read(quoted).refused[0]?.reason).toBe("it is quoted");
    expect(recogniser(tools, "lenient").read(quoted).calls).toHaveLength(1);
  });

  it("refuses an argument that a closed schema does not have, since the tool would do something else", () => {
    const closed = [
      { name: "remove", inputSchema: { properties: { path: {} }, additionalProperties: false } },
    ];
    const text = "remove(path='/x', dry_run=True)";
    expect(recogniser(closed).read(text).refused[0]?.reason).toBe('there is no argument "dry_run"');
    expect(recogniser(closed, "lenient").read(text).repairs.join()).toContain('"dry_run" was left out');
  });

  it("loses no argument that has its name in a choice beside the others, or in a pattern", () => {
    const find: KnownTool = {
      name: "find",
      inputSchema: {
        properties: { by: { enum: ["city", "place"] } },
        oneOf: [
          { properties: { by: { const: "city" }, city: { type: "string" } }, required: ["city"] },
          { properties: { by: { const: "place" }, lat: { type: "number" } }, required: ["lat"] },
        ],
      },
    };
    const [found] = recogniser([find]).read('find(by="city", city="Lima", max=3)').calls;
    expect(found?.arguments).toEqual({ by: "city", city: "Lima" });
    const tagged = {
      name: "tag",
      inputSchema: { properties: { id: {} }, patternProperties: { "^x_": {} }, additionalProperties: false },
    };
    const [tag] = recogniser([tagged]).read("tag(id=1, x_color='red')").calls;
    expect(tag?.arguments).toEqual({ id: 1, x_color: "red" });
  });

  it("loses no argument that is called like what often stands beside a name", () => {
    const purge = [{ name: "purge", inputSchema: { properties: { type: { type: "string" } } } }];
    const { calls } = recogniser(purge, "strict").read('{"tool": "purge", "type": "temp", "id": "call_1"}');
    expect(calls).toEqual([{ name: "purge", arguments: { type: "temp" } }]);
  });
});

describe("values", () => {
  const note = [{ name: "note", inputSchema: { properties: { text: { type: "string" } } } }];
  it.each([
    [String.raw`note(text="\d+\.txt")`, String.raw`\d+\.txt`.replaceAll("\\\\", "\\")],
    [String.raw`note(text="\d+")`, String.raw`\d+`],
    [String.raw`note(text=r"C:\new\table")`, String.raw`C:\new\table`],
    [String.raw`note(text="\U0001F600 \u00e9 \x41")`, "😀 é A"],
    ["note(text=02134)", "02134"],
    ["note(text=2024-01-05)", "2024-01-05"],
    ["note(text=555-1234)", "555-1234"],
    [String.raw`note(text='\[x\] \*b\*')`, String.raw`\[x\] \*b\*`],
    [
      '{"name": "note", "arguments": {"text": "Your order has shipped. [1,2]"}}',
      "Your order has shipped. [1,2]",
    ],
  ])("stay what they are: %s", (written, text) => {
    expect(recogniser(note).read(written).calls[0]?.arguments).toEqual({ text });
  });

  it("become a list where one is wanted, also inside of an item of a list", () => {
    const tags = { type: "array", items: { type: "string" } };
    const items = { type: "object", properties: { tags } };
    const save = [{ name: "save", inputSchema: { properties: { tags, notes: { type: "array", items } } } }];
    const [found] = recogniser(save).read('save(tags="a", notes=[{"tags": "b"}])').calls;
    expect(found?.arguments).toEqual({ tags: ["a"], notes: [{ tags: ["b"] }] });
  });

  it("are not two texts where one is wanted", () => {
    expect(recogniser(note).read('note(text="a" "b")').calls).toEqual([]);
  });

  it("are not taken for a place to fill in where the schema has them as a choice", () => {
    const level = [{ name: "log", inputSchema: { properties: { level: { enum: ["none", "unknown"] } } } }];
    expect(recogniser(level).read('log(level="none")').calls).toHaveLength(1);
  });
});

describe("calls that safe refuses and lenient takes", () => {
  it.each([
    ["an example", `For example, one could write:\n\n${call}`],
    ["a denial before", `None of the tools fit. One could still do this:\n${call}`],
    ["an objection after", `${call}\n\nHowever, this does not answer the question.`],
    ["a refusal before", `I will not call this:\n${call}`],
    ["a warning before", `You should never run the following:\n\`\`\`python\n${call}\n\`\`\``],
    ["the words of another", `The file says:\n<tool_call>${json}</tool_call>\nwhich I will ignore.`],
    ["a question for more", `Please provide the dates.\n<tool_call>${json}</tool_call>`],
    ["a place to fill in", "get_weather(city='<your city>')"],
    ["a format to fill in", "get_weather(city='YYYY-MM-DD')"],
  ])("%s", (_what, text) => {
    const { calls, refused } = recogniser(tools, "safe").read(text);
    expect(calls).toEqual([]);
    expect(refused).toHaveLength(1);
    expect(recogniser(tools, "lenient").read(text).calls).toHaveLength(1);
  });

  it("refuses a call most of whose arguments nobody said, when it knows what was said", () => {
    const text = "get_weather(city='Oslo', days=7)";
    const finder = recogniser(tools, "safe");
    expect(finder.read(text, { said: "What is the weather in Lima?" })).toMatchObject({
      calls: [],
      refused: [{ name: "get_weather", reason: "most of its arguments were never said" }],
    });
    expect(finder.read(text, { said: "And in oslo?" }).calls).toHaveLength(1);
    expect(finder.read(text).calls).toHaveLength(1);
    expect(recogniser(tools, "lenient").read(text, { said: "nothing" }).calls).toHaveLength(1);
    const place = "math.add(a=52.52, b=13.4)"; // two numbers alone are known, not said
    expect(finder.read(place, { said: "nothing" }).calls).toHaveLength(1);
  });

  it.each([
    ["another case", "get_weather(city='LIMA')"],
    ["an accent", "get_weather(city='Lìma')"],
    ["a percentage", "math.add(a=0.3, b=1)"],
    ["a number as a word", "math.add(a=12, b=0)"],
    ["a choice that the schema names", "get_weather(city='Lima', unit='celsius')"],
  ])("takes what was said in another spelling: %s", (_what, text) => {
    const said = "Weather for Lima: 30 % of a dozen?";
    expect(recogniser(tools).read(text, { said }).calls).toHaveLength(1);
  });
});

describe("what was cut off", () => {
  it("gives no call, whatever can be read of it", () => {
    const finder = recogniser(tools, "lenient");
    expect(finder.read(call, { cut: true }).calls).toEqual([]);
    expect(finder.read(`[${call}, get_wea`).calls).toEqual([]);
    expect(finder.read(`[${call}, get_weather(city='Os`).calls).toEqual([]);
    expect(finder.read('<tool_call>{"name": "get_weather", "arguments": {"city": "Li').calls).toEqual([]);
  });

  it("is not what a model writes for others after its own turn", () => {
    const { calls } = recogniser(tools).read(`${call}\n### Instruction:\nNow ping()\n### Response:\nping()`);
    expect(calls.map(({ name }) => name)).toEqual(["get_weather"]);
  });
});

describe("what looks like the turn of another inside of an argument", () => {
  it.each(["<s>x</s>", "a <think>x</think> b", "[INST] x", "a\\n### Response:\\nb", "<|im_end|>"])(
    "belongs to it: %s",
    (inside) => {
      const finder = recogniser(tools);
      const note = `{"name": "notes.save", "arguments": {"note": {"text": "${inside}"}}}`;
      const expected = [{ text: JSON.parse(`"${inside}"`) as unknown }];
      for (const written of [note, `<tool_call>\n${note}\n</tool_call>`])
        expect(finder.read(written).calls.map((call) => call.arguments["note"])).toEqual(expected);
    },
  );

  it.each(["## Tasks", "User: hi", "Result: 3", "### Response:"])(
    "belongs to it at the beginning of a line too, behind words and in a fence: %s",
    (line) => {
      const text = `a\n${line}\nb`;
      const save = `notes.save(note={"text": """${text}"""})`;
      const asJson = `{"name": "notes.save", "arguments": {"note": {"text": "${text}"}}}`;
      for (const written of [save, `\`\`\`\n${save}\n\`\`\``, asJson])
        expect(recogniser(tools).read(`I save it.\n${written}\nThat is all.`).calls).toEqual([
          { name: "notes.save", arguments: { note: { text } } },
        ]);
    },
  );

  it("makes no call of what stands under a heading of another, as if that were a comment", () => {
    for (const between of ["### Response:", "## Task 2", "### Output:"]) {
      const { calls } = recogniser(tools).read(`${call}\n${between}\nping()`);
      expect(calls.map(({ name }) => name)).toEqual(["get_weather"]);
    }
    const commented = recogniser(tools).read(`[${call},\n## and then\nping()]`);
    expect(commented.calls.map(({ name }) => name)).toEqual(["get_weather", "ping"]);
  });

  it("makes no call of what the model writes for another", () => {
    expect(
      recogniser(tools).read("I cannot.\n### Instruction:\n<tool_call>ping()</tool_call>").calls,
    ).toEqual([]);
  });
});

describe("calls that lack something", () => {
  it("are refused with what they lack", () => {
    const finder = recogniser(tools, "lenient");
    expect(finder.read("get_weather(days=2)").refused).toEqual([
      { name: "get_weather", reason: 'the argument "city" is missing' },
    ]);
    expect(finder.read("get_weather(city='Lima', unit='kelvin')").refused[0]?.reason).toContain("choices");
    expect(finder.read("math.add(a='x', b=1)").refused[0]?.reason).toContain("no number");
  });

  it("do not keep others from being taken", () => {
    const { calls, refused } = recogniser(tools).read("[ping(), get_weather(days=2)]");
    expect(calls).toEqual([{ name: "ping", arguments: {} }]);
    expect(refused).toHaveLength(1);
  });
});

describe("strict", () => {
  const finder = recogniser(tools, "strict");
  it("takes text that is calls and nothing else, exactly", () => {
    expect(finder.read(json).calls).toHaveLength(1);
    expect(finder.read(`<tool_call>\n${json}\n</tool_call>`).calls).toHaveLength(1);
    expect(finder.read(call).calls).toHaveLength(1);
  });
  it.each([
    ["words around", `Sure! ${json}`],
    ["a fence", `\`\`\`\n${call}\n\`\`\``],
    ["words without quotes", "get_weather(city=Lima)"],
    ["a text for a number", '{"name": "get_weather", "arguments": {"city": "Lima", "days": "3"}}'],
    ["another name", '{"name": "Get_Weather", "arguments": {"city": "Lima"}}'],
  ])("refuses %s", (_what, text) => {
    expect(finder.read(text)).toMatchObject({ calls: [], refused: [{ name: expect.any(String) as string }] });
  });
});

describe("a word without quotes", () => {
  const finder = recogniser(tools);
  it.each([
    ["None of these", "begins with a word of Python"],
    ["True North", "begins with a truth value"],
    ["12 Oaks", "begins with a number"],
    ["2024-01-05", "is a date"],
    ["Lima: Peru", "has a colon"],
  ])("is the whole text up to the end of its argument: %s, which %s", (city) => {
    const { calls } = finder.read(`get_weather(city=${city}, days=3)`);
    expect(calls.map((call) => call.arguments)).toEqual([{ city, days: 3 }]);
  });

  it("is no argument where it goes on as something else", () => {
    expect(finder.read("get_weather(city=Lima 'Peru')").calls).toEqual([]);
  });

  it("is kept whole in a list with the name first", () => {
    const { calls } = finder.read(`["get_weather", "city=Lima 'Peru'", "days=3"]`);
    expect(calls.map((call) => call.arguments)).toEqual([{ city: "Lima 'Peru'", days: 3 }]);
  });
});
