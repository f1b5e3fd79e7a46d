import type { JsonSchema } from "../../schema/schema.ts";
import { text } from "../schemas.ts";

// The JSON form of protocol buffers may leave a field out; an empty value means the same.
const orEmpty = { type: "string", maxLength: 500 } as const;

const part = {
  type: "object",
  properties: {
    text: { type: "string" },
    raw: { type: "string", description: "The bytes of a file in base64" },
    url: { type: "string" },
    mediaType: { type: "string" },
  },
  oneOf: [{ required: ["text"] }, { required: ["raw"] }, { required: ["url"] }, { required: ["data"] }],
} as const;

const message = {
  type: "object",
  properties: {
    messageId: text,
    contextId: orEmpty,
    taskId: { type: "string", maxLength: 1001 },
    role: { const: "ROLE_USER" },
    parts: { type: "array", items: part, minItems: 1 },
  },
  required: ["messageId", "role", "parts"],
} as const;

const historyLength = { type: "integer", minimum: 0 } as const;

/** The parameters of `SendMessage` and `SendStreamingMessage`. */
export const sending: JsonSchema = {
  type: "object",
  properties: {
    message,
    configuration: {
      type: "object",
      properties: { returnImmediately: { type: "boolean" }, historyLength },
    },
  },
  required: ["message"],
};

/** The parameters of `GetTask`, `CancelTask` and `SubscribeToTask`. */
export const ofTask: JsonSchema = {
  type: "object",
  properties: { id: { type: "string", minLength: 1, maxLength: 1001 }, historyLength },
  required: ["id"],
};

/** A request of JSON-RPC. The schema of its parameters depends on its method. */
export const rpcRequest: JsonSchema = {
  type: "object",
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "integer", "null"] },
    method: { type: "string", maxLength: 200 },
    params: { type: "object" },
  },
  required: ["jsonrpc", "method"],
};
