import { type AgentEvent, type Envelope, isFact, type RunEvent } from "../event/event.ts";
import { readsWith } from "../event/only-reads.ts";
import { markPast } from "../event/past.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { Intent } from "../policy/knowledge/intent.ts";
import type { Channel } from "../util/channel.ts";
import type { Writing } from "../util/writing.ts";
import type { Scope } from "./scope.ts";
import { StepsOfRun } from "./steps-of-run.ts";

/** A run whose events are told. */
export interface ToldRun {
  readonly host: Host;
  readonly runId: string;
  readonly agent: string;
  /** The agent's own observers. They never throw, and receive no events of a replay. */
  readonly observe?: (event: AgentEvent) => void;
  readonly sessionId?: string;
  /** The run around this one. */
  readonly parent?: Scope;
  readonly journal?: Journal;
}

/** Forwards the events of a run to the agent's observers, to its own reader, and to those of the run around it. */
export function forwarding(
  events: Channel<AgentEvent> | undefined,
  { observe: given, parent, journal }: ToldRun,
): ((event: AgentEvent) => void) | undefined {
  const observe = journal?.mode === "replay" ? undefined : given;
  if (observe === undefined && events === undefined) return parent?.forward;
  const push = events === undefined ? undefined : (event: AgentEvent) => events.push(event);
  const all = [observe, push, parent?.forward].filter((each) => each !== undefined);
  if (all.length < 2) return all[0];
  return readsWith((event: AgentEvent) => all.forEach((each) => each(event)), all);
}

/** An event that is given its envelope. */
type Sealing = RunEvent & Partial<Writing<Envelope>>;

/** Adds the envelope, field by field, as every delta gets one. `seq` counts the facts of this run only. */
export function telling(
  { agent, runId, sessionId, parent, host, journal }: ToldRun,
  forward: (event: AgentEvent) => void,
  about: { readonly frame?: { readonly intent: Pick<Intent, "hash"> | undefined } },
): (event: RunEvent) => void {
  const parentRunId = parent?.runId;
  const steps = StepsOfRun.of(journal);
  let seq = 0;
  let ended = false;
  const tell = (event: RunEvent): void => {
    if (ended) return;
    ended = event.type === "run-end";
    if (isFact(event)) seq += 1;
    const intent = about.frame?.intent?.hash;
    const told: Sealing = { ...event, seq, agent, runId };
    if (parentRunId !== undefined) told.parentRunId = parentRunId;
    if (sessionId !== undefined) told.sessionId = sessionId;
    if (intent !== undefined) told.intent = intent;
    told.at = (host.day ?? host).now();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field that an envelope must have is put on
    const sealed = told as AgentEvent;
    if (steps?.isPast === true) markPast(sealed);
    forward(sealed);
  };
  return readsWith(tell, [forward]);
}
