import { call, type ProbeCase } from "./probe-case.ts";
import {
  add,
  average,
  createEvent,
  listEvents,
  multiply,
  readNote,
  saveNote,
  setLight,
  setPriority,
  shipParcel,
  weather,
} from "./tools.ts";

/** Cases with difficult arguments. */
export const argumentCases: readonly ProbeCase[] = [
  {
    name: "nested-event",
    input: 'Put "Budget review" into the calendar for 2031-05-06 at 14:30, with Ivo and Runa.',
    tools: [createEvent, listEvents],
    calls: [
      call("create_event", {
        title: "Budget review",
        start: { date: "2031-05-06", time: "14:30" },
        attendees: ["Ivo", "Runa"],
      }),
    ],
  },
  {
    name: "nested-address",
    input: "Ship a parcel of 2.5 kg to Runa Holt, Mill Lane 8, Bergen, postcode 5003, as express.",
    tools: [shipParcel],
    calls: [
      call("ship_parcel", {
        to: { name: "Runa Holt", address: { street: "Mill Lane 8", city: "Bergen", postcode: "5003" } },
        weight_kg: 2.5,
        express: true,
      }),
    ],
    answer: ["TX-5512"],
  },
  {
    name: "optional-left-out",
    input: "Switch on the light in the hall.",
    tools: [setLight],
    calls: [call("set_light", { room: "hall", on: true })],
  },
  {
    name: "optional-given",
    input: "Switch on the light in the kitchen at 40 percent brightness.",
    tools: [setLight],
    calls: [call("set_light", { room: "kitchen", on: true, brightness: 40 })],
  },
  {
    name: "enumeration",
    input: "Ticket 318 cannot wait: give it the highest priority.",
    tools: [setPriority],
    calls: [call("set_priority", { ticket: 318, priority: "high" })],
  },
  {
    name: "enumeration-optional",
    input: "What is the weather in Cairo? Ask for Fahrenheit.",
    tools: [weather],
    calls: [call("weather", { city: "Cairo", unit: "fahrenheit" })],
    answer: ["91.4"],
  },
  {
    name: "decimal-and-negative",
    input: "What is -17.5 + 6.25?",
    tools: [add, multiply],
    calls: [call("add", { a: -17.5, b: 6.25 }, { a: 6.25, b: -17.5 })],
    answer: ["-11.25"],
  },
  {
    name: "list-of-numbers",
    input: "What is the average of 4, 8, 15, 16, 23 and 42?",
    tools: [average, add],
    calls: [call("average", { numbers: [4, 8, 15, 16, 23, 42] })],
    answer: ["18"],
  },
  {
    name: "text-with-marks",
    input:
      'Save a note with the title Motto and exactly these two lines as its text:\nRuna said: "Grüß dich, 世界!"\nC:\\notes\\new',
    tools: [saveNote, readNote],
    calls: [call("save_note", { title: "Motto", text: 'Runa said: "Grüß dich, 世界!"\nC:\\notes\\new' })],
  },
];
