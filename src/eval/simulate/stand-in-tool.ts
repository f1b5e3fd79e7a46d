import type { Reconciled } from "../../tool/after-crash.ts";
import type { Tool, ToolContext } from "../../tool/tool.ts";
import { checkResult } from "../../tool/result.ts";
import { type Json, jsonOrNull } from "../../util/json.ts";
import { randomFrom } from "./draw.ts";
import { checkedElsewhere } from "./known-names.ts";
import type { Machine } from "./machine.ts";
import { valueOf } from "./propose.ts";
import { pick, type Drawn, type Random } from "./schedule.ts";
import type { Execution } from "./execution.ts";
import { never } from "./world.ts";

/** The call that a stand-in carries out. */
export interface StandInCall<State> {
  /** The value that `state` of the simulation returned: new for each schedule. */
  readonly state: State;
  readonly callId: string;
  readonly runId: string;
  readonly idempotencyKey: string;
}

/** A stand-in for a tool: it acts in the simulated world only, and returns a result. */
export type StandIn<State> = (args: never, call: StandInCall<State>) => unknown;

/** The settings of the tools of a machine. */
export interface ToolPart {
  readonly standIns: Readonly<Record<string, StandIn<unknown> | "own">>;
  readonly state: () => unknown;
}

/** The time that a tool takes. */
const toolMs = 10;

/** The same tool for a simulation: it does not reach the real world, and the schedule decides how it ends. A tool that only computes stays as it is. */
export function standInTool(tool: Tool, part: ToolPart, machine: Machine): Tool {
  const given = standInOf(tool, part);
  if (given === "own") return tool;
  const made: Tool = {
    ...tool,
    execute: (args, context) => execute({ tool, args, context }, { part, given, machine }),
  };
  return typeof tool.reconcile === "function"
    ? {
        ...made,
        reconcile: (_args: unknown, { idempotencyKey }: ToolContext) => lookUp(idempotencyKey, machine),
      }
    : made;
}

/** The stand-in of a tool: the author's, or `own` for a tool that only computes; undefined for a tool that gets the usual result. */
export function standInOf(
  { name, effect, kind }: Tool,
  { standIns }: Pick<ToolPart, "standIns">,
): StandIn<unknown> | "own" | undefined {
  if (Object.hasOwn(standIns, name)) return standIns[name];
  return effect === "none" && kind === undefined ? "own" : undefined;
}

interface Called {
  readonly tool: Tool;
  readonly args: unknown;
  readonly context: ToolContext;
}

interface Behind {
  readonly part: ToolPart;
  readonly given: StandIn<unknown> | undefined;
  readonly machine: Machine;
}

async function execute(called: Called, behind: Behind): Promise<unknown> {
  const { machine } = behind;
  const { world } = machine;
  const { tool } = called;
  if (!machine.process.isAlive) await never();
  const execution = begun(called, machine, await fits(called));
  const at = `tool ${tool.name} ${world.count(`tool ${tool.name}`)}`;
  world.note(
    `${at} is called: ${JSON.stringify(execution.arguments)} as ${execution.callId}, process ${machine.number}`,
  );
  const deviation = world.choose({ kind: "tool", at }, drawEnd);
  if (deviation?.does === "hangs") await never();
  if (deviation?.does === "fails") {
    await machine.sleep(toolMs);
    throw new Error(`${tool.name} failed, and nothing happened`);
  }
  const given = await actedOn(execution, called, behind);
  execution.made = jsonOrNull(given);
  if (deviation?.does === "hangs-after") await never();
  await machine.sleep(toolMs + (deviation?.ms ?? 0));
  if (deviation?.does === "fails-after") throw new Error(`${tool.name} failed, after it had its effect`);
  execution.givenMs = world.atMs;
  world.note(`${at} gives ${JSON.stringify(execution.made)}`);
  return given;
}

/** True if the schema of a tool takes the call as it was judged. */
async function fits({ tool, context }: Called): Promise<boolean> {
  const parsed = tool.input.parse(context.call.arguments);
  return (parsed instanceof Promise ? await parsed : parsed).ok;
}

function begun({ tool, context, args }: Called, machine: Machine, isFit: boolean): Execution {
  const { world, process } = machine;
  const { callId, idempotencyKey, run } = context;
  const execution: Execution = {
    agent: run.agent,
    skill: run.skill,
    tool: tool.name,
    arguments: jsonOrNull(args),
    callId,
    runId: run.runId,
    key: idempotencyKey,
    atMs: world.atMs,
    process: process.number,
    fits: isFit,
    tookEffect: false,
  };
  world.executions.push(execution);
  world.watch?.({ type: "executes", machine: machine.number, execution });
  return execution;
}

/** Has the effect, and tells of a stand-in of the author's that has a mistake: it would look like a tool that fails, and every schedule would hold. */
async function actedOn(execution: Execution, called: Called, behind: Behind): Promise<unknown> {
  const { given, machine } = behind;
  const tell = (what: string): void =>
    machine.world.fault(checkedElsewhere.standIns, `the stand-in of ${called.tool.name} ${what}`);
  try {
    const value = await effectOf(execution, called, behind);
    if (given === undefined) return value;
    const { result } = await checkResult(called.tool, value);
    if (result.status === "error") tell(`returned what the tool cannot give: ${result.note ?? result.text}`);
    return value;
  } catch (error) {
    if (isMistake(error)) tell(`threw ${error.name}: ${error.message}. To let the tool fail, throw an Error`);
    throw error;
  }
}

/** True for errors of code that is wrong. Those with a code, as of a URL that is none, are about values. */
function isMistake(error: unknown): error is Error {
  const isWrong = error instanceof TypeError || error instanceof ReferenceError;
  return isWrong && !Object.hasOwn(error, "code");
}

/** Has the tool's effect. A service that gets the idempotency key has no effect twice for one key. */
function effectOf(
  execution: Execution,
  { tool, args, context }: Called,
  { part, given, machine }: Behind,
): unknown {
  const before = machine.world.executions.find(({ key, tookEffect }) => tookEffect && key === execution.key);
  if (tool.retry === "keyed" && before?.made !== undefined) return before.made;
  execution.tookEffect = tool.retry !== "keyed" || before === undefined;
  if (given === undefined) return usual(execution, tool);
  const { callId, idempotencyKey, run } = context;
  const call: StandInCall<unknown> = { state: part.state(), callId, runId: run.runId, idempotencyKey };
  return Reflect.apply(given, undefined, [args, call]);
}

/** The result of a tool without a stand-in of the author's: the same for the same arguments. */
function usual({ arguments: args }: Execution, { name, output }: Tool): Json {
  const said = `${name} ${JSON.stringify(args)}`;
  if (output === undefined) return `${said} is done`;
  return valueOf(randomFrom(said.length), output.jsonSchema, []);
}

async function lookUp(key: string, { world }: Machine): Promise<Reconciled> {
  const done = world.executions.find((execution) => execution.tookEffect && execution.key === key);
  world.note(`somebody looks whether ${key.slice(0, 8)} happened: ${done === undefined ? "no" : "yes"}`);
  return done === undefined
    ? { happened: false }
    : { happened: true, ...(done.made === undefined ? {} : { value: done.made }) };
}

function drawEnd(random: Random): Drawn | undefined {
  const does = pick(random, ["fails", "fails-after", "hangs", "hangs-after", "is-late", "is-late"] as const);
  if (does === undefined) return undefined;
  return does === "is-late" ? { does, ms: pick(random, [50, 3000, 100_000]) } : { does };
}
