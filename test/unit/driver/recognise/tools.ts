import type { KnownTool } from "../../../../src/driver/recognise/recognise.ts";
import type { JsonObject } from "../../../../src/util/json.ts";

function known(name: string, properties: JsonObject, required: readonly string[] = []): KnownTool {
  return { name, inputSchema: { type: "object", properties, required } };
}

/** Tools that the tests of the recogniser look for. */
export const tools: readonly KnownTool[] = [
  known(
    "get_weather",
    {
      city: { type: "string" },
      days: { type: "integer" },
      unit: { type: "string", enum: ["celsius", "fahrenheit"] },
      hourly: { type: "boolean" },
    },
    ["city"],
  ),
  known("math.add", { a: { type: "number" }, b: { type: "number" } }, ["a", "b"]),
  known("notes.save", { note: { type: "object" }, tags: { type: "array", items: { type: "string" } } }),
  known("ping", {}),
];

export const lima: JsonObject = { city: "Lima", days: 3 };
