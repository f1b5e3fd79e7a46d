import { agent, tool } from "writ";
import { z } from "zod";
import { model } from "./model.ts";

const celsius = new Map([
  ["Oslo", 9],
  ["Rome", 21],
]);

const temperature = tool({
  name: "temperature",
  description: "The temperature of a city in degrees Celsius",
  inputSchema: z.object({ city: z.string() }),
  effect: "read",
  trusted: true, // your own data: nobody else can write it
  execute: ({ city }) => celsius.get(city) ?? "not measured",
});

export const weather = agent({
  name: "weather",
  instructions: "Answer questions about the weather with the tools. Be brief.",
  model,
  tools: [temperature],
  budget: { turns: 6 },
});
