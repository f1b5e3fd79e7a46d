/** Makes attempts as a tool of this process, through its handles or around them: the parent names one after another, and checks what was reached. */
import { env, exec, fs, net, tool } from "../../src/index.ts";
import { callTool } from "../../src/doors.ts";
import type { Handles } from "../../src/tool/handles.ts";
import { execute, type Found, type Targets } from "./attempts.ts";
import { tryThrough } from "./through-handles.ts";

/** One attempt, and whether it goes through the handles. */
export interface Trying {
  readonly row: string;
  readonly targets: Targets;
  readonly throughHandles: boolean;
}

async function tryOne({ row, targets, throughHandles }: Trying): Promise<Found | undefined> {
  const folder = [fs.read(targets.folder), fs.write(targets.folder)];
  const needs = [
    net(`http://127.0.0.1:${targets.redirectPort}`),
    ...folder,
    env("WRIT_GRANTED"),
    exec("git"),
  ];
  let found: Found | undefined;
  const escaping = tool({
    name: "escaping",
    description: "",
    inputSchema: { type: "object" },
    needs,
    execute: async (_args, context) => {
      found = throughHandles
        ? await tryThrough(row, targets, context as unknown as Handles)
        : await execute({ row, targets });
    },
  });
  const { status, text } = await callTool(escaping, {}, { grants: needs });
  if (status !== "ok") throw new Error(`${row}: ${text}`);
  // A change in this process has reached the program that the tool runs in.
  const isChanged =
    Reflect.deleteProperty(Object.prototype, "escaped") && found === "inside" && row.startsWith("change");
  return isChanged ? "reached" : found;
}

process.on("message", (trying: Trying) => {
  void tryOne(trying).then((found) => process.send?.({ found }));
});
