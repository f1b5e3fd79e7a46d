import { WritError } from "../error/writ-error.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { toSchema } from "../schema/to-schema.ts";
import { lazy } from "../util/remembered.ts";
import { readSeverity } from "./recovery.ts";
import type { Tool, TypedTool } from "./tool.ts";

/**
 * Lets a fixer report that it cannot mend a failure, and what the caller should do: a soft failure. Its run ends as failed with
 * `tool-escalated`; if `fix()` asked it, the model that made the call is told the reason. Active only if it is listed.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { escalate, fix, throwException, type Recovery } from "writ/tools";
 *
 * const mender = agent({
 *   name: "mender",
 *   instructions: "Mend the JSON. Escalate what you cannot mend, with a corrected example; throw for binary data.",
 *   model: "ollama/qwen2.5:7b",
 *   tools: [escalate, throwException],
 * });
 *
 * export const mended: Recovery = { invalidArguments: () => fix(mender, { attempts: 2 }) };
 * ```
 */
export const escalate: TypedTool<Verdict, never> = verdictTool({
  name: "escalate",
  description:
    "Say that this cannot be mended here, why, and what would be right. The caller is told and tries again.",
  inputSchema: verdictSchema({
    severity: { type: "string", description: "LOW, MEDIUM, HIGH or CRITICAL. Default: HIGH" },
  }),
  execute: ({ reason, severity }) => {
    throw new WritError("tool-escalated", { reason, severity: readSeverity(severity) });
  },
});

/**
 * Lets a fixer report that nothing can be done: a hard failure. Its run ends as failed with `tool-unrecoverable`; if `fix()` asked it, the
 * run that made the call ends too, even if attempts are left. Active only if it is listed.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { throwException } from "writ/tools";
 *
 * export const mender = agent({ name: "mender", model: "ollama/qwen2.5:7b", tools: [throwException] });
 * ```
 */
export const throwException: TypedTool<Verdict, never> = verdictTool({
  name: "throwException",
  description: "Say that nothing can be done, and why. Everything stops at once.",
  inputSchema: verdictSchema({}),
  execute: ({ reason }) => {
    throw new WritError("tool-unrecoverable", { reason });
  },
});

/** The arguments of the built-in tools. */
export interface Verdict {
  readonly reason: string;
  /** In any case; a word that is not a severity counts as HIGH. */
  readonly severity?: string;
}

const builtins: ReadonlySet<Tool> = new Set<Tool>([escalate, throwException]);

/** The names of tools that the runtime provides. An author's own tools cannot have them. */
export const reservedNames: ReadonlySet<string> = new Set([
  "memory_read",
  "memory_write",
  "memory_search",
  "escalate",
  "throwException",
]);

/** Tells the built-in tools from other tools with their names. */
export function isBuiltin(tool: Tool): boolean {
  return builtins.has(tool);
}

interface VerdictDefinition extends Pick<Tool, "name" | "description"> {
  readonly inputSchema: JsonSchema;
  readonly execute: (verdict: Verdict) => never;
}

/** Makes a tool whose schema is read on first use: most programs import these tools and list none. */
function verdictTool({ inputSchema, ...named }: VerdictDefinition): TypedTool<Verdict, never> {
  const input = lazy(() => toSchema(inputSchema, { name: named.name, role: "input" }));
  return {
    ...named,
    effect: "none",
    exclusiveKey: () => undefined,
    get input() {
      return input();
    },
  };
}

function verdictSchema(more: JsonSchema): JsonSchema {
  const reason = { type: "string", description: "What is wrong, in one sentence" };
  return {
    type: "object",
    properties: { reason, ...more },
    required: ["reason"],
    additionalProperties: false,
  };
}
