/** A minimal loop written by hand: only what every loop must do. No policy, no events, no journal. */
import { Ajv, type ValidateFunction } from "ajv";
import {
  type BenchTool,
  nextPieces,
  nextWhole,
  type Piece,
  type Prepare,
  type ScriptedCall,
} from "../../script.ts";

interface FloorMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string | undefined;
  readonly id?: string;
  readonly calls?: readonly ScriptedCall[];
}

interface FloorTool extends BenchTool {
  readonly validate: ValidateFunction;
}

type FloorEvent = Piece | FloorMessage;

async function perform(tools: ReadonlyMap<string, FloorTool>, call: ScriptedCall): Promise<FloorMessage> {
  const tool = tools.get(call.name);
  const args: unknown = JSON.parse(call.arguments);
  if (tool === undefined || !tool.validate(args)) throw new Error("invalid call");
  return { role: "tool", id: call.id, content: JSON.stringify(await tool.execute(args as never)) };
}

async function* modelStream(prompt: string): AsyncGenerator<Piece> {
  yield* nextPieces(prompt);
}

async function modelCall(prompt: string): Promise<ReturnType<typeof nextWhole>> {
  return nextWhole(prompt);
}

async function* events(
  tools: ReadonlyMap<string, FloorTool>,
  prompt: string,
  maxTurns: number,
): AsyncGenerator<FloorEvent, string> {
  const messages: FloorMessage[] = [{ role: "user", content: prompt }];
  for (let turn = 0; turn < maxTurns; turn += 1) {
    let text = "";
    let args = "";
    const calls: ScriptedCall[] = [];
    const results: Promise<FloorMessage>[] = [];
    for await (const piece of modelStream(prompt)) {
      if (piece.type === "text") text += piece.text;
      else if (piece.type === "call") args = "";
      else if (piece.type === "arguments") args += piece.text;
      else {
        const call = { id: piece.id, name: piece.name, arguments: args };
        calls.push(call);
        results.push(perform(tools, call));
      }
      yield piece;
    }
    messages.push({ role: "assistant", content: text, calls });
    if (calls.length === 0) return text;
    for (const result of await Promise.all(results)) {
      messages.push(result);
      yield result;
    }
  }
  throw new Error("too many turns");
}

export const prepare: Prepare = ({ tools: given, maxTurns }) => {
  const ajv = new Ajv();
  const tools = new Map(
    given.map((tool) => [tool.name, { ...tool, validate: ajv.compile(tool.jsonSchema) }]),
  );
  return {
    async run(prompt) {
      const messages: FloorMessage[] = [{ role: "user", content: prompt }];
      for (let turn = 0; turn < maxTurns; turn += 1) {
        const { text = "", calls = [] } = await modelCall(prompt);
        messages.push({ role: "assistant", content: text, calls });
        if (calls.length === 0) return text;
        const [only] = calls;
        if (calls.length === 1 && only !== undefined) messages.push(await perform(tools, only));
        else
          for (const result of await Promise.all(calls.map((call) => perform(tools, call))))
            messages.push(result);
      }
      throw new Error("too many turns");
    },
    async stream(prompt) {
      const stream = events(tools, prompt, maxTurns);
      let next = await stream.next();
      while (next.done !== true) next = await stream.next();
      return next.value;
    },
    /** Parses the whole text at its end, and reports its length meanwhile. */
    async object(prompt, onPartial) {
      let length = 0;
      const stream = events(tools, prompt, maxTurns);
      let next = await stream.next();
      for (; next.done !== true; next = await stream.next())
        if ("type" in next.value && next.value.type === "text") onPartial((length += next.value.text.length));
      return JSON.parse(next.value) as unknown;
    },
  };
};
