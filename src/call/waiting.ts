import { checkArguments, checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { JournalQuestion } from "../journal/journal.ts";
import type { ApprovalRequest, WaitedFor } from "../policy/rules/approval-request.ts";
import { asRuntime } from "../run/around.ts";
import type { RunContext } from "../run/context.ts";
import { scopeOf } from "../run/scope.ts";
import { withoutSecrets } from "../run/secrets.ts";
import { RunWaits } from "../run/waits.ts";
import { describeIssues } from "../schema/schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { mayRunAgain } from "../tool/after-crash.ts";
import type { Tool } from "../tool/tool.ts";
import type { OnWait, Waits } from "../tool/waits.ts";
import { duration, durationMs } from "../util/duration.ts";
import { untilAborted, untilStopped } from "../util/interrupt.ts";
import { type Json, wholeJson } from "../util/json.ts";
import { anything, filled, optional } from "../util/shape.ts";
import { questionAbout } from "./ask.ts";
import type { OngoingCall } from "./call.ts";
import { fingerprintOf } from "./step.ts";

/** The end of a wait, as the journal keeps it. */
export type KeptWait = { readonly value: Json } | { readonly isOver: true };

/** A wait of a call. */
interface Wait {
  /** The place of the wait in its call. Waits of the same name have different numbers. */
  readonly place: string;
  readonly waitsFor: WaitedFor;
  readonly afterMs?: number;
}

/** The call that waits. */
interface PatientCall {
  readonly tool: Tool;
  /** Waits for a signal, or for a time if the name is left out. */
  readonly until: (wait: Wait) => Promise<KeptWait>;
  readonly host: Host;
}

/** The latest time that a date can be, in milliseconds since 1970. */
const lastMs = 8.64e15;

const waitShape = closed({ schema: anything, within: optional(duration) });

/** The waits of a call. */
function waitsOf({ tool, until, host }: PatientCall): Waits {
  const counts = new Map<string, number>();
  /** The place of the next wait of a kind: the same each time the tool begins again, if it waits in the same order. */
  function placeOf(kind: string): string {
    if (!mayRunAgain(tool)) throw new WritError("wait-not-repeatable", { tool: tool.name });
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return `${kind}/${count}`;
  }
  async function waitFor(
    name: string,
    options: { readonly schema?: SchemaSource; readonly within?: string } = {},
  ): Promise<unknown> {
    checkShape("waitFor()", options, waitShape);
    checkArguments("waitFor()", { name }, { name: filled });
    const { schema: source, within } = options;
    const schema =
      source === undefined ? undefined : toSchema(source, { name, role: "input", coerce: "none" });
    const asked = { signal: name, ...(schema === undefined ? {} : { schema: schema.jsonSchema }) };
    const waitsFor = withoutSecrets(asked, host); // stores keep it, and people see it
    const ended = await until({
      place: placeOf(`wait/${waitsFor.signal}`),
      waitsFor,
      ...(within === undefined ? {} : { afterMs: durationMs(within) }),
    });
    if ("isOver" in ended) return undefined;
    const parsed = await schema?.parse(ended.value);
    if (parsed === undefined) return ended.value;
    if (parsed.ok) return parsed.value;
    throw new WritError("signal-invalid", { name, issues: describeIssues(parsed.issues) });
  }
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema made the value
    waitFor: waitFor as unknown as Waits["waitFor"],
    async sleepUntil(time) {
      const ms: unknown = time?.valueOf();
      if (typeof ms !== "number" || !(Math.abs(ms) <= lastMs))
        throw new WritError("definition-invalid", {
          where: "sleepUntil()",
          reason: "it takes a date, or milliseconds since 1970.",
        });
      const afterMs = Math.ceil(ms - timeOfDay(host)); // stores keep whole milliseconds
      const place = placeOf("sleep");
      if (afterMs > 0) await until({ place, waitsFor: "time", afterMs });
    },
  };
}

/** Register: the waits of each call whose tool has waited, while the call lives. */
const begun = new WeakMap<OngoingCall, Waits>();

/** The waits of a call of a run, kept in its journal if it can wait there. `pause` stops the clock of the call. */
export function waitsBegun(work: OngoingCall, pause: () => () => void): Waits {
  let waits = begun.get(work);
  if (waits === undefined) begun.set(work, (waits = waitsOfCall(work, pause)));
  return waits;
}

/** Forgets the waits of a call whose tool begins again in this process, from its first wait. */
export function forgetWaits(work: OngoingCall): void {
  begun.delete(work);
}

function waitsOfCall(work: OngoingCall, pause: () => () => void): Waits {
  const { run, gate } = work.at.batch;
  const { call, tool } = work.ready;
  /** Asks one after another: signals of one name go to the waits in their order. */
  let asking: Promise<unknown> = Promise.resolve();
  async function inJournal(
    wait: Wait,
    ask: (question: JournalQuestion) => Promise<unknown>,
  ): Promise<KeptWait> {
    const question = questionOf(work, wait);
    const asked = asking.then(() => asRuntime(run.host, () => ask(question)));
    asking = asked.catch(() => undefined);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer to a question of this kind
    const found = (await asked) as { readonly answer: KeptWait } | { readonly waitsAt: string };
    if ("answer" in found) return found.answer;
    const waits = new RunWaits([{ key: found.waitsAt, request: requestOf(work, wait) }]);
    scopeOf(work.run).waits(waits);
    await asking; // other waits of the tool are kept as well
    throw waits;
  }
  return waitsOf({
    tool,
    host: run.host,
    until: (wait) => {
      const { ask } = run.journal;
      if (run.onWait === undefined && ask !== undefined)
        return inJournal(wait, (question) => scopeOf(work.run).asking(question));
      return waitHere(wait, { run, agent: gate.agent, tool: tool.name, callId: call.id, pause });
    },
  });
}

/** The waits of a call that a program makes outside of a run. */
export function waitsOfProgram(tool: Tool, run: RunContext, callId: string): Waits {
  const about = { run, agent: "call", tool: tool.name, callId, pause: () => () => undefined };
  return waitsOf({ tool, host: run.host, until: (wait) => waitHere(wait, about) });
}

function questionOf(work: OngoingCall, wait: Wait): JournalQuestion {
  const { place, waitsFor, afterMs } = wait;
  const isOver: KeptWait = { isOver: true };
  return {
    key: `${work.at.key}/${place}`,
    fingerprint: () => fingerprintOf(work.ready.call),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request is plain data
    request: requestOf(work, wait) as unknown as Json,
    ...(waitsFor === "time" ? {} : { signal: waitsFor.signal }),
    ...(afterMs === undefined ? {} : { atLast: { afterMs, answer: isOver } }),
  };
}

function requestOf({ ready }: OngoingCall, { waitsFor }: Wait): ApprovalRequest {
  const what = waitsFor === "time" ? "until its time" : `for the signal "${waitsFor.signal}"`;
  const decision = { ...ready.decision, rule: "waits", reason: `its tool waits ${what}` };
  return { ...questionAbout(ready, decision), waitsFor };
}

interface Here {
  readonly run: Pick<RunContext, "host" | "stop" | "leaving" | "onWait">;
  readonly agent: string;
  readonly tool: string;
  readonly callId: string;
  readonly pause: () => () => void;
}

/** Waits in this process. */
async function waitHere({ waitsFor, afterMs }: Wait, here: Here): Promise<KeptWait> {
  const { run, pause, ...about } = here;
  const { host, stop, leaving, onWait } = run;
  const isSignal = waitsFor !== "time";
  if (isSignal && onWait === undefined && afterMs === undefined)
    throw new WritError("wait-unanswerable", { name: waitsFor.signal, tool: about.tool });
  const over = new AbortController();
  const resume = pause();
  const ends: Promise<KeptWait>[] = [];
  if (isSignal && onWait !== undefined) {
    const { signal: name, schema } = waitsFor;
    const wait = { name, ...(schema === undefined ? {} : { schema }), ...about, signal: over.signal };
    ends.push(asRuntime(host, () => signalled(onWait, wait)));
  }
  if (afterMs !== undefined) ends.push(timeUp(afterMs, host, over.signal));
  try {
    const ended = await untilStopped(
      untilAborted(Promise.race(ends), leaving, () => new RunWaits([], true)),
      stop,
    );
    if (ended === "stopped") throw new Error("the run was stopped while its tool waited");
    return ended;
  } finally {
    over.abort();
    resume();
  }
}

async function signalled(onWait: OnWait, wait: Parameters<OnWait>[0]): Promise<KeptWait> {
  const json = wholeJson(await onWait(wait));
  if (json.ok) return { value: json.value };
  throw new WritError("signal-invalid", { name: wait.name, issues: `it is not JSON: ${json.reason}` });
}

/** The time of day: a tool waits until then, whatever ran meanwhile. */
const timeOfDay = (host: Host): number => (host.day ?? host).now();

/** Waits for the end of a time, which may be longer than a timer can be. */
async function timeUp(afterMs: number, host: RunContext["host"], over: AbortSignal): Promise<KeptWait> {
  for (const end = timeOfDay(host) + afterMs; timeOfDay(host) < end && !over.aborted;)
    await new Promise<void>((resolve) => {
      const stop = host.timer(end - timeOfDay(host), resolve);
      over.addEventListener("abort", () => (stop(), resolve()), { once: true });
    });
  return { isOver: true };
}
