import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import type { Executor } from "../../src/doors.ts";
import { scripted } from "../../src/testing.ts";
import type { JsonObject } from "../../src/util/json.ts";

/** A call as a script says it. */
export interface Proposed {
  readonly id?: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** A call of a script. */
export const call = (name: string, args: JsonObject = {}): Proposed => ({
  name,
  arguments: args,
});

/** Runs each call as the runtime would, all at once. */
export const plain: Executor = {
  execute: (calls, context) => Promise.all(calls.map((each) => context.run(each))),
};

/** Doubles a number. */
export const double = tool({
  name: "double",
  description: "",
  inputSchema: z.object({ n: z.coerce.number() }),
  outputSchema: z.number(),
  effect: "none",
  execute: ({ n }) => n * 2,
});

/** The results of a run, by their calls, as they stand in its transcript. */
export function resultsOf(ended: {
  readonly transcript: { readonly messages: readonly object[] };
}): readonly unknown[] {
  return ended.transcript.messages.flatMap((message) =>
    "status" in message && "text" in message ? [[message.status, message.text]] : [],
  );
}

/** What came of one reply with these calls, under this executor. */
export async function ran(
  executor: Executor,
  {
    tools,
    calls,
    ...more
  }: Pick<Parameters<typeof agent>[0], "tools" | "hooks" | "budget" | "policy"> & {
    calls: readonly Proposed[];
  },
): Promise<{ outcome: unknown; results: readonly unknown[] }> {
  const ended = await agent({
    name: "a",
    model: scripted([{ calls }, "done"]),
    executor,
    ...(tools === undefined ? {} : { tools }),
    ...more,
  }).run("go");
  return { outcome: ended.outcome, results: resultsOf(ended) };
}
