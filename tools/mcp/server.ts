/**
 * The agent that the conformance suite asks for by the names of its tools and prompts. The suite starts it as a user would:
 * `writ mcp tools/mcp/server.ts --tools --knowledge --skills --port 0`.
 */
import { agent, knowledge, skill, tool } from "writ";
import { file, image, withFiles } from "writ/tools";

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const nothing = { type: "object", properties: {}, additionalProperties: false } as const;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const tools = [
  tool({
    name: "test_simple_text",
    description: "Gives a text",
    inputSchema: nothing,
    effect: "read",
    execute: () => "This is a simple text response for testing.",
  }),
  tool({
    name: "test_image_content",
    description: "Gives a picture",
    inputSchema: nothing,
    effect: "read",
    execute: () => image(pixel, "image/png"),
  }),
  tool({
    name: "test_audio_content",
    description: "Gives a sound",
    inputSchema: nothing,
    effect: "read",
    execute: () => file(silence, "audio/wav"),
  }),
  tool({
    name: "test_embedded_resource",
    description: "Gives a file",
    inputSchema: nothing,
    effect: "read",
    execute: () => file(btoa("This is an embedded resource content."), "application/octet-stream"),
  }),
  tool({
    name: "test_multiple_content_types",
    description: "Gives a text, a picture and a file",
    inputSchema: nothing,
    effect: "read",
    execute: () =>
      withFiles("Multiple content types test:", [
        image(pixel, "image/png"),
        file(btoa('{"test":"data","value":123}'), "application/json"),
      ]),
  }),
  tool({
    name: "test_error_handling",
    description: "Fails",
    inputSchema: nothing,
    effect: "read",
    execute: () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  }),
  tool({
    name: "test_tool_with_progress",
    description: "Tells how far it is",
    inputSchema: nothing,
    effect: "read",
    async execute(_args, { progress }) {
      for (const done of [0, 50, 100]) {
        progress({ progress: done, total: 100 });
        await pause(50);
      }
      return "done";
    },
  }),
  tool({
    name: "takes_long",
    description: "Takes longer than a client likes to wait",
    inputSchema: nothing,
    effect: "read",
    async execute() {
      await pause(1_500);
      return "done at last";
    },
  }),
  tool({
    name: "deletes",
    description: "Deletes all, once somebody has approved it",
    inputSchema: nothing,
    effect: "irreversible",
    execute: () => pause(1_500).then(() => "deleted"),
  }),
  tool({
    name: "json_schema_2020_12_tool",
    description: "Tool with JSON Schema 2020-12 features",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    effect: "read",
    execute: () => "ok",
  }),
];

export const everything = agent({
  name: "everything",
  description: "Has what the conformance suite asks for",
  model: () => "Hello.",
  skills: [
    skill({
      name: "test_simple_prompt",
      description: "A simple prompt",
      instructions: "This is a simple prompt for testing.",
      tools,
      knowledge: [knowledge({ name: "facts", description: "What is known", load: () => "Tea is green." })],
    }),
  ],
});
