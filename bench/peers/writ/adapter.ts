/** writ, as it is built in dist: agent.run and agent.stream over a bare function as the model. */
import { agent, tool } from "writ";
import type { Delta, ModelRequest } from "writ/models";
import { z } from "zod";
import { isStreamed, nextReply, type Piece, type Prepare } from "../../script.ts";

function promptOf({ messages }: ModelRequest): string | undefined {
  const first = messages.find(({ role }) => role === "user");
  if (first?.role !== "user") return undefined;
  const [part] = first.parts;
  return part?.type === "text" ? part.text : undefined;
}

async function* deltas(pieces: Iterable<Piece> | AsyncIterable<Piece>): AsyncGenerator<Delta> {
  let calls = 0;
  for await (const piece of pieces) {
    if (piece.type === "text") yield { type: "text-delta", text: piece.text };
    else if (piece.type === "arguments") yield { type: "call-delta", id: piece.id, text: piece.text };
    else if (piece.type === "call") yield { type: "call-start", id: piece.id, name: piece.name };
    else {
      calls += 1;
      yield { type: "call-end", id: piece.id };
    }
  }
  yield { type: "end", finishReason: calls > 0 ? "tool-calls" : "stop" };
}

export const prepare: Prepare = ({ tools, maxTurns }) => {
  const made = tools.map(({ name, description, zodSchema, effect, execute }) =>
    tool({ name, description, inputSchema: zodSchema(z), effect, execute: (args) => execute(args as never) }),
  );
  const model = (request: ModelRequest) => {
    const reply = nextReply(promptOf(request));
    return isStreamed(reply) ? deltas(reply) : reply;
  };
  const bench = agent({
    name: "bench",
    instructions: "x",
    model,
    tools: made,
    budget: { turns: maxTurns, toolCalls: 1_000_000, durationMs: 3_600_000 },
  });
  const [first] = tools;
  const answering = agent({ name: "answering", model, output: first?.zodSchema(z) });
  return {
    run: async (prompt) => (await bench.run(prompt)).text,
    stream: async (prompt) => {
      const events = bench.stream(prompt);
      let next = await events.next();
      while (next.done !== true) next = await events.next();
      return next.value.text;
    },
    object: async (prompt, onPartial) => {
      const events = answering.stream(prompt);
      let next = await events.next();
      for (; next.done !== true; next = await events.next())
        if (next.value.type === "output-delta") onPartial(next.value.partial);
      return next.value.output;
    },
  };
};
