import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readGbnf } from "../../gbnf.ts";
import { type Driver, guidedDriver } from "../../../src/drivers.ts";
import { agent, type Tool, tool } from "../../../src/index.ts";
import type { AgentEvent } from "../../../src/event/event.ts";
import { languageFor } from "../../../src/driver/guided/language.ts";
import { mentionsOfResult } from "../../../src/driver/guided/mentions.ts";
import { languages } from "../../../src/driver/guided/words.ts";
import type { Model } from "../../../src/model/model.ts";
import { scripted } from "../../../src/testing.ts";
import type { Json, JsonObject } from "../../../src/util/json.ts";

const weak = { features: { tools: false, small: true, completion: true, format: "grammar" as const } };
const text = { type: "string" } as const;
const number = { type: "number" } as const;

type Execute = (args: JsonObject) => Json;

function made(
  name: string,
  description: string,
  [properties, execute = () => "done"]: readonly [JsonObject, Execute?],
) {
  const optional = new Set(["unit", "brightness", "details"]);
  const required = Object.keys(properties).filter((key) => !optional.has(key));
  const inputSchema = { type: "object", properties, required, additionalProperties: false } as const;
  return tool({ name, description, inputSchema, effect: "none", execute: (args) => execute(args) });
}

const weather = made("weather", "The weather in a city now", [
  {
    city: text,
    unit: { type: "string", enum: ["celsius", "fahrenheit"], description: "of the temperature" },
  },
  ({ city }) => ({ temperature: city === "Oslo" ? 7 : 20, sky: "clear" }),
]);
const add = made("add", "Add two numbers: a + b", [
  { a: number, b: number },
  ({ a, b }) => Number(a) + Number(b),
]);
const multiply = made("multiply", "Multiply two numbers: a * b", [
  { a: number, b: number },
  ({ a, b }) => Number(a) * Number(b),
]);
const subtract = made("subtract", "Subtract a number from another: a - b", [{ a: number, b: number }]);
const light = made("set_light", "Switch the light of a room on or off", [
  { room: text, on: { type: "boolean" }, brightness: { type: "integer", description: "percent" } },
]);
const note = made("save_note", "Save a note", [{ title: text, text }]);

interface Run {
  readonly calls: readonly (readonly [string, Json])[];
  readonly answer: string;
  readonly events: readonly AgentEvent[];
}

interface By {
  readonly model: Model;
  readonly driver?: Driver;
}

async function run(
  input: string,
  offered: readonly Tool[],
  { model, driver = guidedDriver() }: By,
): Promise<Run> {
  const calls: (readonly [string, Json])[] = [];
  const events: AgentEvent[] = [];
  const { text: answer } = await agent({ name: "a", model, driver, tools: [...offered] }).run(input, {
    onEvent: (event) => {
      events.push(event);
      if (event.type === "tool-start") calls.push([event.name, event.arguments]);
    },
  });
  return { calls, answer, events };
}

const silent = (): By => ({ model: scripted([], weak) });

describe("guided", () => {
  it("chooses a tool and its values by what was said, asks no model, and says the result", async () => {
    const model = scripted([], weak);
    const { calls, answer, events } = await run(
      "What is the weather in Oslo? In fahrenheit, please.",
      [weather, add],
      { model },
    );
    expect(calls).toEqual([["weather", { city: "Oslo", unit: "fahrenheit" }]]);
    expect(answer).toBe("temperature: 7, sky: clear");
    expect(model.requests).toHaveLength(0);
    const ends = events.filter((event) => event.type === "message-end");
    expect(ends.map(({ quotes }) => quotes)).toEqual([undefined, [expect.any(String)]]);
  });

  it("takes the value of the request that the schema of the argument takes", async () => {
    const send = (to: JsonObject) => made("send_message", "Send a message", [{ to }]);
    const said = 'Send a message to ann@example.org, code AB12, with "hello there" for Bo.';
    const sent = async (to: JsonObject) => (await run(said, [send(to)], silent())).calls[0]?.[1];
    expect(await sent({ ...text, pattern: "^[A-Z]{2}\\d{2}$" })).toEqual({ to: "AB12" });
    expect(await sent({ ...text, format: "email" })).toEqual({ to: "ann@example.org" });
    expect(await sent({ ...text, maxLength: 3 })).toEqual({ to: "Bo" });
    const z4 = z.object({ to: z.email() });
    const mail = tool({
      name: "send_message",
      description: "Send a message",
      inputSchema: z4,
      effect: "none",
      execute: () => 1,
    });
    expect((await run(said, [mail], silent())).calls[0]?.[1]).toEqual({ to: "ann@example.org" });
    const twice = z.object({ to: z.string().regex(/^(.)\1$|^Bo$/) });
    const same = tool({
      name: "send_message",
      description: "Send a message",
      inputSchema: twice,
      effect: "none",
      execute: () => 1,
    });
    expect((await run(said, [same], silent())).calls).toHaveLength(0);
    const wait = made("wait", "Wait some minutes", [{ minutes: { ...number, exclusiveMaximum: 5 } }]);
    const waited = await run("Wait minutes: 5 or 4", [wait], silent());
    expect(waited.calls[0]?.[1]).toEqual({ minutes: 4 });
  });

  it("has the model write what definitions elsewhere in the schema say, and no list where none may have items", async () => {
    const place = tool({
      name: "send_parcel",
      description: "Send a parcel",
      inputSchema: {
        type: "object",
        properties: {
          where: { type: "object", properties: { at: { $ref: "#/$defs/at" } }, required: ["at"] },
          tags: { type: "array", items: text, maxItems: 0 },
        },
        required: ["where", "tags"],
        additionalProperties: false,
        $defs: {
          at: {
            type: "object",
            properties: { x: { type: "integer" } },
            required: ["x"],
            additionalProperties: false,
          },
        },
      },
      effect: "none",
      execute: () => "sent",
    });
    const model = scripted(['{"x":3}', "[]"], weak);
    const { calls } = await run('Send a parcel with "hello there".', [place], { model });
    const [first] = model.requests.map(({ format }) =>
      format?.type === "grammar" ? readGbnf(format.grammar) : undefined,
    );
    expect(first?.matches('{"x":3}')).toBe(true);
    expect(first?.matches('"x"')).toBe(false);
    expect(calls).toEqual([["send_parcel", { where: { at: { x: 3 } }, tags: [] }]]);
  });

  it("leaves optional values out that were not said, and takes those that were", async () => {
    const off = await run("Switch off the light in the hall.", [light], silent());
    expect(off.calls).toEqual([["set_light", { room: "hall", on: false }]]);
    const late = await run("Switch on the light in the hall for 40 minutes.", [light], silent());
    expect(late.calls).toEqual([["set_light", { room: "hall", on: true }]]);
    const dim = await run("Switch on the light in the kitchen at 40 percent brightness.", [light], silent());
    expect(dim.calls).toEqual([["set_light", { room: "kitchen", on: true, brightness: 40 }]]);
  });

  it("makes no call whose numbers were not said, and answers without tools", async () => {
    const model = scripted(["A sum of what?"], weak);
    const { calls, answer } = await run("Can you add two numbers?", [add], { model });
    expect(calls).toEqual([]);
    expect(answer).toBe("A sum of what?");
    expect(model.requests[0]?.prompt).toBeUndefined();
    expect(JSON.stringify(model.requests[0]?.messages)).not.toContain("a + b");
  });

  it("makes no call where no tool knows what is asked for, though some words fit", async () => {
    const circle = made("circle.area", "Calculate the area of a circle", [{ radius: number }]);
    const ask = async (input: string) =>
      (await run(input, [circle], { model: scripted(["I cannot."], weak) })).calls;
    expect(await ask("What is the area of a triangle with a base of 12 meters?")).toEqual([]);
    expect(await ask("What is the area of a circle with a radius of 12 meters?")).toEqual([
      ["circle.area", { radius: 12 }],
    ]);
  });

  it("goes on with results while words and values are open", async () => {
    const { calls, answer } = await run("Add 12 and 30, then multiply the sum by 3.", [add, multiply], {
      model: scripted(["12", "42"], weak),
    });
    expect(calls).toEqual([
      ["add", { a: 12, b: 30 }],
      ["multiply", { a: 42, b: 3 }],
    ]);
    expect(answer).toBe("126");
  });

  it("calls once for each member of a list", async () => {
    const { calls, answer } = await run("Weather in Oslo and in Cairo?", [weather], silent());
    expect(calls.map(([, args]) => args)).toEqual([{ city: "Oslo" }, { city: "Cairo" }]);
    expect(answer).toBe("Oslo: temperature: 7, sky: clear\nCairo: temperature: 20, sky: clear");
  });

  it("with cover: false makes one call for a request", async () => {
    const driver = guidedDriver({ cover: false });
    const both = await run("Weather in Oslo and in Cairo?", [weather], { ...silent(), driver });
    expect(both.calls).toHaveLength(1);
    const chain = await run("Add 12 and 30, then multiply the sum by 3.", [add, multiply], {
      model: scripted(["12"], weak),
      driver,
    });
    expect(chain.calls).toHaveLength(1);
    expect(() => guidedDriver({ cover: 1 as unknown as boolean })).toThrow("cover");
  });

  it("has the model choose among values that are as good, and write those that were not said", async () => {
    const model = scripted(["10"], weak);
    const { calls } = await run("Subtract 4 from 10.", [subtract], { model });
    expect(calls).toEqual([["subtract", { a: 10, b: 4 }]]);
    const [{ format, prompt } = {}] = model.requests;
    expect(prompt).toBe(
      'subtract {a, b}  (subtract: Subtract a number from another: a - b)\n\nQ: Subtract 4 from 10.\nStep: subtract {"a":',
    );
    const grammar = readGbnf(format?.type === "grammar" ? format.grammar : "");
    expect(["4", "10", "5"].map((value) => grammar.matches(value))).toEqual([true, true, false]);

    const writer = scripted(['"Buy milk"'], weak);
    const saved = await run('Save a note with the title "Shop".', [note], { model: writer });
    expect(saved.calls).toEqual([["save_note", { title: "Shop", text: "Buy milk" }]]);
  });

  it("takes the first value where the model cannot be held to one", async () => {
    const { calls } = await run("Subtract 4 from 10.", [subtract], {
      model: scripted([], { features: { small: true, completion: true } }),
    });
    expect(calls).toEqual([["subtract", { a: 4, b: 10 }]]);
  });

  it("has the model choose the tool in a language it has no table for", async () => {
    const model = scripted(["weather "], weak);
    const { calls } = await run("上海 weather 怎么样 Shanghai", [weather, light], { model });
    expect(calls.map(([name]) => name)).toEqual(["weather"]);
  });

  it("says what a failed call said, and does not try again", async () => {
    const broken = made("read_file", "Read a text file", [
      { path: text },
      () => {
        throw new Error("there is no file plan.txt");
      },
    ]);
    const { calls, answer } = await run("Read the file plan.txt", [broken], silent());
    expect(calls).toEqual([["read_file", { path: "plan.txt" }]]);
    expect(answer).toContain("there is no file plan.txt");
  });

  it("sends an empty answer back, and says what goes round in circles once", async () => {
    const model = scripted(["", "Hi there. Hi there. Hi there. Hi there."], weak);
    const { answer } = await run("Hello!", [weather], { model });
    expect(answer).toBe("Hi there.");
    expect(model.requests).toHaveLength(2);
  });
});

describe("what a request says", () => {
  const timer = made("set_timer", "Set a timer", [{ minutes: { type: "integer" } }]);
  const mail = made("send_mail", "Send a mail", [{ to: { ...text, description: "the address" }, text }]);
  const own = made("save_text", "Save a note", [{ text }]);
  const calls = async (input: string, offered: readonly Tool[]) =>
    (await run(input, offered, { model: scripted(["No."], weak) })).calls.map(([, args]) => args);

  it.each([
    "Do not set a timer for 12 minutes.",
    "Don't set a timer for 12 minutes!",
    "Never set the timer to 12 minutes.",
    "Please don’t send a mail to ana@example.org saying that we are late.",
    "Stelle bitte keinen Timer auf 12 Minuten.",
  ])("is no wish where it is denied: %s", async (input) => {
    expect(await calls(input, [timer, mail, add, weather, light])).toEqual([]);
  });

  it.each([
    "Don't forget to set a timer for 12 minutes.",
    "Do not write to anybody, set a timer for 12 minutes.",
    "Why don't you set a timer for 12 minutes?",
  ])("is a wish in another clause, or where two words deny: %s", async (input) => {
    expect(await calls(input, [timer, add])).toEqual([{ minutes: 12 }]);
  });

  it.each([
    ["twenty five", 25],
    ["twenty-five", 25],
    ["one hundred", 100],
    ["a hundred and one", 101],
    ["two hundred and five", 205],
    ["two thousand three hundred forty", 2340],
  ])("is one number where its words make one: %s", async (said, minutes) => {
    expect(await calls(`Set a timer for ${said} minutes.`, [timer])).toEqual([{ minutes }]);
  });

  it.each(["two twelve", "five twenty", "1e400", "1e5x"])(
    "is not a number where its words make none: %s",
    async (said) => {
      expect(await calls(`Set a timer for ${said} minutes.`, [timer])).toEqual([]);
    },
  );

  it("is one number in French and in German too", async () => {
    const french = made("minuteur", "Règle un minuteur", [{ minutes: { type: "integer" } }]);
    const german = made("timer", "Stellt einen Timer", [{ minuten: { type: "integer" } }]);
    expect(await calls("Règle le minuteur sur vingt et un minutes.", [french])).toEqual([{ minutes: 21 }]);
    expect(await calls("Règle le minuteur sur quatre vingt dix minutes.", [french])).toEqual([]);
    expect(await calls("Stelle den Timer auf zwei hundert Minuten.", [german])).toEqual([{ minuten: 200 }]);
  });

  describe("in digits", () => {
    const english = made("pay", "Pay an amount", [{ amount: number }]);
    const german = made("zahlen", "Zahle einen Betrag", [{ betrag: number }]);
    const french = made("payer", "Paie un montant", [{ montant: number }]);

    it.each([
      ["Zahle bitte einen Betrag von 1.000 Euro.", 1000],
      ["Zahle bitte den Betrag von 1.234.567,89 Euro.", 1_234_567.89],
      ["Zahle bitte einen Betrag von 12,50 Euro.", 12.5],
      ["Zahle bitte einen Betrag von 12.5 Euro.", 12.5],
      ["Zahle bitte einen Betrag von 2,5 Millionen Euro.", 2_500_000],
      ["Zahle bitte einen Betrag von 1’000 Franken.", 1000],
    ])("is read as German writes it: %s", async (said, betrag) => {
      expect(await calls(said, [german])).toEqual([{ betrag }]);
    });

    it.each([
      ["Paie un montant de 1 000 euros, s'il te plait.", 1000],
      ["Paie un montant de 1\u202F234,5 euros, s'il te plait.", 1234.5],
      ["Paie un montant de 12,50 euros, s'il te plait.", 12.5],
    ])("is read as French writes it: %s", async (said, montant) => {
      expect(await calls(said, [french])).toEqual([{ montant }]);
    });

    it.each([
      ["Please pay an amount of 1,000 euros.", 1000],
      ["Please pay an amount of 1,234,567.89 euros.", 1_234_567.89],
      ["Please pay an amount of 1.005 euros.", 1.005],
    ])("is read as English writes it: %s", async (said, amount) => {
      expect(await calls(said, [english])).toEqual([{ amount }]);
    });

    it("is none where a number cannot hold all of them", async () => {
      const card = "Please pay an amount of 9007199254740993 euros.";
      expect(await calls(card, [english])).toEqual([]);
    });

    it("is read in a result as the language of that writes it", () => {
      const german = languageFor(["bitte", "den", "zahle"], languages());
      const valuesOf = (result: string) =>
        mentionsOfResult(result, 1, german).flatMap(({ kind, value }) => (kind === "number" ? [value] : []));
      expect(valuesOf("The price of it is 1,250 euros")).toEqual([1250]);
      expect(valuesOf("Der Preis ist 1.250 Euro")).toEqual([1250]);
      expect(valuesOf("1.250")).toEqual([1.25]);
    });
  });

  it("is a number with the word that makes it larger", async () => {
    expect(await calls("Add 3 million and 2.", [add])).toEqual([{ a: 3_000_000, b: 2 }]);
  });

  it("has words that an earlier call was made for: they do not speak against the next one", async () => {
    const both = await calls("Weather in Oslo, and the weather in Rome.", [weather]);
    expect(both).toEqual([{ city: "Oslo" }, { city: "Rome" }]);
  });

  it("is a quote behind a colon, without its signs", async () => {
    expect(await calls('Save a note: "buy milk".', [own])).toEqual([{ text: "buy milk" }]);
    expect(await calls('Save a note: say "hi" to Ana', [own])).toEqual([{ text: 'say "hi" to Ana' }]);
  });

  it("is called for once where a list has it twice", async () => {
    expect(await calls("Weather in Oslo and in Oslo?", [weather])).toEqual([{ city: "Oslo" }]);
  });

  it("ends with a whole word where it is longer than what is looked at", async () => {
    const beginning = "What is the".padEnd(6000 - "weather in Cai".length);
    expect(await calls(`${beginning}weather in Cairo`, [weather, add])).toEqual([]);
  });
});
