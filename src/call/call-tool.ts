import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import { labelOf, type ResultMessage, type ToolCall, type ToolResult } from "../message/message.ts";
import { emptyTranscript } from "../message/transcript.ts";
import { type AllowList, allowList, type Tools } from "../policy/allow-list.ts";
import { emptyLedger, limitsOf } from "../policy/account/budget.ts";
import { allowListed } from "../policy/decision.ts";
import { noIntent } from "../policy/knowledge/intent.ts";
import { learnIntent } from "../policy/knowledge/learned.ts";
import { addedLabel } from "../policy/knowledge/result-label.ts";
import { describeIssues } from "../schema/schema.ts";
import type { Capability } from "../tool/capability.ts";
import type { CallAround, Powers } from "../tool/power-port.ts";
import { waitsOfProgram } from "./waiting.ts";
import { checkCallable, type Tool, type ToolContext, type TypedTool } from "../tool/tool.ts";
import { withoutFiles } from "../tool/with-files.ts";
import { wrongResult } from "../tool/wrong-values.ts";
import { interruptBy } from "../util/interrupt.ts";
import type { Json, JsonObject } from "../util/json.ts";
import { openCallScope } from "../run/scope.ts";
import { callAround, type OpenCall, openCall, openScope, surrounding, within } from "../run/around.ts";
import { allKinds, openPowers } from "../run/powers.ts";
import { execute, type Executed } from "./batch.ts";
import { type Batch, readableCall } from "./call.ts";
import { lostResult } from "./refused.ts";
import { idempotencyKeyOf } from "./step.ts";
import type { Gate } from "../run/gate.ts";
import { programContext, type RunContext } from "../run/context.ts";

/** The bounds and powers of one call. */
export interface CallToolOptions {
  /** Ends the call as `cancelled` when aborted. */
  readonly signal?: AbortSignal;
  /** The time of a tool without a `timeoutMs` of its own, in milliseconds. Default: no bound. */
  readonly timeoutMs?: number;
  /**
   * The capabilities, of those the tool declares, that it may use. A call inside another tool has at most
   * those of that tool. Default: none.
   */
  readonly grants?: readonly Capability[];
}

/** A call as a model or a program wrote it: a whole {@link ToolCall}, or just the name and the arguments. */
export type CallInput = Partial<ToolCall> & Pick<ToolCall, "name">;

/** The machine behind the call. */
interface Machine {
  readonly host: Host;
}

/** Carries out one call of one tool. It never throws because of the tool: every end is a result. */
export async function callOneWith(
  tool: Tool,
  args: Json,
  options: CallToolOptions & Machine,
): Promise<ToolResult> {
  return resultIn(allowList(tool.name, [tool]), wholeCall({ name: tool.name, arguments: args }), options);
}

/** Carries out a call with the tool of its name. An unknown name is a result, not an error: the model needs to read it. */
export async function callAmongWith(
  tools: Tools,
  input: CallInput,
  options: CallToolOptions & Machine,
): Promise<ResultMessage> {
  const call = wholeCall(input);
  const allowed = allowList("tools", tools);
  const result = allowed.tools.has(call.name)
    ? await resultIn(allowed, call, options)
    : notFound(call.name, allowed);
  return { role: "tool", callId: call.id, name: call.name, ...result };
}

function wholeCall({ id = "call_0", arguments: args = {}, ...rest }: CallInput): ToolCall {
  return readableCall({ ...rest, type: "tool-call", id, arguments: args });
}

function notFound(name: string, { tools }: AllowList): ToolResult {
  const text = `There is no tool '${name}'. There are: [${[...tools.keys()].join(", ")}]`;
  return { status: "denied", text, note: "not-found" };
}

async function resultIn(
  allowed: AllowList,
  call: ToolCall,
  { host, grants = [], signal, timeoutMs }: CallToolOptions & Machine,
): Promise<ToolResult> {
  const { stop, unlink } = interruptBy(signal);
  const limits = limitsOf(
    { resultBytes: Infinity, ...(timeoutMs === undefined ? {} : { toolMs: timeoutMs }) },
    "callTool",
  );
  const run = programContext({ host, stop, limits });
  const powers = [...surrounding(host), grants];
  const gate = directGate("callTool", { allowed, around: callAround(host), powers });
  try {
    const { results } = await executeAlone({ run, turn: 0, calls: [call], gate, limits });
    return results[0] ?? lostResult;
  } finally {
    unlink();
  }
}

/** Carries out calls outside of any run. The call whose code makes them counts as having seen their results, and everything the runs inside them saw. */
export async function executeAlone(
  given: Pick<Batch, "run" | "turn" | "calls" | "gate" | "limits">,
): Promise<Executed> {
  const { run, gate } = given;
  const around = callAround(run.host);
  const learned = learnIntent(gate.intent, gate.allowed, around?.label);
  const executed = await execute({ ...given, ledger: emptyLedger, transcript: emptyTranscript(), learned });
  for (const { label } of executed.inside) around?.saw(label);
  given.calls.forEach(({ id: callId, name }, index) => {
    const result = executed.results[index] ?? lostResult;
    around?.saw(labelOf({ role: "tool", callId, name, ...result }));
  });
  if (executed.brokenBy !== undefined) throw executed.brokenBy.cause;
  return executed;
}

interface Passing {
  readonly allowed: AllowList;
  readonly powers: Powers;
  /** The call in whose code the program makes this call. */
  readonly around: CallAround | undefined;
}

/** The gate of a call that a program makes: only the powers that the program gives bound it. */
function directGate(agent: string, { allowed, powers, around }: Passing): Gate {
  return { agent, allowed, policy: allowListed, intent: { ...noIntent(agent), ...around?.intent }, powers };
}

/** Calls the tool as an ordinary function, with arguments by name; only the arguments and the result are checked. */
export async function callWith<Sent, Given>(
  tool: TypedTool<never, unknown, Sent, Given>,
  args: Sent,
  options: Pick<CallToolOptions, "signal" | "grants"> & Machine,
): Promise<Given> {
  checkCallable(tool);
  const { name, input, output } = tool;
  const { host, grants } = options;
  const parsed = await input.parse(args);
  if (!parsed.ok) throw new WritError("input-invalid", { name, issues: describeIssues(parsed.issues) });
  const { stop, unlink } = interruptBy(options.signal);
  const run = programContext({ host, stop });
  const outer = surrounding(host);
  const powers = grants === undefined && outer.length > 0 ? outer : [...outer, grants ?? []];
  const before = callAround(host);
  const gate = directGate("call", { allowed: allowList(name, [tool]), powers, around: before });
  const label = before?.label ?? trustedLabel;
  const around = openCall(gate.intent, run.scope, () => joinLabels(label, addedLabel(tool)));
  const { scope, end } = openScope({ tool: name, callId: "call_0", powers, from: around }, host);
  const opened = openPowers({ scope, kinds: allKinds, signal: run.stop.signal }, host);
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a tool is called with an object of arguments
    const own = contextOf(tool, args as JsonObject, { run, gate, around, label });
    const context = Object.assign(own, opened.handles);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of the tool has read it
    const value = await within(host, scope, () => tool.execute(parsed.value as never, context));
    const checked = await output?.parse(withoutFiles(value));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without an output schema the tool gives what its function gives
    if (checked === undefined) return value as Given;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output schema has read it
    if (checked.ok) return checked.value as Given;
    const reason = `${wrongResult(name)}: ${describeIssues(checked.issues)}`;
    throw new WritError("tool-failed", { tool: name, reason });
  } finally {
    end();
    opened.close();
    before?.saw(joinLabels(around.seen, addedLabel(tool)));
    unlink();
  }
}

interface Direct {
  readonly run: RunContext;
  readonly gate: Gate;
  readonly around: OpenCall;
  readonly label: Label;
}

function contextOf(tool: Tool, args: JsonObject, { run, gate, around, label }: Direct): ToolContext {
  const call = wholeCall({ name: tool.name, arguments: args });
  const key = "call/0";
  const place = { key, callId: call.id, turn: 0, gate, transcript: emptyTranscript(), around };
  const context: ToolContext & { label: Label } = {
    signal: run.stop.signal,
    callId: call.id,
    idempotencyKey: idempotencyKeyOf(run, key),
    progress: () => undefined,
    call,
    run: openCallScope(place, run).run,
    label,
    ...waitsOfProgram(tool, run, call.id),
  };
  around.shown = context;
  return context;
}
