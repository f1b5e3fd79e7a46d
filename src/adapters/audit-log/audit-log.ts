import { messageOf, WritError } from "../../error/writ-error.ts";
import { type AgentEvent, isFact } from "../../event/event.ts";
import { atProgramEnd } from "../at-program-end.ts";
import { nodeHost } from "../clock.ts";
import { auditEntry } from "./audit-entry.ts";
import { appendRotating } from "./rotating-file.ts";

/** Options of {@link auditLog}. */
export interface AuditLogOptions {
  /** `sizes`: names, ids, numbers and verdicts, and of all content its length (default). `full`: the facts as they are told. */
  readonly content?: "sizes" | "full";
  /** The file is put aside as `PATH.1` before it would become larger. Default 50 000 000. */
  readonly rotateBytes?: number;
  /** The number of files put aside that stay. Default 10. */
  readonly keepFiles?: number;
}

/** A listener for `onEvent` of agents and runs. Several may share it. */
export interface AuditLog {
  (event: AgentEvent): void;
  /** Writes what waits, at once. It happens by itself in the next turn of the event loop, and when the process ends. */
  readonly flush: () => void;
}

/** The lines that wait for a disk which fails. Beyond so many the oldest are given up. */
const mostWaiting = 10_000;

/**
 * Adds each fact of the runs that it hears to a file, as a line of JSON. It never disturbs a run: it does not throw, the
 * lines of one moment are written together, and when the disk fails they wait for the next line and for a better day. Beyond 10 000 the
 * oldest are given up; the next line says how many. The author is warned once.
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
  const { content = "sizes", rotateBytes = 50_000_000, keepFiles = 10 } = options;
  checkWhole("rotateBytes", rotateBytes, 1);
  checkWhole("keepFiles", keepFiles, 0);
  const waiting: string[] = [];
  let lost = 0;
  let isDue = false;

  function flush(): void {
    isDue = false;
    if (waiting.length === 0) return;
    const more =
      lost === 0 ? "" : `${JSON.stringify({ type: "audit-lost", at: nodeHost.now(), lines: lost })}\n`;
    try {
      appendRotating(more + waiting.join(""), { path, rotateBytes, keepFiles });
      waiting.length = 0;
      lost = 0;
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
