import { appendFileSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { messageOf, WritError } from "../error/writ-error.ts";
import { type AgentEvent, type Fact, isFact } from "../event/event.ts";
import { callsOf, charactersOf } from "../message/message.ts";
import type { Json, JsonObject } from "../util/json.ts";
import { atProgramEnd } from "./at-program-end.ts";
import { nodeHost } from "./clock.ts";
import { checkArguments, closed } from "../error/check-shape.ts";
import { anything, filled, oneOf, optional } from "../util/shape.ts";

/** Options of {@link auditLog}. */
export interface AuditLogOptions {
  /** `sizes`: names, ids, numbers and verdicts, and only the lengths of contents (default). `full`: the facts as they are told. */
  readonly content?: "sizes" | "full";
  /** The size above which a write first renames the file to `PATH.1`. Default 50 000 000. */
  readonly rotateBytes?: number;
  /** The number of renamed files that are kept. Default 10. */
  readonly keepFiles?: number;
}

/** A listener for `onEvent` of agents and runs. Several may share it. */
export interface AuditLog {
  (event: AgentEvent): void;
  /** Writes the waiting lines at once. This also happens in the next turn of the event loop, and when the process ends. */
  readonly flush: () => void;
}

/** The most lines that wait for a failing disk. Beyond that, the oldest are dropped. */
const mostWaiting = 10_000;

const optionsShape = closed({
  content: optional(oneOf("sizes", "full")),
  rotateBytes: anything,
  keepFiles: anything,
});

/**
 * Adds each fact of the runs that it hears to a file, as a line of JSON. It never disturbs a run: it does not throw, and it
 * writes the lines of one moment together. If the disk fails, they wait and are written with a later line. Beyond 10 000 the
 * oldest are dropped, and the next line says how many. The author is warned once.
 *
 * @throws WritError `option-invalid` for a bound that is not a whole number
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { auditLog } from "writ/audit";
 *
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", onEvent: auditLog("audit.jsonl") });
 * ```
 */
export function auditLog(path: string, options: AuditLogOptions = {}): AuditLog {
  checkArguments("auditLog()", { path, options }, { path: filled, options: optionsShape });
  const { content = "sizes", rotateBytes = 50_000_000, keepFiles = 10 } = options;
  checkWhole("rotateBytes", rotateBytes, 1);
  checkWhole("keepFiles", keepFiles, 0);
  const waiting: string[] = [];
  let lost = 0;
  let isDue = false;

  function flush(): void {
    isDue = false;
    try {
      while (waiting.length > 0) {
        const more =
          lost === 0 ? "" : `${JSON.stringify({ type: "audit-lost", at: nodeHost.now(), lines: lost })}\n`;
        const lines = fitting(waiting, rotateBytes - more.length);
        appendRotating(more + lines.join(""), { path, rotateBytes, keepFiles });
        waiting.splice(0, lines.length);
        lost = 0;
      }
    } catch (error) {
      const text = `The audit log "${path}" cannot be written, and its lines wait: ${messageOf(error)}`;
      nodeHost.warn?.({ code: "WRIT_OBSERVER_FAILED", text, isDeprecation: false });
    }
  }

  function hear(event: AgentEvent): void {
    if (!isFact(event)) return;
    waiting.push(`${JSON.stringify(content === "full" ? event : auditEntry(event))}\n`);
    if (waiting.length > mostWaiting) {
      waiting.shift();
      lost += 1;
    }
    if (isDue) return;
    isDue = true;
    setImmediate(flush);
  }

  atProgramEnd(flush);
  return Object.assign(hear, { flush });
}

/** @throws WritError `option-invalid` */
function checkWhole(option: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  const advice = `Give a whole number from ${least} on.`;
  throw new WritError("option-invalid", { option: `auditLog ${option}`, value: String(value), advice });
}

/** Fields of events that hold no content: names, ids, numbers and texts of the runtime. All others are left out. */
const plainFields: ReadonlySet<string> = new Set(
  [
    "at seq type agent runId parentRunId sessionId intent turn callId name skill by confidence",
    "finishReason driver usage total costUsd durationMs startedMs approved for resource granted delegation",
    "field used limit from to droppedTurns tokensBefore tokensAfter place attempt delayMs",
  ].flatMap((names) => names.split(" ")),
);

/** A fact without the content of messages, arguments and results, of which it has only the length. */
function auditEntry(fact: AgentEvent & Fact): JsonObject {
  const plain = Object.entries(fact).filter(([field]) => plainFields.has(field));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is the reader of this type
  const read = lengths[fact.type] as ((fact: Fact) => JsonObject) | undefined;
  return { ...Object.fromEntries(plain), ...read?.(fact) };
}

/** The parts of the facts that have content, as lengths and texts of the runtime. */
const lengths: {
  readonly [Type in Fact["type"]]?: (fact: Extract<Fact, { readonly type: Type }>) => JsonObject;
} = {
  "run-start": ({ input }) => ({ inputChars: charsOf(input) }),
  "message-end": ({ message = { role: "assistant", parts: [] } }) => ({
    chars: charactersOf(message),
    calls: callsOf(message).map(({ name }) => name),
  }),
  "call-decided": ({ arguments: given, decision: { verdict, rule, flags = [] } }) => ({
    argumentsChars: charsOf(given),
    verdict,
    rule,
    flags,
  }),
  "approval-request": ({ arguments: given }) => ({ argumentsChars: charsOf(given) }),
  "approval-answer": ({ edited }) => ({ edited: edited !== undefined }),
  "tool-start": ({ arguments: given }) => ({ argumentsChars: charsOf(given) }),
  "tool-end": ({ result }) => ({ status: result.status, resultChars: result.text.length }),
  "knowledge-used": ({ result }) => ({ status: result.status, resultChars: result.text.length }),
  "run-end": ({ outcome }) => ({
    outcome: outcome.type,
    ...("code" in outcome ? { code: outcome.code } : {}),
  }),
};

function charsOf(value: Json): number {
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
}

/** The place of a file of lines, and the bounds of its size. */
interface RotatingOptions {
  readonly path: string;
  /** The size above which a write first renames the file. */
  readonly rotateBytes: number;
  /** The number of renamed files that are kept; `path.1` is the latest. */
  readonly keepFiles: number;
}

/** The first lines that have room in one file: at least one. */
function fitting(lines: readonly string[], bytes: number): readonly string[] {
  let left = bytes;
  const end = lines.findIndex((line) => (left -= Buffer.byteLength(line)) < 0);
  return end === -1 ? lines : lines.slice(0, Math.max(1, end));
}

/** Adds text to the file, which is renamed first if it would become too large. @throws the error of the disk */
export function appendRotating(text: string, { path, rotateBytes, keepFiles }: RotatingOptions): void {
  const size = sizeOf(path);
  const isFull = size > 0 && size + Buffer.byteLength(text) > rotateBytes;
  if (isFull) putAside(path, keepFiles);
  try {
    appendFileSync(path, text, { mode: 0o600 });
  } catch (error) {
    const before = isFull ? 0 : size;
    if (sizeOf(path) > before) truncateSync(path, before); // a full disk took the beginning, which will be written again
    throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function putAside(path: string, keepFiles: number): void {
  rmSync(`${path}.${keepFiles}`, { force: true });
  for (let age = keepFiles - 1; age >= 1; age -= 1)
    if (statSync(`${path}.${age}`, { throwIfNoEntry: false }) !== undefined)
      renameSync(`${path}.${age}`, `${path}.${age + 1}`);
  if (keepFiles > 0) renameSync(path, `${path}.1`);
  else rmSync(path);
}
