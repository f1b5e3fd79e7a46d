/**
 * The replies of the model of every peer. A run is identified by its prompt, so that one agent serves many runs at once and the models that the
 * adapters make keep no state.
 */
import type * as zod from "zod";

/** A call as a model writes it: `arguments` is JSON text. */
export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A piece of a reply that is streamed. */
export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string }
  | { readonly type: "arguments"; readonly id: string; readonly text: string }
  | { readonly type: "call-end"; readonly id: string; readonly name: string; readonly arguments: string };

/** A reply that is whole at once. */
export interface WholeReply {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
}

/** A reply of the model. */
export type Reply = WholeReply | Iterable<Piece> | AsyncIterable<Piece>;

/** A tool of a case, before a peer made its own tool of it. */
export interface BenchTool {
  readonly name: string;
  readonly description: string;
  readonly zodSchema: (z: typeof zod.z) => zod.ZodType;
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /** The effect of a call on the world, for peers that ask for it. */
  readonly effect: "none" | "read";
  readonly execute: (args: never) => Promise<unknown>;
}

/** An agent of a peer, ready to run. */
export interface BenchAgent {
  /** Returns the final text. */
  run(prompt: string): Promise<string>;
  /** Reads the peer's stream to its end. Returns the final text. */
  stream(prompt: string): Promise<string>;
  /** Returns an answer with the shape of the first tool's arguments; reports each partial object before it. Left out by peers that have none. */
  object?(prompt: string, onPartial: (partial: unknown) => void): Promise<unknown>;
}

/** The function that an adapter exports as `prepare`. */
export type Prepare = (options: {
  readonly tools: readonly BenchTool[];
  readonly maxTurns: number;
}) => BenchAgent;

interface Script {
  readonly replyAt: (turn: number) => Reply;
  turn: number;
}

const scripts = new Map<string, Script>();
let begun = 0;

/** Begins a run; returns its prompt. */
export function beginScript(replyAt: (turn: number) => Reply): string {
  begun += 1;
  const prompt = `run ${begun}`;
  scripts.set(prompt, { replyAt, turn: 0 });
  return prompt;
}

/** Ends a run; returns how often its model was asked. */
export function endScript(prompt: string): number {
  const turns = scripts.get(prompt)?.turn ?? 0;
  scripts.delete(prompt);
  return turns;
}

/** The next reply of the run that this prompt began. */
export function nextReply(prompt: string | undefined): Reply {
  const script = scripts.get(prompt ?? "");
  if (script === undefined) throw new Error(`No run has the prompt ${prompt}.`);
  script.turn += 1;
  return script.replyAt(script.turn - 1);
}

/** The next reply, for a model that replies as a whole. */
export function nextWhole(prompt: string | undefined): WholeReply {
  const reply = nextReply(prompt);
  if (isStreamed(reply)) throw new Error("This case streams its replies.");
  return reply;
}

/** The next reply in pieces, in whichever form the case has it. */
export function nextPieces(prompt: string | undefined): Iterable<Piece> | AsyncIterable<Piece> {
  const reply = nextReply(prompt);
  return isStreamed(reply) ? reply : piecesOf(reply);
}

export function isStreamed(reply: Reply): reply is Iterable<Piece> | AsyncIterable<Piece> {
  return Symbol.iterator in reply || Symbol.asyncIterator in reply;
}

function piecesOf({ calls = [], text }: WholeReply): Piece[] {
  const pieces: Piece[] = [];
  for (const { id, name, arguments: args } of calls) {
    pieces.push(
      { type: "call", id, name },
      { type: "arguments", id, text: args },
      { type: "call-end", id, name, arguments: args },
    );
  }
  if (text !== undefined) pieces.push({ type: "text", text });
  return pieces;
}

/** Makes the web stream that some peers want. Each piece is mapped when it is pulled; nothing is made ahead. */
export function pullStream<Part>(
  pieces: Iterable<Piece> | AsyncIterable<Piece>,
  map: {
    readonly first: readonly Part[];
    readonly each: (piece: Piece) => readonly Part[];
    readonly last: () => readonly Part[];
  },
): ReadableStream<Part> {
  const iterator =
    Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  return new ReadableStream<Part>(
    {
      start(controller) {
        for (const part of map.first) controller.enqueue(part);
      },
      async pull(controller) {
        const step = iterator.next();
        const { done, value } = step instanceof Promise ? await step : step;
        const parts = done === true ? map.last() : map.each(value);
        for (const part of parts) controller.enqueue(part);
        if (done === true) controller.close();
        else if (parts.length === 0) await this.pull?.(controller);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The arguments of call `index` to the weather tool. */
export function weatherArguments(index: number): string {
  const opts = { verbose: true, ratio: index / 7 };
  return JSON.stringify({
    city: `Paris ${index}`,
    days: index % 30,
    unit: index % 2 === 1 ? "c" : "f",
    tags: ["a", `b${index}`],
    opts,
  });
}

export interface WeatherArguments {
  readonly city: string;
  readonly days: number;
}

/** A tool with five fields, one of them an object, whose `execute` is the case's own. */
export function weatherTool(execute: (args: WeatherArguments) => Promise<unknown>): BenchTool {
  return {
    name: "weather",
    description: "Weather of a city",
    zodSchema: (z) =>
      z.object({
        city: z.string(),
        days: z.number().int(),
        unit: z.enum(["c", "f"]),
        tags: z.array(z.string()),
        opts: z.object({ verbose: z.boolean(), ratio: z.number() }),
      }),
    jsonSchema: objectSchema({
      city: { type: "string" },
      days: { type: "integer" },
      unit: { type: "string", enum: ["c", "f"] },
      tags: { type: "array", items: { type: "string" } },
      opts: objectSchema({ verbose: { type: "boolean" }, ratio: { type: "number" } }),
    }),
    effect: "none",
    execute,
  };
}

export interface SaveArguments {
  readonly text: string;
  readonly items: readonly string[];
}

/** A tool that takes a lot: one long text and a list. */
export function saveTool(execute: (args: SaveArguments) => Promise<unknown>): BenchTool {
  return {
    name: "save",
    description: "Save a text and a list",
    zodSchema: (z) => z.object({ text: z.string(), items: z.array(z.string()) }),
    jsonSchema: objectSchema({
      text: { type: "string" },
      items: { type: "array", items: { type: "string" } },
    }),
    effect: "none",
    execute,
  };
}

function objectSchema(properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** Arguments of the save tool that are `count` pieces of about eight characters: half of it text, half list. */
export function saveArguments(count: number): {
  readonly json: string;
  readonly pieces: readonly string[];
  readonly items: number;
} {
  const half = count * 4 - 20;
  const items: string[] = [];
  for (let length = 0; length < half; length += (items.at(-1)?.length ?? 0) + 3)
    items.push(`item${items.length}`);
  const json = JSON.stringify({ text: "lorem ip".repeat(Math.ceil(half / 8)).slice(0, half), items });
  const size = json.length / count;
  const pieces = Array.from({ length: count }, (_, index) =>
    json.slice(Math.round(index * size), Math.round((index + 1) * size)),
  );
  return { json, pieces, items: items.length };
}
