import { joinedParts, partText } from "../journal/parts.ts";
import type { Model } from "../model/model.ts";
import { type AllowList, offeredTools } from "../policy/allow-list.ts";
import { fingerprint } from "../util/hash.ts";
import { remembered } from "../util/remembered.ts";
import type { LoopOptions } from "./options.ts";
import type { Run, State } from "./state.ts";

/**
 * The fingerprint of a request, part by part: the model, the tools, the settings, and what this turn adds to the transcript. The driver is not part of it:
 * a recorded reply is read by its own driver.
 */
export function requestFingerprint({ transcript, sent, gate }: State, { options }: Run): string {
  const messages = transcript.since(sent);
  const system = messages[0]?.role === "system" ? messages.shift() : undefined;
  const parts = [modelText(options.model), toolsText(gate.allowed), settingsText(options)];
  parts.push(partText("messages", hashOf(messages)));
  if (system !== undefined) parts.push(partText("instructions", hashOf(system)));
  return joinedParts(parts);
}

/** The text of the part that all requests of a run share. Depends on: the model, which keeps its name. */
const modelText = remembered(({ id }: Model) => partText("model", id));

/** The text of the tools, sorted by name: a server may list its tools in another order each time. Depends on: the list of tools, which never changes. */
const toolsText = remembered((allowed: AllowList) => {
  const offered = offeredTools(allowed).map(({ name, description, input }) => [
    name,
    description,
    input.jsonSchema,
  ]);
  return partText(
    "tools",
    offered.toSorted(([one = ""], [other = ""]) => (one < other ? -1 : 1)),
  );
});

/** Depends on: the options of a run, which never change. */
const settingsText = remembered(({ settings, toolChoice, lastTurn, examples, output }: LoopOptions) =>
  partText("settings", hashOf([settings, toolChoice, lastTurn, examples, output?.jsonSchema])),
);

function hashOf(value: unknown): string {
  return fingerprint(JSON.stringify(value));
}
