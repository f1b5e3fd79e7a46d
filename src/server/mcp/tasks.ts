import type * as Mcp from "@modelcontextprotocol/server";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { runEvents } from "../run-events.ts";
import { answerAll, askedNow, type Calling, followCall, type Following, type Round } from "./call.ts";
import type { OfferedTool } from "./offer.ts";
import { pulseOf } from "./pulse.ts";
import { formName, formOf } from "./questions.ts";
import { abilitiesOf, answering, callingOf, elicitIn, isStateless, ofRun, type Side } from "./side.ts";

const extension = "io.modelcontextprotocol/tasks";
const relatedKey = "io.modelcontextprotocol/related-task";

/**
 * The capabilities of a server for tasks: for clients of 2025-11-25, and for those of 2026-07-28 as an extension. The library leaves out those of the other.
 */
export const taskCapabilities: Mcp.ServerCapabilities = {
  tasks: { cancel: {}, requests: { tools: { call: {} } } },
  extensions: { [extension]: {} },
};

/** The milliseconds that a client is to wait between two requests for the state of a task. */
const pollMs = 500;
const knowsTasks = (side: Side, context: Mcp.ServerContext): boolean =>
  !isStateless(context) || abilitiesOf(side, context).extensions?.[extension] !== undefined;

/** The wish for a task: clients of 2025-11-25 send it with the call; clients of 2026-07-28 only say that they know tasks. */
export function taskWish(
  side: Side,
  params: { readonly task?: unknown },
  context: Mcp.ServerContext,
): Calling["task"] {
  if (!isStateless(context)) return params.task === undefined ? undefined : "at-once";
  return knowsTasks(side, context) ? "if-long" : undefined;
}

/** A task, with the request of a client about it. */
interface Asked extends Following {
  readonly id: string;
  readonly context: Mcp.ServerContext;
}

/** The result of a call that goes on as a task. */
export async function createdTask(
  side: Side,
  id: string,
  context: Mcp.ServerContext,
): Promise<Mcp.CallToolResult> {
  const task = await taskOf(side, { id, context }, { status: "working" });
  const result = isStateless(context) ? { resultType: "task", ...task } : { task };
  return { ...result, content: [] }; // the library takes no result of a call without content
}

/** The fields of a task that not every task has. */
interface TaskState {
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  readonly statusMessage?: string;
  readonly result?: object;
  readonly inputRequests?: object;
}

/** A task as clients see it. Its id is the id of the run without the caller's part; it is kept as long as the run. */
async function taskOf(
  { caller, around }: Side,
  { id, context }: Pick<Asked, "id" | "context">,
  state: TaskState,
): Promise<Record<string, unknown>> {
  const run = await around.runs.show(id);
  const { begunAt, endedAt = begunAt } = run ?? { begunAt: 0 };
  const [createdAt, lastUpdatedAt] = [begunAt, endedAt].map((ms) => new Date(ms).toISOString());
  const bounds = isStateless(context)
    ? { ttlMs: null, pollIntervalMs: pollMs }
    : { ttl: null, pollInterval: pollMs };
  return { taskId: id.slice(caller.prefix.length), ...state, createdAt, lastUpdatedAt, ...bounds };
}

/** Offers clients to fetch, answer and cancel tasks, which are calls of tools that the caller may use. */
export function offerTasks(side: Side, tools: readonly OfferedTool[]): void {
  const handle = (method: string, act: (asked: Asked) => Promise<Record<string, unknown>>): void =>
    side.server.setRequestHandler(method, { params: anything }, (params, context) =>
      answering(side, context, {
        async act() {
          if (!knowsTasks(side, context)) throw unknowing(side);
          const { id, offered } = await ofRun(tools, Reflect.get(params, "taskId"), side);
          const calling: Calling = { ...callingOf(side, {}, context), task: "if-long", place: undefined };
          return act({ id, offered, calling, context });
        },
      }),
    );
  handle("tasks/get", async (asked) => taskOf(side, asked, await stateOf(side, asked)));
  handle("tasks/cancel", async (asked) => {
    await side.around.runs.cancel(asked.id, "the client cancelled the task");
    return isStateless(asked.context) ? {} : taskOf(side, asked, await stateOf(side, asked));
  });
  handle("tasks/update", async ({ id, calling }) => {
    await answerAll(id, { ...calling, place: { run: id, seq: 0 } }, side.around);
    return {};
  });
  handle("tasks/result", (asked) => resultOf(side, asked));
}

/** Takes the parameters of any request: the fields in use are checked later. */
const anything: StandardSchemaV1<unknown, object> = {
  "~standard": { version: 1, vendor: "writ", validate: (value) => ({ value: new Object(value) }) },
};

function unknowing({ library: { ProtocolError } }: Side): Error {
  const data = { requiredCapabilities: { extensions: { [extension]: {} } } };
  return new ProtocolError(-32_021, "Missing required client capability", data);
}

/** The state of a task. If nobody can be asked, questions are answered with no, as for a call. */
async function stateOf({ around }: Side, { id, context, ...following }: Asked): Promise<TaskState> {
  const { end } = (await around.runs.show(id)) ?? {};
  if (end?.outcome.type === "cancelled") return { status: "cancelled", statusMessage: end.outcome.reason };
  if (end !== undefined) return endOf(await followCall(id, following, around), context);
  const asked = await askedNow(id, { calling: following.calling, seq: 0 }, around);
  if (asked === undefined || asked === "waits") return { status: "working" };
  if (!("ask" in asked))
    return { status: "working", statusMessage: "it waits for an approval of somebody else" };
  if (!isStateless(context)) return { status: "input_required" };
  const requests = asked.ask.map(
    (question) => [formName(question), { method: "elicitation/create", params: formOf(question) }] as const,
  );
  return { status: "input_required", inputRequests: Object.fromEntries(requests) };
}

/** The end of a task. The task of a tool that failed is completed; for clients of 2025-11-25 it has failed. */
function endOf(round: Round, context: Mcp.ServerContext): TaskState {
  const result = "result" in round ? round.result : undefined;
  if (!isStateless(context)) return { status: result?.isError === true ? "failed" : "completed" };
  return { status: "completed", result: { resultType: "complete", ...result } };
}

/** The result of a task of 2025-11-25, once there is one. Meanwhile the person at the client is asked the open questions. */
async function resultOf(
  side: Side,
  { id, offered, calling, context }: Asked,
): Promise<Record<string, unknown>> {
  const { around, caller } = side;
  const related = { _meta: { [relatedKey]: { taskId: id.slice(caller.prefix.length) } } };
  using pulse = pulseOf(calling.progress, around.served.host);
  const asking = { ...calling, elicit: elicitIn(side, context, related), progress: pulse?.tell };
  const following = { offered, calling: asking };
  let round = await followCall(id, following, around);
  while (!("result" in round)) {
    await ended(side, id, context.mcpReq.signal);
    round = await followCall(id, following, around);
  }
  return { ...round.result, ...related };
}

/** Waits until a run has ended that waits for somebody else. */
async function ended({ around }: Side, id: string, signal: AbortSignal): Promise<void> {
  const reading = { after: 0, signal: AbortSignal.any([signal, around.leaving]) };
  for await (const { type } of runEvents(id, around.served, reading)) if (type === "run-end") return;
}
