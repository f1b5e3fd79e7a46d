import { WritError } from "../error/writ-error.ts";
import { callOneWith } from "../call/call-tool.ts";
import { countCall, countSuccess, type ToolUse, violation } from "../policy/account/constraints.ts";
import type { Tool } from "../tool/tool.ts";
import type { Capability } from "../tool/capability.ts";
import type { Patience } from "../model/patience.ts";
import { isJsonObject, type JsonObject } from "../util/json.ts";
import { type CatalogEntry, type Decider, llmStepWith, type StepDecision } from "./llm-step.ts";

/** The tools that names may mean, and no others. */
export type ToolsByName = ReadonlyMap<string, Tool> | Readonly<Record<string, Tool>>;

/** The options of the safe loop. */
export interface SafeLoopOptions extends Patience {
  readonly question: string;
  readonly tools: ToolsByName;
  /**
   * The tools that the model is told of. Default: all, by their descriptions and the names of their
   * arguments.
   */
  readonly catalog?: readonly CatalogEntry[];
  /** So many steps at most. */
  readonly maxSteps: number;
  /** Tokens. A step is asked while no more than this was spent, so the last one may go over it. */
  readonly budget: number;
  /**
   * The purpose of the run: said once, told to the model at every step, and changed by nothing that happens.
   */
  readonly intent?: string;
  /** The capabilities that the tools may use, of those that each declares. Default: none. */
  readonly grants?: readonly Capability[];
  /** Told each step after it was carried out. */
  readonly onStep?: (taken: StepTaken) => void;
  readonly signal?: AbortSignal;
}

/** A step of the safe loop and where the program stands after it. */
export interface StepTaken {
  readonly step: StepDecision;
  /** Tokens spent so far. */
  readonly spent: number;
  readonly context: string;
}

/** The answer when steps or tokens are used up before the model answers. */
const outOfSteps = "out of steps";

/** The loop of the fifth seed page. The adapter documents it. */
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

/** Carries out a call as far as the constraints of its tool allow it after the steps before. */
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

/** A map of its own: what is inherited is no name, and what changes the caller's object later changes nothing here. */
function allowedNames(tools: ToolsByName): ReadonlyMap<string, Tool> {
  return new Map(tools instanceof Map ? tools : Object.entries(tools));
}

function catalogOf(tools: ReadonlyMap<string, Tool>): CatalogEntry[] {
  return [...tools].map(([name, { description, input }]) => {
    const { properties } = input.jsonSchema;
    return { name, describe: description, params: isJsonObject(properties) ? Object.keys(properties) : [] };
  });
}
