import type { Inside } from "../../run/inside.ts";
import { openCallScope, type OpenScope } from "../../run/scope.ts";
import { openCall } from "../../run/around.ts";
import { RunWaits } from "../../run/waits.ts";
import type { Gate } from "../../run/gate.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Frame } from "../../run/frame.ts";
import type { StopReason } from "../../run/end.ts";
import { joinLabels, type Label } from "../../message/label.ts";
import { isAsked, textOf } from "../../message/message.ts";
import type { ReadyTranscript } from "../../message/transcript.ts";
import { addUsage, noUsage, type Usage } from "../../message/usage.ts";
import { allowList } from "../../policy/allow-list.ts";
import { emptyLedger, type Ledger, type Limits, restored, spendInside } from "../../policy/account/budget.ts";
import { heldTo } from "../../policy/rules/annotate.ts";
import { allowListed } from "../../policy/decision.ts";
import { noIntent, rehashed } from "../../policy/knowledge/intent.ts";
import { purse, type Spending } from "../../policy/account/purse.ts";
import type { Act } from "../../tool/acts.ts";
import type { Interrupt } from "../../util/interrupt.ts";
import { MadeValue } from "../question.ts";
import { inputLabel } from "../run-intent.ts";
import type { RunFrame, RunResult } from "../runnable.ts";
import type { RunOptions } from "../run-options.ts";
import type { Member } from "./members.ts";

/** One run of a member. The place is the member's number from 0, and in rounds the round's after it: `0`, `1`, `0/2`. */
export interface Job {
  readonly member: Member;
  readonly place: string;
  readonly input: unknown;
  /** True if an agent made the input, so that it is read as a value, not as a question. Default: as that of the composition. */
  readonly isMade?: boolean;
  /** Instructions added to those of the run itself. */
  readonly instructions?: string;
}

/** The end of a member's run: a result, or a thrown error. Empty if it never began. */
export interface Ran {
  readonly result?: RunResult<unknown>;
  readonly thrown?: { readonly error: unknown };
  readonly inside?: Inside;
  /** The error of a journal that failed inside: the composition ends by it. */
  readonly lost?: { readonly error: unknown };
}

/** One run of a composition, as its course sees it. */
export interface CompositeRun {
  readonly name: string;
  readonly runId: string;
  readonly journal: Journal;
  readonly stop: Interrupt<StopReason>;
  /** Opens a place for runs inside this one, until it is closed or stopped. */
  open(place: string, stop: Interrupt<StopReason>): OpenScope;
  /**
   * Runs a member until it ends or is stopped; `book` tells and counts what happened.
   *
   * @throws only RunWaits with what happened
   */
  perform(job: Job, stop: Interrupt<StopReason>): Promise<Ran>;
  /** Counts what happened inside a place, without telling it. */
  count(inside: Inside | undefined): void;
  /** Tells of the runs inside a place, and counts what they spent. */
  book(place: string, inside: Inside | undefined): void;
  /** Books spending of a run that a replay does not run again. */
  spend(spending: Spending): void;
  /** The tokens and calls spent so far, the acts that changed something, and the join of its members' labels: its output is no better. */
  soFar(): {
    readonly usage: Usage;
    readonly ledger: Ledger;
    readonly acts: readonly Act[];
    readonly label: Label;
  };
}

export interface CompositeRunOptions {
  readonly name: string;
  readonly base: RunFrame;
  readonly options: RunOptions;
  readonly limits: Limits;
  /** True if an agent made the input of the composition. */
  readonly isMade: boolean;
  /** The conversation, ending with the question to the composition. */
  readonly transcript: ReadyTranscript;
}

/** Makes the run of a composition inside its frame. */
export function compositeRun(given: CompositeRunOptions, { tell, forward, stop }: Frame): CompositeRun {
  const { name, base, options, limits, transcript } = given;
  const { parent, journal, accounts, level } = base;
  const balance = { now: { ledger: emptyLedger, limits } };
  const own = purse(parent?.purse, balance);
  const scope = { ...level, balance, purse: own, accounts, forward, outer: parent?.purse };
  const gate = gateOfComposite(given);
  let label = inputLabel(base, options);
  let usage = noUsage;
  let ledger = emptyLedger;
  const acts: Act[] = [];

  function open(place: string, until: Interrupt<StopReason>): OpenScope {
    const before = label;
    const around = openCall(gate.intent, scope, () => before);
    const at = { key: place, callId: place, turn: 0, gate, transcript, around };
    return openCallScope(at, { ...base, scope, tell, stop: until });
  }
  async function perform(
    { member, place, input, isMade = given.isMade, instructions }: Job,
    until: Interrupt<StopReason>,
  ): Promise<Ran> {
    const opened = open(place, until);
    const told = [options.instructions ?? "", instructions ?? ""].filter((text) => text !== "").join("\n\n");
    const tools = options.tools?.filter((tool) => member.about.tools.includes(tool));
    const inner = { parent: opened.run, tools, instructions: told, retry: options.retry };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each agent checks its input itself
    const ended = await member.agent.run((isMade ? new MadeValue(input) : input) as never, inner).then(
      (result) => ({ result }),
      (error: unknown) => ({ thrown: { error } }),
    );
    return { ...ended, ...(await closePlace(opened)) };
  }
  function book(callId: string, inside: Inside | undefined): void {
    for (const delegation of inside?.delegations ?? [])
      tell?.({ type: "delegation-end", turn: 0, callId, delegation });
    count(inside);
  }
  function count(inside: Inside | undefined): void {
    if (inside === undefined) return;
    label = joinLabels(label, inside.label);
    usage = addUsage(usage, inside.spending.usage);
    acts.push(...(inside.acts ?? []));
    ledger = spendInside(ledger, inside.spending);
  }
  return {
    name,
    runId: base.runId,
    journal,
    stop,
    open,
    perform,
    count,
    book,
    spend: (spending) => own.spend(restored(spending)),
    soFar: () => ({ usage, ledger, acts, label }),
  };
}

/** Closes a place, and gives what happened there, also where a journal failed. @throws only RunWaits with what happened */
export async function closePlace(opened: OpenScope): Promise<Pick<Ran, "inside" | "lost">> {
  try {
    return { inside: await opened.close() };
  } catch (error) {
    if (error instanceof RunWaits) throw error;
    return { inside: opened.happened, lost: { error } };
  }
}

/** The gate of a composition, which calls no tools: it is for the runs inside. */
function gateOfComposite({ name, base, options, transcript }: CompositeRunOptions): Gate {
  const { parent, around, host, powers } = base;
  const { text, constants } = around?.intent ?? {
    text: options.intent ?? askedOf(transcript),
    constants: [],
  };
  const intent = parent?.around.intent ?? rehashed({ ...noIntent(name), text, constants }, host.digest);
  const { policy = allowListed, said } = parent ?? {};
  const allowed = heldTo(allowList(name, []), said);
  return { agent: name, allowed, policy, said, intent, powers };
}

/** The question to a composition, in words. */
function askedOf({ messages }: ReadyTranscript): string {
  const asked = messages.findLast(isAsked);
  return asked === undefined ? "" : textOf(asked);
}
