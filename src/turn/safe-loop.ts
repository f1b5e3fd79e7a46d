import { WritError } from "../error/writ-error.ts";
import { callOneWith } from "../call/call-tool.ts";
import { countCall, countSuccess, type ToolUse, violation } from "../policy/account/constraints.ts";
import type { Tool } from "../tool/tool.ts";
import type { Capability } from "../tool/capability.ts";
import type { Patience } from "../model/patience.ts";
import { isJsonObject, type JsonObject } from "../util/json.ts";
import { type CatalogEntry, type Decider, llmStepWith, type StepDecision } from "./llm-step.ts";

/** The only tools that names can stand for. */
export type ToolsByName = ReadonlyMap<string, Tool> | Readonly<Record<string, Tool>>;

/** The options of the safe loop. */
export interface SafeLoopOptions extends Patience {
  readonly question: string;
  readonly tools: ToolsByName;
  /**
   * The tools that the model is told of. Default: all, with their descriptions and the names of their
   * arguments.
   */
  readonly catalog?: readonly CatalogEntry[];
  /** The most steps. */
  readonly maxSteps: number;
  /** Tokens. A step is asked while at most this many were spent, so the last step may exceed it. */
  readonly budget: number;
  /**
   * The purpose of the run: the model is told it at every step, and nothing changes it.
   */
  readonly intent?: string;
  /** The capabilities, of those that each tool declares, that the tools may use. Default: none. */
  readonly grants?: readonly Capability[];
  /** Receives each step after it was carried out. */
  readonly onStep?: (taken: StepTaken) => void;
  readonly signal?: AbortSignal;
}

/** A step of the safe loop, and the state of the program after it. */
export interface StepTaken {
  readonly step: StepDecision;
  /** Tokens spent so far. */
  readonly spent: number;
  readonly context: string;
}

/** The answer if steps or tokens are used up before the model answers. */
const outOfSteps = "out of steps";

/** The safe loop of the fifth seed page. The public function documents it. */
export async function safeLoopWith(decider: Decider, options: SafeLoopOptions): Promise<string> {
  const { question: prompt, maxSteps, budget, intent, onStep, signal, grants, retry, timeout } = options;
  checkBound("maxSteps", maxSteps);
  checkBound("budget", budget);
  const tools = allowedNames(options.tools);
  const catalog = options.catalog ?? catalogOf(tools);
  let context = "";
  let spent = 0;
  let uses: readonly ToolUse[] = [];
  for (let n = 0; n < maxSteps && spent <= budget; n += 1) {
    const asked = { prompt, catalog, context, intent, retry, timeout, signal };
    const step = await llmStepWith(decider, asked);
    spent += step.tokens;
    if (step.kind === "tool") {
      const tool = tools.get(step.name);
      const taken =
        tool === undefined
          ? { text: "not allowed", uses }
          : await carryOut(step.args, { tool, uses }, { host: decider.host, signal, grants });
      ({ uses } = taken);
      context += ` [${step.name} => ${taken.text}]`;
    }
    onStep?.({ step, spent, context });
    if (step.kind === "final") return step.text;
  }
  return outOfSteps;
}

interface Taking {
  readonly tool: Tool;
  readonly uses: readonly ToolUse[];
}

/** Carries out a call if the constraints of its tool allow it after the earlier steps. */
async function carryOut(
  args: JsonObject,
  { tool, uses }: Taking,
  options: Parameters<typeof callOneWith>[2],
): Promise<{ readonly text: string; readonly uses: readonly ToolUse[] }> {
  const { name } = tool;
  const against = violation(tool, { name, uses });
  if (against !== undefined) return { text: `Tool '${name}' was denied: ${against.reason}`, uses };
  const { status, text } = await callOneWith({ ...tool, constraints: undefined }, args, options);
  if (status === "denied" || status === "invalid") return { text, uses };
  const counted = countCall(uses, name);
  return { text, uses: status === "ok" ? countSuccess(counted, name) : counted };
}

function checkBound(name: string, value: number): void {
  if (value >= 0) return;
  const reason = `\`${name}\` must be a number from 0 on, and is ${String(value)}.`;
  throw new WritError("definition-invalid", { where: "`safeLoop`", reason });
}

/** A map of its own: inherited properties are not names, and later changes to the caller's object have no effect. */
function allowedNames(tools: ToolsByName): ReadonlyMap<string, Tool> {
  return new Map(tools instanceof Map ? tools : Object.entries(tools));
}

function catalogOf(tools: ReadonlyMap<string, Tool>): CatalogEntry[] {
  return [...tools].map(([name, { description, input }]) => {
    const { properties } = input.jsonSchema;
    return { name, describe: description, params: isJsonObject(properties) ? Object.keys(properties) : [] };
  });
}
