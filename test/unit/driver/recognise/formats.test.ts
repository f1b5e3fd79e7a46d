import { describe, expect, it } from "vitest";
import { recogniser } from "../../../../src/driver/recognise/recogniser.ts";
import { lima, tools } from "./tools.ts";

const json = '{"name": "get_weather", "arguments": {"city": "Lima", "days": 3}}';

/** What models write for one call, by the format. */
const oneCall: readonly (readonly [format: string, text: string])[] = [
  ["Hermes, Qwen", `<tool_call>\n${json}\n</tool_call>`],
  [
    "Hermes in Python",
    `<tool_call>\n{'arguments': {'city': 'Lima', 'days': 3}, 'name': 'get_weather'}\n</tool_call>`,
  ],
  ["Hermes without its end", `<tool_call>\n${json}`],
  ["an expression between tags", "<tool_call>get_weather(city: 'Lima', days: 3)</tool_call>"],
  ["Granite", `<function_call> ${json}`],
  [
    "Qwen-Coder",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "Qwen-Coder without the end of the function",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima\n</parameter>\n<parameter=days>\n3\n</parameter>\n</tool_call>",
  ],
  [
    "Qwen-Coder without the ends of the arguments",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima\n<parameter=days>\n3\n</function>\n</tool_call>",
  ],
  [
    "Qwen-Coder without the end of the last argument",
    "<function=get_weather>\n<parameter=city>\nLima\n</parameter>\n<parameter=days>\n3\n</function>",
  ],
  [
    "Claude without the ends of the arguments",
    '<invoke name="get_weather">\n<parameter name="city">Lima\n<parameter name="days">3\n</invoke>',
  ],
  [
    "GLM",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Lima</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
  ],
  [
    "Claude, MiniMax",
    '<invoke name="get_weather"><parameter name="city">Lima</parameter><parameter name="days">3</parameter></invoke>',
  ],
  [
    "Llama 3 with its mark",
    '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Lima", "days": 3}}',
  ],
  ["Llama 3.1 by name", '<function=get_weather>{"city": "Lima", "days": 3}</function>'],
  [
    "DeepSeek V3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Lima</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  ],
  ["Llama 3 bare", '{"name": "get_weather", "parameters": {"city": "Lima", "days": 3}}'],
  ["Mistral, a list", `[TOOL_CALLS] [${json}]`],
  ["Mistral, by name", '[TOOL_CALLS]get_weather[ARGS]{"city": "Lima", "days": 3}'],
  [
    "DeepSeek V3",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Lima", "days": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    "DeepSeek V3.1",
    '<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Lima", "days": 3}<｜tool▁call▁end｜>',
  ],
  [
    "Kimi",
    '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Lima", "days": 3}<|tool_call_end|>',
  ],
  [
    "Harmony",
    '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Lima", "days": 3}<|call|>',
  ],
  [
    "Harmony with the tool before the channel",
    '<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Lima", "days": 3}<|call|>',
  ],
  ["LFM2", '<|tool_call_start|>[get_weather(city="Lima", days=3)]<|tool_call_end|>'],
  [
    "Gemma for functions",
    "<start_function_call>call:get_weather{city:<escape>Lima<escape>,days:3}<end_function_call>",
  ],
  ["Gemma's code", '```tool_code\nprint(get_weather(city="Lima", days=3))\n```'],
  ["Functionary", `functools[${json}]`],
  [
    "ReAct",
    'I look it up.\nAction: get_weather\nAction Input: {"city": "Lima", "days": 3}\nObservation: 20 degrees',
  ],
  ["the command", 'I look it up.\n@tool get_weather {"city": "Lima", "days": 3}'],
  [
    "JSON, OpenAI",
    '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Lima\\", \\"days\\": 3}"}}]}',
  ],
  [
    "JSON, the one-object protocol",
    '{"thought": "look", "action": {"tool": "get_weather", "args": {"city": "Lima", "days": 3}}}',
  ],
  ["JSON by name", '{"get_weather": {"city": "Lima", "days": 3}}'],
  ["JSON with the arguments beside the name", '{"tool": "get_weather", "city": "Lima", "days": 3}'],
  ["Python, a list", '[get_weather(city="Lima", days=3)]'],
  ["Python, one call", "get_weather(city='Lima', days=3)"],
  ["Python, by place", "[get_weather('Lima', 3)]"],
  ["Python, a dictionary", "get_weather({'city': 'Lima', 'days': 3})"],
  ["a call in quotes", "['get_weather(city=\"Lima\", days=3)']"],
  ["lists in lists", `[[[[${json}]]]]`],
  ["pairs", "[('get_weather', {'city': 'Lima', 'days': 3})]"],
  ["a list with the name first", "['get_weather', 'city=Lima', 'days=3']"],
  ["words without quotes", "get_weather(city=Lima, days=3)"],
  ["a fence", "Sure:\n```python\nget_weather(city='Lima', days=3)\n```\nThis asks for the weather."],
  ["the name and an object", 'get_weather\n{"city": "Lima", "days": 3}'],
  ["behind a colon", "I look it up: get_weather(city='Lima', days=3). Then I answer."],
  ["on a line of its own", "I look it up.\n\n- get_weather(city='Lima', days=3)\n\nThen I answer."],
  ["behind a box to tick", "[ ] look it up\nget_weather(city='Lima', days=3)"],
  ["behind a link without a text", "[](https://x.test/a) helps:\nget_weather(city='Lima', days=3)"],
  ["Markdown's escapes", "get\\_weather(city='Lima', days=3)"],
  ["a prefix", "[functions.get_weather(city='Lima', days=3)]"],
  ["a prefix with two colons", "<tool_call>functions::get_weather(city='Lima', days=3)</tool_call>"],
  ["text for numbers", '{"name": "get_weather", "arguments": {"city": "Lima", "days": "3"}}'],
  ["another case", '{"name": "Get-Weather", "arguments": {"City": "Lima", "days": 3}}'],
  [
    "null for what is not given",
    '{"name": "get_weather", "arguments": {"city": "Lima", "days": 3, "unit": null}}',
  ],
  [
    "an argument that the tool does not have",
    '{"name": "get_weather", "arguments": {"city": "Lima", "days": 3, "mood": "good"}}',
  ],
];

describe("one call in every format", () => {
  const finder = recogniser(tools);
  it.each(oneCall)("%s", (_format, text) => {
    expect(finder.read(text).calls).toEqual([{ name: "get_weather", arguments: lima }]);
  });
});

describe("several calls", () => {
  const both = [
    { name: "get_weather", arguments: lima },
    { name: "math.add", arguments: { a: 1, b: 2 } },
  ];
  const add = '{"name": "math.add", "arguments": {"a": 1, "b": 2}}';
  it.each([
    ["tags", `<tool_call>${json}</tool_call>\n<tool_call>${add}</tool_call>`],
    ["objects between tags", `<tool_call>\n${json}\n${add}\n</tool_call>`],
    ["Llama 3 with its mark", `<|python_tag|>${json}; ${add}`],
    [
      "Llama 3.1 by name",
      '<function=get_weather>{"city": "Lima", "days": 3}</function><function=math.add>{"a": 1, "b": 2}</function>',
    ],
    ["a list of objects", `[${json}, ${add}]`],
    ["a list of calls", "[get_weather(city='Lima', days=3), math.add(a=1, b=2)]"],
    ["lines", "get_weather(city='Lima', days=3)\nmath.add(a=1, b=2)"],
    ["numbered lines", "1. get_weather(city='Lima', days=3)\n2. math.add(a=1, b=2)"],
    ["semicolons", "get_weather(city='Lima', days=3); math.add(a=1, b=2);"],
    ["quoted", "['get_weather(city=\"Lima\", days=3)', 'math.add(a=1, b=2)']"],
    ["fences", "First:\n```\nget_weather(city='Lima', days=3)\n```\nthen:\n```\nmath.add(a=1, b=2)\n```"],
    ["commands", '@tool get_weather {"city": "Lima", "days": 3}\n@tool math.add {"a": 1, "b": 2}'],
  ])("%s", (_format, text) => {
    expect(recogniser(tools).read(text).calls).toEqual(both);
  });

  it("are found in fences, though an argument of the first has a fence in it", () => {
    const note = '{"name": "notes.save", "arguments": {"note": {"text": "```js\\nx\\n```"}}}';
    const { calls, repairs } = recogniser(tools).read(
      `\`\`\`json\n${note}\n\`\`\`\nthen:\n\`\`\`\nping()\n\`\`\``,
    );
    expect(calls).toEqual([
      { name: "notes.save", arguments: { note: { text: "```js\nx\n```" } } },
      { name: "ping", arguments: {} },
    ]);
    expect(repairs).toEqual([]);
  });

  it("takes no list apart for a tool that may change something", () => {
    const changing = tools.map((each) => ({ ...each, changes: true }));
    const { calls, refused } = recogniser(changing).read("get_weather(city=['Lima', 'Oslo'], days=[3, 1])");
    expect(calls).toEqual([]);
    expect(refused[0]?.reason).toContain('"city" is no string');
  });

  it("takes a list where one value is wanted as one call for each", () => {
    const { calls, repairs } = recogniser(tools).read("get_weather(city=['Lima', 'Oslo'], days=[3, 1])");
    expect(calls.map((call) => call.arguments)).toEqual([lima, { city: "Oslo", days: 1 }]);
    expect(repairs.join()).toContain("one call for each");
  });

  it("leaves lists of different lengths to the model", () => {
    expect(recogniser(tools).read("get_weather(city=['Lima', 'Oslo'], days=[3, 1, 2])").calls).toEqual([]);
  });
});

describe("between tags", () => {
  const finder = recogniser(tools);
  it("a name alone is a call without arguments, as GLM writes one", () => {
    expect(finder.read("<tool_call>ping\n</tool_call>").calls).toEqual([{ name: "ping", arguments: {} }]);
    expect(finder.read("<tool_call>get_weather</tool_call>").refused[0]?.reason).toContain(
      '"city" is missing',
    );
  });

  it("an object behind a call that says none is left alone", () => {
    for (const made of ['{"temperature": 20}', '{"result": {"temperature": 20}}'])
      expect(finder.read(`<tool_call>${json}\n${made}</tool_call>`)).toMatchObject({
        calls: [{ name: "get_weather" }],
        refused: [],
      });
  });
});

describe("a bracket that is not closed before the end of its call", () => {
  it("is closed there, which is told", () => {
    for (const given of ['{"city": "Lima", "days": 3}', '{"city": "Lima", "days": 3']) {
      const { calls, repairs } = recogniser(tools).read(
        `<tool_call>{"name": "get_weather", "arguments": ${given}\n</tool_call>`,
      );
      expect(calls).toEqual([{ name: "get_weather", arguments: lima }]);
      expect(repairs.join()).toContain("a bracket that was not closed");
    }
    const [listed] = recogniser(tools).read(
      '<tool_call>{"name": "notes.save", "arguments": {"tags": ["a", "</tool_call>"</tool_call>',
    ).calls;
    expect(listed?.arguments).toEqual({ tags: ["a", "</tool_call>"] });
    const cut = '<tool_call>{"name": "get_weather", "arguments": {"city": "Lima"';
    expect(recogniser(tools).read(cut).calls).toEqual([]);
  });
});

describe("an argument of Qwen-Coder's that was not ended", () => {
  const call = (city: string, end: string) =>
    `<tool_call>\n<function=get_weather>\n<parameter=city>\n${city}${end}\n</function>\n</tool_call>`;
  const cities = (text: string) =>
    recogniser(tools)
      .read(text)
      .calls.map(({ arguments: { city } }) => city);
  const ended = "\n</parameter>";

  it("is told, and takes nothing of the next call", () => {
    const { repairs } = recogniser(tools).read(call("Lima", ""));
    expect(repairs.join()).toContain("ended");
    expect(cities(`${call("Lima", "")}\n${call("Rome", ended)}`)).toEqual(["Lima", "Rome"]);
    expect(cities(`${call("Lima", "")}\n${call("Rome", "")}`)).toEqual(["Lima", "Rome"]);
    expect(recogniser(tools).read(call("Lima", ended)).repairs).toEqual([]);
  });

  it.each(["a <parameter=x> b", "<function>\n</function>", "a </function>\n</tool_call>\nb", "a\n<b>"])(
    "one that was ended keeps all that stands in it: %j",
    (city) => {
      expect(cities(call(city, ended))).toEqual([city]);
    },
  );

  it("that the text ends in is none", () => {
    expect(cities("<function=get_weather>\n<parameter=city>\nLim")).toEqual([]);
  });
});

describe("what was mended", () => {
  it("is told, and nothing where nothing was", () => {
    const finder = recogniser(tools);
    expect(finder.read(json).repairs).toEqual([]);
    expect(finder.read("get_weather(city=Lima)").repairs.join()).toContain("without quotes");
    expect(finder.read("get_weather('Lima')").repairs.join()).toContain("by place");
    expect(finder.read("functions.get_weather(city='Lima')").repairs.join()).toContain(
      'taken as "get_weather"',
    );
  });

  it("says the format", () => {
    const finder = recogniser(tools);
    expect(finder.read(json).layer).toBe("whole");
    expect(finder.read(`<tool_call>${json}`).layer).toBe("tagged");
    expect(finder.read("```\nping()\n```").layer).toBe("fenced");
    expect(finder.read("so: ping()").layer).toBe("bare");
    expect(finder.read("ping {}").layer).toBe("named");
  });

  it("keeps integers that a double cannot hold", () => {
    expect(recogniser(tools).read("notes.save(note={'id': 12345678901234567890})").calls).toEqual([
      { name: "notes.save", arguments: { note: { id: "12345678901234567890" } } },
    ]);
  });
});

describe("a call that is cut off between its arguments", () => {
  it.each([
    "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Lima</arg_value><arg_key>days</arg_key><arg_value>3",
    "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Lima</arg_value><arg_key>da",
  ])("is not taken with those that it has: %s", (text) => {
    expect(recogniser(tools).read(text).calls).toEqual([]);
  });
});

describe("a call behind a note in brackets", () => {
  it.each([
    ["an apostrophe", "[Note: the user's city]"],
    ["an apostrophe at the end of a word", "[Note: the users' city]"],
    ["a sign for inches", '[Note: 5" wide]'],
    ["an escaped quote in quotes", String.raw`[Note: "so \" it is"]`],
    ["an escaped quote alone", String.raw`[Note: so \" it is]`],
    ["three quotes", '[Note: """a "word" more"""]'],
  ])("is found, though the note has %s", (_what, note) => {
    const { calls } = recogniser(tools).read(`${note}\nget_weather(city="Lima", days=3)`);
    expect(calls).toEqual([{ name: "get_weather", arguments: lima }]);
  });
});
