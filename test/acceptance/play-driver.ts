import type { Driver } from "../../src/driver/driver.ts";
import { type AgentEvent, agent } from "../../src/index.ts";
import { textOf } from "../../src/message/message.ts";
import type { ModelFeatures } from "../../src/model/model.ts";
import { fakeTool, type ScriptStep, scripted } from "../../src/testing.ts";

export const json = (value: unknown): string => JSON.stringify(value);
export const search = fakeTool("kom.memory.v1.search_memory", { matches: [] });

export interface Played {
  readonly tools?: readonly ReturnType<typeof fakeTool>[];
  readonly features?: ModelFeatures;
  readonly changes?: object;
}

/** Runs a script with a driver; what the model was told last is the text of its last message. Results are shown as each driver writes them, without marks. */
export async function play(driver: Driver, script: readonly ScriptStep[], about: Played = {}) {
  const { tools = [search, fakeTool("note", "kept")], features = { tools: false }, changes = {} } = about;
  for (const each of tools) (each.calls as unknown[]).length = 0;
  const model = scripted(script, { features });
  const events: AgentEvent[] = [];
  const result = await agent({
    name: "a",
    model,
    driver,
    tools,
    budget: { turns: 14 },
    markResults: false,
    ...changes,
  }).run("Go.", {
    onEvent: (event) => events.push(event),
  });
  const told = model.requests.map(({ messages }) => {
    const last = messages.at(-1);
    return last === undefined || last.role === "system" || last.role === "tool" ? "" : textOf(last);
  });
  const repairs = events.flatMap((event) => (event.type === "message-end" ? (event.repairs ?? []) : []));
  return { model, events, result, told, repairs, calls: tools.map((each) => each.calls) };
}

/** An answer in the JSON protocol. */
export const final = json({ final: { content: "fine" } });
