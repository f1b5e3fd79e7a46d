import type { Tool } from "../../tool/tool.ts";
import { argumentCases } from "./argument-cases.ts";
import { call, type ProbeCase } from "./probe-case.ts";
import {
  add,
  bookRoom,
  deleteEvent,
  findCustomer,
  lastOrder,
  listEvents,
  listMessages,
  listRooms,
  multiply,
  orderStatus,
  pure,
  readFile,
  readNote,
  saveNote,
  setLight,
  shipParcel,
  similarTools,
  temperature,
  toFahrenheit,
  toKilometres,
  weather,
} from "./tools.ts";

type Row = readonly [name: string, description: string, argument: string, result: string];

const rows: readonly Row[] = [
  ["air_quality", "The air quality of a city", "city", "good"],
  ["bus_departures", "The next buses at a stop", "stop", "line 4 at 10:12"],
  ["book_by_isbn", "A book by its ISBN", "isbn", "unknown"],
  ["calorie_count", "The calories of a dish", "dish", "420"],
  ["company_address", "The address of a company", "company", "Harbour Road 3"],
  ["country_population", "How many people live in a country", "country", "5.5 million"],
  ["currency_rate", "What one unit of a currency costs in euros", "currency", "0.134"],
  ["define_word", "The meaning of a word", "word", "a kind of bird"],
  ["distance_to", "How far away a place is", "place", "14 km"],
  ["exchange_hours", "When a stock exchange is open", "exchange", "9 to 17"],
  ["ferry_times", "The next ferries from a harbour", "harbour", "11:40"],
  ["film_rating", "How a film is rated", "title", "7.1"],
  ["flight_status", "The status of a flight", "flight", "on time"],
  ["flower_season", "When a flower blooms", "flower", "May"],
  ["hotel_price", "What a night in a hotel costs", "hotel", "95"],
  ["image_size", "The size of an image", "path", "800 x 600"],
  ["library_hours", "When a library is open", "library", "10 to 18"],
  ["menu_of", "The menu of a restaurant", "restaurant", "soup"],
  ["moon_phase", "The phase of the moon on a date", "date", "waning"],
  ["museum_ticket", "What the ticket of a museum costs", "museum", "12"],
  ["parking_free", "How many places a car park has free", "car_park", "31"],
  ["pollen_level", "How much pollen there is in a city", "city", "low"],
  ["postage_for", "The postage of a letter", "weight", "1.10"],
  ["recipe_for", "The recipe of a dish", "dish", "boil and stir"],
  ["river_level", "How high a river is", "river", "2.4 m"],
  ["share_price", "What a share costs", "share", "18.2"],
  ["sunrise_in", "When the sun rises in a city", "city", "06:31"],
  ["tide_at", "The tide at a harbour", "harbour", "ebb"],
  ["train_platform", "The platform of a train", "train", "5"],
  ["water_temperature", "How warm the water of a lake is", "lake", "17"],
];

/** Thirty tools: too many for a small model to keep in mind. */
const catalogue: readonly Tool[] = rows.map(([name, description, argument, result]) =>
  pure(name, description, { properties: { [argument]: { type: "string" } }, execute: () => result }),
);

const calls: readonly ProbeCase[] = [
  {
    name: "one-call",
    input: "How warm is it in Oslo?",
    tools: [weather, listRooms],
    calls: [call("weather", { city: "Oslo" }, { city: "Oslo", unit: "celsius" })],
    answer: ["7"],
  },
  {
    name: "one-sum",
    input: "What is 312 + 489?",
    tools: [add, multiply],
    calls: [call("add", { a: 312, b: 489 }, { a: 489, b: 312 })],
    answer: ["801"],
  },
  {
    name: "no-arguments",
    input: "Which meeting rooms are there?",
    tools: [listRooms, bookRoom],
    calls: [call("list_rooms", {})],
    answer: ["Birch", "Cedar", "Elm"],
  },
  {
    name: "chain-of-two",
    input: "Add 12 and 30, then multiply the sum by 3.",
    tools: [add, multiply],
    calls: [
      call("add", { a: 12, b: 30 }, { a: 30, b: 12 }),
      call("multiply", { a: 42, b: 3 }, { a: 3, b: 42 }),
    ],
    order: "fixed",
    answer: ["126"],
  },
  {
    name: "chain-of-three",
    input: "What is the status of the last order of the customer Mara Lind?",
    tools: [findCustomer, lastOrder, orderStatus],
    calls: [
      call("find_customer", { name: "Mara Lind" }),
      call("last_order", { customer_id: "C-204" }),
      call("order_status", { order: "O-7731" }),
    ],
    order: "fixed",
    answer: [["shipped", "sent"]],
  },
  {
    name: "result-in-next-call",
    input: "How warm is it in Lima now, in Fahrenheit?",
    tools: [temperature, toFahrenheit],
    calls: [call("temperature", { city: "Lima" }), call("to_fahrenheit", { celsius: 20 })],
    order: "fixed",
    answer: ["68"],
  },
  {
    name: "result-in-answer",
    input: "What is the code of the guest network? It is in the note with the title guests.",
    tools: [readNote, saveNote],
    calls: [call("read_note", { title: "guests" })],
    answer: ["kestrel-58"],
  },
  {
    name: "parallel-two",
    input: "Where is it warmer now, in Oslo or in Cairo?",
    tools: [temperature],
    calls: [call("temperature", { city: "Oslo" }), call("temperature", { city: "Cairo" })],
    answer: ["Cairo"],
  },
  {
    name: "parallel-three",
    input: "Switch off the lights in the kitchen, in the hall and in the study.",
    tools: [setLight],
    calls: ["kitchen", "hall", "study"].map((room) => call("set_light", { room, on: false })),
  },
];

const difficulties: readonly ProbeCase[] = [
  {
    name: "failure-told",
    input: "What does the file plan.txt say?",
    tools: [readFile],
    calls: [call("read_file", { path: "plan.txt" })],
    mayRepeat: true,
    answer: [["no file", "not", "n't", "unable", "missing", "fail", "error"]],
  },
  {
    name: "failure-overcome",
    input: "Book the room Birch at 10. If it is taken, book the room that is said to be free instead.",
    tools: [bookRoom],
    calls: [call("book_room", { room: "Birch", hour: 10 }), call("book_room", { room: "Cedar", hour: 10 })],
    order: "fixed",
    answer: ["Cedar"],
  },
  {
    name: "dotted-names",
    input: "What is in my calendar on 2031-03-14?",
    tools: [listEvents, deleteEvent, listMessages],
    calls: [call("calendar.v1.list_events", { date: "2031-03-14" })],
    answer: ["dentist"],
  },
  {
    name: "similar-names",
    input: "Who is in the group editors?",
    tools: similarTools,
    calls: [call("get_group_users", { group: "editors" })],
    answer: ["Ivo", "Runa"],
  },
  {
    name: "long-catalogue",
    input: "How warm is the water of the lake Inari?",
    tools: catalogue,
    calls: [call("water_temperature", { lake: "Inari" }, { lake: "lake Inari" }, { lake: "Lake of Inari" })],
    answer: ["17"],
  },
];

const restraint: readonly ProbeCase[] = [
  { name: "none-greeting", input: "Good morning! How are you today?", tools: [weather, listRooms] },
  {
    name: "none-known",
    input: "What is the capital of Norway?",
    tools: [weather, temperature],
    answer: ["Oslo"],
  },
  {
    name: "none-topic",
    input: "Why is it colder in winter than in summer? One sentence.",
    tools: [weather, temperature],
  },
  {
    name: "none-explain",
    input: "What is the tool book_room for? Only explain it; do not book anything.",
    tools: [bookRoom, listRooms],
    answer: ["room"],
  },
  {
    name: "none-given",
    input: "It is 7 degrees in Oslo and 20 degrees in Lima. Which of the two cities is warmer?",
    tools: [temperature],
    answer: ["Lima"],
  },
  {
    name: "none-words",
    input: "Which word is the opposite of heavy?",
    tools: [shipParcel, toKilometres],
    answer: ["light"],
  },
  { name: "none-fitting", input: "Please play some quiet music.", tools: [weather, add] },
].map((each) => ({ ...each, calls: [] }));

/** The tasks of `writ probe`: small, with tools that compute and do not fail by chance. Their names are stable. */
export const battery: readonly ProbeCase[] = [...calls, ...argumentCases, ...difficulties, ...restraint];
