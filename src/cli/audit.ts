import { appendFileSync } from "node:fs";
import { messageOf, WritError } from "../error/writ-error.ts";
import type { CapabilityLook } from "../event/capability-audit.ts";
import { jsonLine, oneLine, type Output } from "./output.ts";

/** The options of `writ run` that say who is told of looks at capabilities. */
export interface AuditFlags {
  readonly audit?: boolean;
  readonly auditFile?: string;
}

/**
 * Tells each look to standard error (`--audit`) and adds it to a file as a line of JSON (`--audit-file`); undefined where nobody asks.
 *
 * @throws WritError `option-invalid` for a file that cannot be written; the listener, for one that cannot be written any more
 */
export function auditWriter(
  { audit = false, auditFile }: AuditFlags,
  output: Output,
): ((look: CapabilityLook) => void) | undefined {
  if (!audit && auditFile === undefined) return undefined;
  if (auditFile !== undefined) append(auditFile, "");
  return (look) => {
    if (auditFile !== undefined) append(auditFile, jsonLine(look));
    if (audit) output.progress(`${lookText(look)}\n`);
  };
}

function lookText({ granted, resource, tool, agent, reason = "" }: CapabilityLook): string {
  const why = reason === "" ? "" : `: ${reason}`;
  return oneLine(`audit: ${granted ? "granted" : "denied"} ${resource} to ${tool} of ${agent}${why}`, 400);
}

/** Only its owner reads a file that is made here. */
function append(file: string, text: string): void {
  try {
    appendFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    const advice = `Give a file that this process may write (${messageOf(cause)}).`;
    throw new WritError("option-invalid", { option: "--audit-file", value: file, advice }, { cause });
  }
}
