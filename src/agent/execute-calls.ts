import { WritError } from "../error/writ-error.ts";
import type { RunEvent } from "../event/event.ts";
import { programContext } from "../run/context.ts";
import type { Approve } from "../run/approval.ts";
import { callAround, surrounding } from "../run/around.ts";
import { type EndCause, waitingError } from "../run/end.ts";
import { stepsIn } from "../run/steps-of-run.ts";
import { RunWaits } from "../run/waits.ts";
import type { Executor } from "../run/executor.ts";
import { executeAlone } from "../call/call-tool.ts";
import { executorError } from "../call/handed.ts";
import { lostResult } from "../call/refused.ts";
import { readableCall } from "../call/call.ts";
import type { Hook } from "../hook/hook.ts";
import { sortHooks } from "../hook/run-hooks.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { FinishReason, ResultMessage, ToolCall } from "../message/message.ts";
import { allowList, type Tools } from "../policy/allow-list.ts";
import { type Budget, limitsOf } from "../policy/account/budget.ts";
import { annotated, wordsOf } from "../policy/rules/annotate.ts";
import { allowListed, type Policy } from "../policy/decision.ts";
import { noIntent } from "../policy/knowledge/intent.ts";
import type { Capability } from "../tool/capability.ts";
import { checkRecoveryRules, type RecoveryRules, withRecoveries } from "../tool/recovery-rules.ts";
import { interruptBy } from "../util/interrupt.ts";
import { checkRequest } from "./check-request.ts";

/** The calls of one reply, with what is needed to carry them out. */
export interface ExecuteRequest {
  /** The calls, each with a unique id. Their results come in this order. */
  readonly calls: readonly ToolCall[];
  /** The tools that may be called. */
  readonly tools: Tools;
  readonly policy?: Policy;
  readonly approve?: Approve;
  /** The capabilities, of those that the tools declare, that they may use. Default: none. */
  readonly grants?: readonly Capability[];
  /**
   * The wish of the user, in the user's own words: values that a policy compares with. Default: no value is
   * the user's choice.
   */
  readonly intent?: string;
  readonly hooks?: readonly Hook[];
  readonly recover?: RecoveryRules;
  /** The bounds of a run's budget that concern calls. */
  readonly budget?: Pick<Budget, "toolCalls" | "toolMs" | "sameToolInARow" | "argumentBytes" | "resultBytes">;
  /**
   * The number of calls that run at a time. Default: calls that change something run in their order, all
   * others side by side.
   */
  readonly concurrency?: number;
  /** Carries out the calls in place of the runtime, as in the definition of an agent. */
  readonly executor?: Executor;
  /**
   * The causes that skip the rest of the calls, as {@link EndCause} describes for a reply. There is no run to
   * end. Default: none.
   */
  readonly endOn?: readonly Exclude<EndCause, FinishReason>[];
  readonly journal?: Journal;
  /** Receives the events. */
  readonly onEvent?: (event: RunEvent) => void;
  readonly signal?: AbortSignal;
}

const name = "execute";

/** Carries out calls with the executor alone. `adapters/engine-doors.ts` makes the one for Node, under the name `execute`. */
export async function executeWith(options: ExecuteRequest, host: Host): Promise<ResultMessage[]> {
  checkRequest("execute", options);
  checkIds(options.calls);
  const calls = options.calls.map(readableCall);
  const { policy = allowListed, hooks = [], recover = {}, budget = {}, concurrency } = options;
  const listed = allowList(name, options.tools);
  checkRecoveryRules(recover, { where: "execute()", known: [...listed.tools.keys()] });
  const allowed = annotated({ ...listed, tools: withRecoveries(listed.tools, recover) }, policy);
  const limits = limitsOf({ resultBytes: Infinity, ...budget }, name);
  const { stop, unlink } = interruptBy(options.signal);
  const runId = host.randomId();
  const run = programContext({
    host,
    stop,
    limits,
    concurrency,
    runId,
    journal: stepsIn({ journal: options.journal ?? directJournal, runId, host }),
    hooks: sortHooks(hooks, name),
    tell: options.onEvent,
    approve: options.approve,
    endOn: options.endOn ?? [],
    executor: options.executor,
  });
  const around = callAround(host);
  const intent = { ...noIntent(name), ...(around?.intent ?? { text: options.intent ?? "" }) };
  const powers = [...surrounding(host), options.grants ?? []];
  const gate = { agent: name, allowed, policy, said: wordsOf(policy).said, intent, powers };
  try {
    const executing = executeAlone({ run, turn: 1, calls, gate, limits });
    const { results, broken } = await executing.catch((error: unknown) => {
      throw error instanceof RunWaits ? waitingError(error, name) : error;
    });
    if (broken !== undefined) throw executorError(broken, name);
    return calls.map(({ id, name: tool }, index) => ({
      role: "tool",
      callId: id,
      name: tool,
      ...(results[index] ?? lostResult),
    }));
  } finally {
    unlink();
  }
}

/** Checks that each call has an id of its own, because results are returned by id. */
function checkIds(calls: readonly ToolCall[]): void {
  const ids = new Set(calls.map(({ id }) => id));
  if (ids.size === calls.length && !ids.has("")) return;
  const reason = "each call needs an id of its own; `chat` gives them.";
  throw new WritError("definition-invalid", { where: "execute()", reason });
}
