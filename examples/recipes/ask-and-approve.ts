// The client of the recipes for Bun and Deno: a separate program that asks for a refund, follows the run, and approves its question.
import { runsClient } from "writ/client";

/** Asks the server at an address to refund an order. Returns the types of the events that it got, without repeats in a row. */
export async function askAndApprove(url: string, token: string): Promise<readonly string[]> {
  const runs = runsClient({ url, token });
  const { id } = await runs.start("clerk", "Refund order 17");
  const told: string[] = [];
  for await (const { type } of runs.events(id)) {
    if (told.at(-1) !== type) told.push(type);
    if (type !== "approval-request") continue;
    const [question] = await runs.waiting(id);
    if (question === undefined) throw new Error("nothing waits for an answer");
    await runs.answer(id, question.key, { approved: true, hash: question.request.hash });
  }
  return told;
}
