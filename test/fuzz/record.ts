import type { Label } from "../../src/message/label.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import type { Capability } from "../../src/tool/capability.ts";
import { canonicalJson } from "../../src/util/canonical-json.ts";
import { toJson } from "../../src/util/json.ts";
import type { Host } from "../../src/journal/host.ts";
import { type Clock, fuzzHost, type PowerLog, virtualClock } from "./world.ts";

/** A tool's function that was entered. */
export interface Ran {
  readonly at: number;
  readonly tool: string;
  readonly agent: string;
  readonly callId: string;
  readonly args: string;
  /** Whether the tool's schema, said by hand, takes them. */
  readonly fits: boolean;
}

/** A policy that was asked. */
export interface Judged {
  readonly at: number;
  readonly agent: string;
  readonly tool: string;
  readonly callId: string;
  readonly args: string;
  readonly verdict: string;
  readonly label: Label;
  readonly intent: string;
}

/** A person that was asked. */
export interface Answered {
  readonly at: number;
  readonly tool: string;
  readonly callId: string;
  readonly args: string;
  readonly isYes: boolean;
  readonly forRun: boolean;
  /** The arguments in the place of the model's. */
  readonly edited: boolean;
}

/** All that happened in one scene, as its tools, policies, people and models saw it. */
export interface Book {
  readonly clock: Clock;
  readonly host: Host;
  readonly ran: Ran[];
  readonly judged: Judged[];
  readonly answered: Answered[];
  readonly requests: ModelRequest[];
  readonly powers: PowerLog;
  /** What was seen to be wrong while it happened. */
  readonly faults: string[];
  /** The lists that must all cover what a tool reaches, by its name. */
  readonly chains: Map<string, readonly (readonly Capability[])[]>;
  /** The number of the next thing that happens. */
  next(): number;
  /** Told when something happens that a scene may be aborted at. */
  readonly touch: (point: "model" | "tool" | "policy" | "approve") => void;
  readonly signal: AbortSignal;
  /** A tool has used the secret: from then on it must not be seen. */
  usedSecret: boolean;
}

export interface Aborting {
  readonly at: string;
  readonly nth: number;
}

export function openBook({ at, nth }: Aborting = { at: "never", nth: 1 }, isJumping = false): Book {
  const clock = virtualClock();
  const powers: PowerLog = { reached: [], faults: [] };
  const abort = new AbortController();
  let count = 0;
  let seen = 0;
  if (at === "before") abort.abort(new Error("before"));
  const host = fuzzHost(isJumping ? jumping(clock) : clock, powers);
  if (at === "time") host.timer(nth * 20, () => abort.abort("time"));
  const book: Book = {
    clock,
    host,
    ran: [],
    judged: [],
    answered: [],
    requests: [],
    powers,
    faults: [],
    chains: new Map(),
    next: () => (count += 1),
    touch(point) {
      if (point === at && (seen += 1) === nth) abort.abort({ type: "cancelled", reason: point });
    },
    signal: abort.signal,
    usedSecret: false,
  };
  opened.push(book);
  return book;
}

/** The books that were opened since this was asked last. */
export function takeBooks(): readonly Book[] {
  return opened.splice(0);
}

const opened: Book[] = [];

/** What happened in all scenes that were played: invariants are worth something only where things happen. */
export type Tally = Record<string, number>;

/** Counts what a scene saw. */
export function count(tally: Tally, { ran, judged, answered, powers, usedSecret }: Book): void {
  const add = (what: string, number: number): void => void (tally[what] = (tally[what] ?? 0) + number);
  add("tools ran", ran.length);
  for (const { verdict } of judged) add(`policies said ${verdict}`, 1);
  add("people said yes", answered.filter(({ isYes }) => isYes).length);
  add("people said no", answered.filter(({ isYes }) => !isYes).length);
  add("things were reached", powers.reached.length);
  add("tools sent a secret back", usedSecret ? 1 : 0);
  add("runs saw untrusted data", judged.some(({ label }) => label.integrity === "untrusted") ? 1 : 0);
}

/** A clock that is set now and then, back and forth. */
function jumping(clock: Clock): Clock {
  let looks = 0;
  return {
    ...clock,
    now() {
      looks += 1;
      return clock.now() + (looks % 5 === 0 ? -3_600_000 : looks % 7 === 0 ? 3_600_000 : 0);
    },
  };
}

/** Arguments as one text, whatever they are. */
export function textOfArguments(args: unknown): string {
  const json = toJson(args);
  return json.ok ? canonicalJson(json.value) : `not JSON: ${json.reason}`;
}
