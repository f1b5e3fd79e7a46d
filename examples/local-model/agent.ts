// An agent for the lights and timers of a house, with a model of 135 million parameters inside this process: no key, no server, no network.
import { agent, tool } from "writ";
import { modelNamed } from "writ/models";
import { z } from "zod";

/** The settings that were made. A real program has the devices in place of this list. */
export const done: string[] = [];

const setLights = tool({
  name: "set_lights",
  description: "Switch the lights of a room on or off",
  inputSchema: z.object({ room: z.enum(["kitchen", "hall", "bedroom"]), on: z.boolean() }),
  effect: "write",
  trusted: true, // the result is your own text: one act does not make the next one ask
  execute({ room, on }) {
    done.push(`${room} ${on ? "on" : "off"}`);
    return `the lights in the ${room} are ${on ? "on" : "off"}`;
  },
});

const setTimer = tool({
  name: "set_timer",
  description: "Set a timer",
  inputSchema: z.object({ minutes: z.number().int().min(1).max(600) }),
  effect: "write",
  trusted: true, // the result is your own text: one act does not make the next one ask
  execute({ minutes }) {
    done.push(`timer ${minutes}`);
    return `the timer rings in ${minutes} minutes`;
  },
});

export default agent({
  name: "house",
  instructions: "You are a friendly house.",
  model: modelNamed(process.env["WRIT_MODEL"] ?? "llama-cpp/smollm2-135m"), // or a GGUF file of yours: llama-cpp//models/x.gguf
  tools: [setLights, setTimer],
  settings: { seed: 7, temperature: 0 },
  budget: { turns: 4, durationMs: 120_000 },
});
