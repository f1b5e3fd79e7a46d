import { agent } from "../../adapters/node.ts";
import type { ModelRequest } from "../../model/model.ts";
import { scripted, type ScriptStep } from "../../model/scripted.ts";
import { tool } from "../../tool/tool.ts";
import { isJsonList } from "../../util/json.ts";
import type { AnyAgent } from "../load-agent.ts";

const celsius: ReadonlyMap<unknown, number> = new Map([
  ["Oslo", 9],
  ["Rome", 21],
]);

/** An agent with two tools, and a script with typical mistakes of models. */
export function demoAgent(): AnyAgent {
  return agent({
    name: "weather",
    instructions: "Answer with the tools.",
    model: scripted(script, { id: "script", whenDone: "throw" }),
    tools: [temperature(), average()],
  });
}

function temperature(): ReturnType<typeof tool> {
  return tool({
    name: "temperature",
    description: "The temperature of a city in degrees Celsius",
    inputSchema: { type: "object", properties: { city: { enum: ["Oslo", "Rome"] } }, required: ["city"] },
    effect: "read",
    trusted: true,
    async execute({ city }) {
      await new Promise((resolve) => setTimeout(resolve, city === "Oslo" ? 400 : 250));
      return celsius.get(city);
    },
  });
}

function average(): ReturnType<typeof tool> {
  return tool({
    name: "average",
    description: "The average of numbers",
    inputSchema: {
      type: "object",
      properties: { values: { type: "array", items: { type: "number" }, minItems: 1 } },
      required: ["values"],
    },
    effect: "none",
    execute({ values }) {
      const numbers = isJsonList(values) ? values.map(Number) : [];
      return numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    },
  });
}

/** Two calls side by side; a call with wrong arguments; the same call corrected; a call of a tool that the agent does not have; the answer. */
const script: readonly ScriptStep[] = [
  {
    calls: [
      { name: "temperature", arguments: { city: "Oslo" } },
      { name: "temperature", arguments: { city: "Rome" } },
    ],
  },
  (request) => ({ calls: [{ name: "average", arguments: { values: lastResults(request).join(" and ") } }] }),
  (request) => ({
    calls: [{ name: "average", arguments: { values: lastResults(request, "temperature").map(Number) } }],
  }),
  (request) => ({
    calls: [
      {
        name: "send_mail",
        arguments: { to: "everyone@example.com", text: `${lastResults(request).join()} degrees` },
      },
    ],
  }),
  (request) => {
    const [oslo, rome] = lastResults(request, "temperature");
    return `Oslo has ${oslo} degrees and Rome ${rome}: ${lastResults(request, "average").at(-1)} on average. I may not send mail, so I did not.`;
  },
];

/** The texts of the results in a request: those of one tool if it is named, otherwise those since the model's last reply. */
function lastResults({ messages }: ModelRequest, tool?: string): string[] {
  const from = tool === undefined ? messages.findLastIndex((message) => message.role === "assistant") : 0;
  return messages
    .slice(from)
    .flatMap((message) =>
      message.role === "tool" && (tool === undefined || message.name === tool) ? [message.text] : [],
    );
}
