/** The cost of reading calls out of text while the text is streamed: each repetition reads one reply of `size` deltas, from its first to its end. */
import { recogniser } from "writ/drivers";
import type { BenchCase } from "./bench-case.ts";
import { measure } from "./measure.ts";

const city = { type: "string" } as const;
const tools = Array.from({ length: 20 }, (_, index) => ({
  name: `tool_${index}`,
  inputSchema: {
    type: "object",
    properties: { city, note: { type: "string" } },
    required: ["city"],
  } as const,
}));

/** A word a delta, most of them words of prose, or of one long argument; a call at the end. */
function deltasOf(size: number, kind: "prose" | "argument"): readonly string[] {
  const words = Array.from({ length: size }, (_, index) => `word${index % 97} `);
  const call = 'tool_7(city="Lima")';
  return kind === "prose"
    ? [...words, "\n\n", "```\n", call, "\n```"]
    : ['<tool_call>{"name": "tool_7", "arguments": {"city": "Lima", "note": "', ...words, '"}}</tool_call>'];
}

function recogniserCase(kind: "prose" | "argument"): BenchCase["run"] {
  return async (_prepare, size) => {
    const deltas = deltasOf(size, kind);
    const finder = recogniser(tools);
    const read = async (): Promise<void> => {
      const stream = finder.stream();
      for (const delta of deltas) stream.push(delta);
      const { calls } = stream.end();
      if (calls.length !== 1 || calls[0]?.name !== "tool_7")
        throw new Error(`${calls.length} calls were read`);
    };
    const timing = await measure(read);
    return [
      {
        label: "us a delta",
        value: (timing.ms * 1000) / deltas.length,
        cpu: (timing.minCpuMs * 1000) / deltas.length,
      },
    ];
  };
}

const group = "Deltas of one reply whose calls are text";

/** Cases of writ alone: no peer reads calls out of text while it is streamed. */
export const recogniserCases: Readonly<Record<string, BenchCase>> = {
  "text-calls": { group, sizes: [100, 1000, 10_000], alone: true, run: recogniserCase("prose") },
  "text-calls-long": { group, sizes: [100, 1000, 10_000], alone: true, run: recogniserCase("argument") },
};
