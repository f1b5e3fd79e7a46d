import type { Delta, Model, ModelRequest } from "../../src/model/model.ts";
import type { Json } from "../../src/util/json.ts";
import { oddErrors, tokenCounts } from "./hostile.ts";
import type { Book } from "./record.ts";
import type { CallSpec, ReplySpec, Scene } from "./scene.ts";
import { schemas } from "./schemas.ts";

/** Drivers that read calls out of text. */
const isTextDriver = (driver: Scene["driver"]): boolean => driver !== "native" && driver !== "auto";

/** The formats in which text drivers are told a call. */
const formats: readonly ((name: string, args: string) => string)[] = [
  (name, args) => `{"thought":"x","action":{"tool":${JSON.stringify(name)},"args":${args}}}`,
  (name, args) => `{"tool":${JSON.stringify(name)},"arguments":${args}}`,
  (name, args) => `<tool_call>{"name":${JSON.stringify(name)},"arguments":${args}}</tool_call>`,
  (name, args) => `{"thought":"x","type":"call_tool","tool":${JSON.stringify(name)},"args":${args}}`,
  (name, args) => `@tool ${name} ${args}`,
  (name, args) => `[${name}(to=${args})]`,
  (name) => `{"tool":${JSON.stringify(name)}}`,
  (name, args) => `Step: ${name} ${args}`,
  (name, args) => `\`\`\`json\n{"tool":${JSON.stringify(name)},"arguments":${args}\n`,
  (name, args) => `<think>{"tool":"${name}"}</think>${args}`,
];

/** The model of a scene: says its replies in turn, then that it is done. */
export function modelOf(scene: Scene, book: Book): Model {
  let asked = 0;
  const isText = isTextDriver(scene.driver);
  return {
    id: "fuzz",
    features: { tools: !isText, ...(scene.driver === "lines" ? { completion: true, small: true } : {}) },
    price: () => 0,
    async *stream(request: ModelRequest) {
      book.requests.push(request);
      book.touch("model");
      const reply = scene.replies[asked];
      asked += 1;
      if (reply === undefined) yield* ending(isText);
      else yield* deltasOf(reply, { scene, book, isText, turn: asked });
    },
  };
}

function* ending(isText: boolean): Generator<Delta> {
  yield { type: "text-delta", text: isText ? '{"final":{"content":"done"}}' : "done" };
  yield { type: "end", finishReason: "stop", usage: { inputTokens: 5, outputTokens: 1 } };
}

interface Saying {
  readonly scene: Scene;
  readonly book: Book;
  readonly isText: boolean;
  readonly turn: number;
}

async function* deltasOf(reply: ReplySpec, saying: Saying): AsyncGenerator<Delta> {
  const { book, isText, scene, turn } = saying;
  if (reply.fault === "throw") throw new Error("the provider fell over");
  if (reply.fault === "throw-odd") throw oddErrors[Object.keys(oddErrors)[turn * 7] ?? "revoked"]?.();
  if (reply.text !== "") yield { type: "text-delta", text: reply.text };
  if (reply.fault === "hang") await new Promise(() => undefined);
  if (reply.fault === "slow") await new Promise<void>((resolve) => void book.clock.timer(5000, resolve));
  if (reply.fault === "unknown-delta") yield { type: "bogus", id: "x" } as unknown as Delta;
  const calls =
    reply.fault === "many"
      ? Array.from({ length: 300 }, (_, index) => reply.calls[index % 4] ?? noCall)
      : reply.calls;
  if (isText) yield { type: "text-delta", text: textOfCalls(calls, scene, reply.format) };
  else yield* nativeCalls(calls, scene);
  if (reply.fault === "no-end") return;
  const end = endOf(reply, isText);
  yield end;
  if (reply.fault === "two-ends") yield end;
}

const noCall: CallSpec = { tool: 0, args: { type: "fit", values: [0, 1] }, id: "", form: "whole" };

function endOf({ finish, usage: [input, output] }: ReplySpec, isText: boolean): Delta {
  const usage = { inputTokens: tokenCounts[input], outputTokens: tokenCounts[output] } as never;
  return { type: "end", finishReason: isText && finish === "tool-calls" ? "stop" : finish, usage };
}

/** The name that a call says, and its arguments as text. */
export function sayingOf(
  { tool, args }: CallSpec,
  scene: Scene,
): { readonly name: string; readonly text: string } {
  const index = typeof tool === "number" ? tool % scene.tools.length : 0;
  const name = typeof tool === "number" ? (scene.names[index] ?? "") : tool;
  if (args.type === "raw") return { name, text: args.text };
  if (args.type === "json") return { name, text: JSON.stringify(args.json) };
  const { schema } = scene.tools[index] ?? { schema: "any" as const };
  return { name, text: JSON.stringify(schemas[schema].fit(args.values[0] ?? 0, args.values[1] ?? 0)) };
}

function textOfCalls(calls: readonly CallSpec[], scene: Scene, format: number): string {
  return calls
    .map((call) => {
      const { name, text } = sayingOf(call, scene);
      return formats[format % formats.length]?.(name, text) ?? "";
    })
    .join("\n");
}

function* nativeCalls(calls: readonly CallSpec[], scene: Scene): Generator<Delta> {
  for (const call of calls) {
    const { id, form } = call;
    const { name, text } = sayingOf(call, scene);
    if (form === "early-end") yield { type: "call-end", id, arguments: text };
    yield { type: "call-start", id, name };
    if (form === "open") {
      yield { type: "call-delta", id, text };
      continue;
    }
    if (form === "pieces") {
      for (let at = 0; at < Math.min(text.length, 300); at += 7)
        yield { type: "call-delta", id, text: text.slice(at, at + 7) };
      yield { type: "call-end", id };
      continue;
    }
    yield { type: "call-end", id, arguments: form === "value" ? valueOf(text) : text };
    if (form === "twice") yield { type: "call-end", id, arguments: text };
  }
}

function valueOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
