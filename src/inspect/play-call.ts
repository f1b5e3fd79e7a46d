import type { Agent } from "../agent/agent.ts";
import { carryOut } from "../durable/carry-out.ts";
import { durableRunsWith } from "../durable/durable-runs.ts";
import { memoryRuns } from "../durable/memory-runs.ts";
import type { Host } from "../journal/host.ts";
import type { Message, UserMessage } from "../message/message.ts";
import type { Executor } from "../run/executor.ts";
import { type KnownAgent, loadRun } from "./load-run.ts";
import type { InspectedRun, PlayedCall } from "./view.ts";

const id = "tried";

/**
 * Has an agent make one call, in a store of its own that is discarded: with its policy, its allow-list, its hooks and its bounds, and a script in place
 * of its model. Returns the view of that run.
 */
export async function playCall(
  agent: Agent,
  played: PlayedCall,
  { host, known }: { readonly host: Host; readonly known: KnownAgent },
): Promise<InspectedRun> {
  const store = memoryRuns();
  const changed = agent.with({
    model: scriptOf(played),
    ...(played.mode === "judge" ? { executor: notCarriedOut } : {}),
  });
  const around = { store, agents: [changed], host, known: new Map([[agent.name, known]]) };
  const runs = durableRunsWith({ store, agents: [changed] }, host);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is read by the agent's own schema
  await runs.start(changed, inputOf(played) as never, { id });
  await carryOut(await store.open(id), around).done;
  const [question] = await store.questions(id);
  if (played.mode === "approve" && question !== undefined) {
    const { key, request } = question;
    await store.answer(id, key, { approved: true, hash: request.hash });
    await carryOut(await store.open(id), around).done;
  }
  return loadRun(id, around);
}

/** A model that makes the call, and then answers. */
const scriptOf =
  ({ tool, arguments: args }: PlayedCall) =>
  ({ messages }: { readonly messages: readonly Message[] }) => {
    const isCalled = messages.some((message) => message.role === "tool" && message.callId === callId);
    return isCalled ? "The call was made." : { calls: [{ id: callId, name: tool, arguments: args }] };
  };

const callId = "tried_1";

const said = (text: string): UserMessage => ({ role: "user", parts: [{ type: "text", text }] });

/** The user's text, or a conversation in which the model has read the text of a stranger. */
function inputOf({ asked, stranger }: PlayedCall): string | readonly Message[] {
  const words = asked === "" ? "Make the call." : asked;
  if (stranger === undefined) return words;
  const call = { type: "tool-call", id: "stranger_1", name: "a_stranger", arguments: {} } as const;
  return [
    said(words),
    { role: "assistant", parts: [call] },
    { role: "tool", callId: call.id, name: call.name, status: "ok", text: stranger },
    said(words),
  ];
}

/** An executor that carries out nothing. */
const notCarriedOut: Executor = {
  execute: async (calls) =>
    calls.map(({ id: callId }) => ({ callId, skipped: "it was tried, and not carried out" })),
};
