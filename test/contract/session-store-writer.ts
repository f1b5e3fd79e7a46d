/**
 * A process that writes to the sessions of an address, for the tests of several at once. For each line `append <run> <version>` of its input it says how
 * that ended; `race <name> <runs>` appends so many runs, reading again whenever another process was faster, and tells how often that was.
 */
import { createInterface } from "node:readline";
import { isWritError } from "../../src/error/writ-error.ts";
import { userMessage } from "../../src/message/message.ts";
import type { SessionRun } from "../../src/session/session-store.ts";
import { openSessions } from "./open-sessions.ts";

const store = openSessions(process.argv[2] ?? "");

function run(runId: string): SessionRun {
  const outcome = { type: "answered", content: runId, finishReason: "stop" } as const;
  const messages = [userMessage(runId.repeat(200))];
  return { runId, agent: "a", skill: "s", outcome, usage: { inputTokens: 0, outputTokens: 0 }, messages };
}

async function append(runId: string, version: number): Promise<string> {
  try {
    return `version ${await store.append("s", run(runId), version)}`;
  } catch (error) {
    return isWritError(error) ? error.code : String(error);
  }
}

async function race(name: string, runs: number): Promise<string> {
  let conflicts = 0;
  for (let index = 0; index < runs;) {
    const { version } = await store.read("s");
    const end = await append(`${name}${index}`, version);
    if (end === "session-conflict") conflicts += 1;
    else if (end === `version ${version + 1}`) index += 1;
    else return end;
  }
  return `conflicts ${conflicts}`;
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [command, name = "", count = ""] = line.split(" ");
  console.log(await (command === "race" ? race(name, Number(count)) : append(name, Number(count))));
}
await store.close();
