import type { JsonSchema } from "../../schema/schema.ts";
import { text } from "../schemas.ts";

const source = {
  type: "object",
  properties: { type: { type: "string" }, value: { type: "string" }, mimeType: { type: "string" } },
  required: ["type", "value"],
} as const;

const message = {
  type: "object",
  properties: {
    id: text,
    role: { type: "string" },
    content: {
      type: ["string", "array", "object"], // an object in messages outside of the conversation (`activity`)
      items: {
        oneOf: [
          {
            type: "object",
            properties: { type: { const: "text" }, text: { type: "string" } },
            required: ["type", "text"],
          },
          {
            type: "object",
            properties: { type: { enum: ["image", "audio", "video", "document"] }, source },
            required: ["type", "source"],
          },
        ],
      },
    },
  },
  required: ["id", "role"],
} as const;

/** The body that clients of AG-UI send (`RunAgentInput`). Of the user's messages, only the last is read. */
export const agui: JsonSchema = {
  type: "object",
  properties: {
    threadId: text,
    runId: text,
    messages: { type: "array", items: message },
    tools: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, description: { type: "string" } },
        required: ["name"],
      },
      maxItems: 128,
      description: "Tools of the page, beside the agent's own: the page carries out their calls",
    },
    context: {
      type: "array",
      items: {
        type: "object",
        properties: { description: { type: "string" }, value: { type: "string" } },
        required: ["description", "value"],
      },
    },
    state: { description: "Given back in snapshots of the state" },
    resume: {
      type: "array",
      items: {
        type: "object",
        properties: {
          interruptId: { type: "string", minLength: 1 },
          status: { enum: ["resolved", "cancelled"] },
        },
        required: ["interruptId", "status"],
      },
    },
  },
  required: ["threadId", "runId", "messages"],
};
