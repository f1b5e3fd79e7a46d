/**
 * Ten everyday requests to an agent with six everyday tools, as a very small model answers them. The requests and the right answers were written
 * before the driver `guided` was tuned. Run: npm run bench:everyday [-- name or path of a GGUF file] [--driver guided]
 */
import { isDeepStrictEqual, parseArgs } from "node:util";
import { agent, tool } from "writ";
import { llamaCpp } from "writ/llama-cpp";

const text = { type: "string" } as const;
const whole = { type: "integer" } as const;

interface Taken {
  readonly properties: Readonly<Record<string, { readonly type: string; readonly description?: string }>>;
  readonly required: readonly string[];
}

function made(name: string, description: string, { properties, required }: Taken) {
  return tool({
    name,
    description,
    inputSchema: {
      type: "object",
      properties: { ...properties },
      required: [...required],
      additionalProperties: false,
    },
    effect: "none",
    execute: (args) => results[name]?.(args as Record<string, string>) ?? "done",
  });
}

const results: Record<string, (args: Record<string, string>) => string> = {
  weather: ({ city }) => `${city}: 18 degrees, light rain`,
  add_event: ({ title }) => `the event ${title} is in the calendar`,
  save_note: () => "the note is saved",
  set_timer: ({ minutes }) => `the timer rings in ${minutes} minutes`,
  set_lights: ({ room, on }) => `the lights in the ${room} are ${String(on) === "true" ? "on" : "off"}`,
  send_mail: ({ to }) => `the mail to ${to} is sent`,
};

const date = { ...text, description: "YYYY-MM-DD" };
const time = { ...text, description: "HH:MM" };
const tools = [
  made("weather", "The weather in a city", { properties: { city: text }, required: ["city"] }),
  made("add_event", "Put an event into the calendar", {
    properties: { title: text, date, time },
    required: ["title", "date"],
  }),
  made("save_note", "Save a note to remember something", { properties: { text }, required: ["text"] }),
  made("set_timer", "Set a timer", { properties: { minutes: whole }, required: ["minutes"] }),
  made("set_lights", "Switch the lights of a room on or off, or dim them", {
    properties: { room: text, on: { type: "boolean" }, brightness: { ...whole, description: "percent" } },
    required: ["room", "on"],
  }),
  made("send_mail", "Send a mail", {
    properties: { to: { ...text, description: "the address" }, text },
    required: ["to", "text"],
  }),
];

type Called = readonly [name: string, args: object];

const requests: readonly (readonly [input: string, ...calls: readonly Called[]])[] = [
  ["What's the weather in Lisbon?", ["weather", { city: "Lisbon" }]],
  [
    "Put dentist into the calendar on 2027-03-04 at 15:00.",
    ["add_event", { title: "dentist", date: "2027-03-04", time: "15:00" }],
  ],
  [
    "Remember that the spare key is under the blue pot.",
    ["save_note", { text: "the spare key is under the blue pot" }],
  ],
  ["Set a timer for 12 minutes.", ["set_timer", { minutes: 12 }]],
  ["Turn off the lights in the bedroom.", ["set_lights", { room: "bedroom", on: false }]],
  [
    "Send a mail to ana@example.org saying that dinner is at eight.",
    ["send_mail", { to: "ana@example.org", text: "dinner is at eight" }],
  ],
  ["Wake me in half an hour.", ["set_timer", { minutes: 30 }]],
  ["Do I need an umbrella in Porto?", ["weather", { city: "Porto" }]],
  ["Thank you, that is all."],
  [
    "Dim the lights in the kitchen to 30 percent and set a timer for 20 minutes.",
    ["set_lights", { room: "kitchen", on: true, brightness: 30 }],
    ["set_timer", { minutes: 20 }],
  ],
];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { driver: { type: "string", default: "guided" } },
});
const model = llamaCpp(positionals[0] ?? "smollm2-135m", { seed: 1, temperature: 0 });
const everyday = agent({
  name: "everyday",
  instructions: "You help in the house. Answer in one short sentence.",
  model,
  tools,
  driver: values.driver as "guided",
  settings: { maxOutputTokens: 128 },
  budget: { turns: 5, toolCalls: 8 },
});
/** Seconds by the clock, and of the processor over all cores: on a busy machine the second figure says more. */
interface Took {
  readonly wall: number;
  readonly processor: number;
}

function clock(): () => Took {
  const [begun, used] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(used);
    return { wall: (performance.now() - begun) / 1000, processor: (user + system) / 1e6 };
  };
}

const shown = ({ wall, processor }: Took): string =>
  `${wall.toFixed(2)} s (${processor.toFixed(2)} s of the processor)`;

const turns: { readonly first: Took[]; readonly later: Took[] } = { first: [], later: [] };
const loading = clock();
await everyday.run("Hello.");
const loaded = loading();
console.log("| request | right | calls | answer | seconds |\n|---|---|---|---|--:|");
for (const [input, ...expected] of requests) {
  const calls: Called[] = [];
  const begun = performance.now();
  let turn = clock();
  const { text: answer } = await everyday.run(input, {
    onEvent: (event) => {
      if (event.type === "tool-start") calls.push([event.name, Object(event.arguments)]);
      if (event.type === "turn-start") turn = clock();
      if (event.type === "message-end") turns[event.turn === 1 ? "first" : "later"].push(turn());
    },
  });
  const seconds = (performance.now() - begun) / 1000;
  const right = isDeepStrictEqual(new Set(calls), new Set(expected)) && answer.trim() !== "";
  const called = calls.map(([name, args]) => `${name} ${JSON.stringify(args)}`).join(", ");
  const said = answer.replaceAll(/\s+/g, " ").slice(0, 100);
  console.log(`| ${input} | ${right ? "yes" : "no"} | ${called} | ${said} | ${seconds.toFixed(1)} |`);
}
const slowest = (took: readonly Took[]): string =>
  shown({
    wall: Math.max(0, ...took.map(({ wall }) => wall)),
    processor: Math.max(0, ...took.map(({ processor }) => processor)),
  });
console.log(`
| | at most | must stay below on two cores |
|---|--:|--:|
| the model is loaded and greeted | ${shown(loaded)} | |
| first turn, of ${turns.first.length} | ${slowest(turns.first)} | 3.5 s |
| later turn, of ${turns.later.length} | ${slowest(turns.later)} | 0.3 s |`);
