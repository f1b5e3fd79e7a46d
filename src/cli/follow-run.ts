import type { AgentEvent } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import { noUsage, type Usage } from "../message/usage.ts";
import type { Approve } from "../run/approval.ts";
import type { SessionHandle } from "../session/session.ts";
import type { Capability } from "../tool/capability.ts";
import type { AnyAgent } from "./load-agent.ts";
import type { QuestionPart } from "./read-files.ts";

/** The end of a run, also of one that failed to begin. */
export interface PrintedEnd {
  readonly outcome?: Outcome;
  readonly text?: string;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly usage: Usage;
  readonly turns: number;
  readonly durationMs: number;
  readonly runId?: string;
}

/** Options of {@link followRun}. */
export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly skill?: string;
  readonly ceiling?: readonly Capability[];
  readonly session?: SessionHandle;
  /** Asks about calls. Default: they are denied. */
  readonly approve?: Approve;
  /** Called with each event. An error that it throws ends the run. */
  readonly watch: (event: AgentEvent) => void | Promise<void>;
}

/** Runs an agent, passes on each event, and returns the end. Does not throw for a run that fails. */
export async function followRun(
  agent: AnyAgent,
  prompt: string | readonly QuestionPart[],
  { watch, approve: ask = nobody, ...options }: FollowOptions,
): Promise<PrintedEnd> {
  const told = tellingFirst();
  const approve: Approve = async (request, others) => {
    await told.of(request);
    return ask(request, others);
  };
  const startedAt = performance.now();
  const seen: { runId?: string; outcome?: Outcome; usage: Usage; turns: number } = {
    usage: noUsage,
    turns: 0,
  };
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the input of an agent from a file is unknown; it checks its input itself
    const events = agent.stream(prompt as never, { ...options, approve });
    for (;;) {
      const next = await events.next();
      if (next.done === true) return { ...next.value, durationMs: performance.now() - startedAt };
      const event = next.value;
      await watch(event);
      if (event.type === "approval-request") told.tell(event.request);
      seen.runId = event.runId;
      if (event.type === "turn-start") seen.turns = event.turn;
      if (event.type === "usage-add") seen.usage = event.total;
      if (event.type === "run-end") seen.outcome = event.outcome;
    }
  } catch (error) {
    return { ...seen, error, durationMs: performance.now() - startedAt };
  }
}

/** Denies, because nobody can be asked. */
const nobody: Approve = () => ({
  approved: false,
  reason: "it needs an approval, and there is no terminal to ask at",
});

/** Holds a question back until everything before it was printed, because the run is ahead of the printed text. */
function tellingFirst(): {
  readonly of: (request: object) => Promise<void>;
  readonly tell: (request: object) => void;
} {
  const waiting = new WeakMap<object, PromiseWithResolvers<void>>();
  const entry = (request: object): PromiseWithResolvers<void> => {
    const known = waiting.get(request) ?? Promise.withResolvers<void>();
    waiting.set(request, known);
    return known;
  };
  return { of: (request) => entry(request).promise, tell: (request) => entry(request).resolve() };
}
