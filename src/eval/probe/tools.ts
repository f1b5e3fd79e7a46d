import { type Tool, tool } from "../../tool/tool.ts";
import { asObject, type Json, type JsonObject } from "../../util/json.ts";

/** The definition of a tool of the probe. */
interface Definition {
  readonly properties: JsonObject;
  /** Default: all properties. */
  readonly required?: readonly string[];
  readonly notation?: string;
  readonly execute: (args: JsonObject) => Json;
}

/** A tool that only computes: the same arguments always give the same result. */
export function pure(name: string, description: string, { notation, execute, ...input }: Definition): Tool {
  return tool({ name, description, inputSchema: closed(input), effect: "none", notation, execute });
}

/** The schema of an object with these properties and no others. */
function closed({ properties, required }: Pick<Definition, "properties" | "required">): JsonObject {
  const needed = required ?? Object.keys(properties);
  return { type: "object", properties, required: needed, additionalProperties: false };
}

const text = { type: "string" } as const;
const number = { type: "number" } as const;
const integer = { type: "integer" } as const;
const boolean = { type: "boolean" } as const;

function oneOf(...values: readonly string[]): JsonObject {
  return { type: "string", enum: values };
}

function said(value: Json | undefined, description: string): JsonObject {
  return { ...asObject(value), description };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

function key(value: Json | undefined): string {
  return textOf(value).trim().toLowerCase();
}

/** The entry of a table for a name, or an error that a model can act on. */
function look(table: Readonly<Record<string, Json>>, name: Json | undefined, kind: string): Json {
  const found = Object.hasOwn(table, key(name)) ? table[key(name)] : undefined;
  if (found !== undefined) return found;
  throw new Error(`there is no ${kind} ${textOf(name)}`);
}

const celsius: Readonly<Record<string, number>> = { oslo: 7, lima: 20, cairo: 33 };

export const add: Tool = pure("add", "Add two numbers: a + b", {
  properties: { a: number, b: number },
  notation: "{a} + {b}",
  execute: ({ a, b }) => Number(a) + Number(b),
});

export const multiply: Tool = pure("multiply", "Multiply two numbers: a * b", {
  properties: { a: number, b: number },
  notation: "{a} * {b}",
  execute: ({ a, b }) => Number(a) * Number(b),
});

export const average: Tool = pure("average", "The average of a list of numbers", {
  properties: { numbers: { type: "array", items: number } },
  execute: ({ numbers }) => {
    const list = Array.isArray(numbers) ? numbers.map(Number) : [];
    return list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length);
  },
});

export const weather: Tool = pure("weather", "The weather in a city now", {
  properties: {
    city: text,
    unit: said(oneOf("celsius", "fahrenheit"), "of the temperature; default celsius"),
  },
  required: ["city"],
  execute: ({ city, unit }) => {
    const degrees = Number(look(celsius, city, "weather station in"));
    return unit === "fahrenheit"
      ? { temperature: degrees * 1.8 + 32, unit }
      : { temperature: degrees, unit: "celsius" };
  },
});

export const toFahrenheit: Tool = pure("to_fahrenheit", "Convert a temperature from Celsius to Fahrenheit", {
  properties: { celsius: number },
  execute: (args) => Math.round(Number(args["celsius"]) * 18 + 320) / 10,
});

export const temperature: Tool = pure("temperature", "The temperature in a city now, in Celsius", {
  properties: { city: text },
  execute: ({ city }) => look(celsius, city, "weather station in"),
});

export const toKilometres: Tool = pure("to_kilometres", "Convert miles to kilometres", {
  properties: { miles: number },
  execute: ({ miles }) => Math.round(Number(miles) * 160.9344) / 100,
});

export const listRooms: Tool = pure("list_rooms", "List the meeting rooms", {
  properties: {},
  execute: () => ["Birch", "Cedar", "Elm"],
});

export const bookRoom: Tool = pure("book_room", "Book a meeting room for one hour", {
  properties: { room: text, hour: said(integer, "0 to 23") },
  execute: ({ room, hour }) => {
    if (key(room) === "birch")
      throw new Error(`Birch is taken at ${textOf(hour)} o'clock; Cedar is free at that hour`);
    return { booked: textOf(room), hour: Number(hour) };
  },
});

export const findCustomer: Tool = pure("find_customer", "Find the id of a customer by name", {
  properties: { name: text },
  execute: ({ name }) => look({ "mara lind": { id: "C-204" } }, name, "customer"),
});

export const lastOrder: Tool = pure("last_order", "The number of a customer's last order", {
  properties: { customer_id: said(text, "like C-100") },
  execute: (args) => look({ "c-204": { order: "O-7731" } }, args["customer_id"], "customer"),
});

export const orderStatus: Tool = pure("order_status", "The status of an order", {
  properties: { order: said(text, "the number of the order, like O-1000") },
  execute: ({ order }) => look({ "o-7731": { status: "shipped", day: "Tuesday" } }, order, "order"),
});

export const setLight: Tool = pure("set_light", "Switch the light of a room on or off", {
  properties: { room: text, on: boolean, brightness: said(integer, "percent, 1 to 100") },
  required: ["room", "on"],
  execute: ({ room, on }) => `the light in the ${textOf(room)} is ${on === true ? "on" : "off"}`,
});

export const createEvent: Tool = pure("create_event", "Put an event into the calendar", {
  properties: {
    title: text,
    start: closed({ properties: { date: said(text, "YYYY-MM-DD"), time: said(text, "HH:MM, 24 hours") } }),
    attendees: { type: "array", items: text },
  },
  execute: ({ title }) => ({ created: textOf(title), id: 91 }),
});

export const shipParcel: Tool = pure("ship_parcel", "Ship a parcel", {
  properties: {
    to: closed({
      properties: {
        name: text,
        address: closed({ properties: { street: text, city: text, postcode: text } }),
      },
    }),
    weight_kg: number,
    express: said(boolean, "default false"),
  },
  required: ["to", "weight_kg"],
  execute: () => ({ tracking: "TX-5512" }),
});

export const setPriority: Tool = pure("set_priority", "Set how urgent a ticket is", {
  properties: { ticket: integer, priority: oneOf("low", "normal", "high") },
  execute: ({ ticket, priority }) => `ticket ${textOf(ticket)} has the priority ${textOf(priority)}`,
});

export const saveNote: Tool = pure("save_note", "Save a note", {
  properties: { title: text, text: said(text, "exactly as it was given") },
  execute: ({ title }) => ({ saved: textOf(title) }),
});

export const readNote: Tool = pure("read_note", "Read a saved note", {
  properties: { title: text },
  execute: ({ title }) => look({ guests: "The code of the guest network is kestrel-58." }, title, "note"),
});

export const readFile: Tool = pure("read_file", "Read a text file", {
  properties: { path: text },
  execute: ({ path }) => look({ "readme.txt": "Welcome." }, path, "file"),
});

export const listEvents: Tool = pure("calendar.v1.list_events", "List the events of a day", {
  properties: { date: said(text, "YYYY-MM-DD") },
  execute: ({ date }) => look({ "2031-03-14": ["09:00 dentist", "15:30 choir"] }, date, "calendar page for"),
});

export const deleteEvent: Tool = pure("calendar.v1.delete_event", "Delete an event by its title", {
  properties: { title: text },
  execute: ({ title }) => ({ deleted: textOf(title) }),
});

export const listMessages: Tool = pure("mail.v1.list_messages", "List the mail of a day", {
  properties: { date: said(text, "YYYY-MM-DD") },
  execute: () => [],
});

const users: Readonly<Record<string, Json>> = {
  "17": { name: "Ivo", group: "editors" },
  editors: ["Ivo", "Runa"],
};

/** Four tools whose names differ by a few letters. */
export const similarTools: readonly Tool[] = [
  pure("get_user", "One user by number", {
    properties: { number: integer },
    execute: (args) => look(users, textOf(args["number"]), "user"),
  }),
  pure("get_users", "All users", {
    properties: {},
    execute: () => ["Ivo", "Runa", "Sten"],
  }),
  pure("get_user_groups", "The names of all groups", {
    properties: {},
    execute: () => ["editors", "guests"],
  }),
  pure("get_group_users", "The users of one group", {
    properties: { group: text },
    execute: ({ group }) => look(users, group, "group"),
  }),
];
