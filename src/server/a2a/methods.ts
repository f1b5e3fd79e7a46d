import type { Runnable } from "../../agent/runnable.ts";
import type { StoredRun } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { clientInput } from "../client-tools.ts";
import { type ResumeEntry, takeAnswers, takenBefore } from "../interrupts.ts";
import { ownError } from "../problems.ts";
import { reader } from "../reader.ts";
import { type Asked, inStream, json, type OpenStream } from "../route.ts";
import type { Sent } from "../sse.ts";
import { failed } from "./failures.ts";
import { ofTask, sending } from "./schema.ts";
import { idsOf, inputOf, sessionsOf, taskOf, type TaskView } from "./task.ts";
import { updatesOf } from "./updates.ts";
import { type A2aMessage, A2aRefusal, type A2aTask, type A2aUpdate, type RpcId } from "./wire.ts";

/** A request for an agent after reading. Its id in JSON-RPC comes back with the answer. */
export interface At {
  readonly asked: Asked;
  readonly agent: Runnable;
  readonly id: RpcId;
}

type Method = (at: At, params: JsonObject) => Promise<Response>;

const readSending = reader(sending, "the params");
const readOfTask = reader(ofTask, "the params");

async function sendingOf(params: JsonObject): Promise<Sending> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they fit the schema
  return (await readSending(params)) as unknown as Sending;
}

async function wantedOf(params: JsonObject): Promise<OfTask> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they fit the schema
  return (await readOfTask(params)) as unknown as OfTask;
}

function unsupported(
  reason: "UNSUPPORTED_OPERATION" | "PUSH_NOTIFICATION_NOT_SUPPORTED",
  text: string,
): () => Promise<never> {
  return () => Promise.reject(new A2aRefusal(reason, text));
}

const noPush = unsupported(
  "PUSH_NOTIFICATION_NOT_SUPPORTED",
  "there are no push notifications: ask with GetTask",
);

/** The methods of A2A, by their names in JSON-RPC. */
export const methods: { readonly [name: string]: Method } = {
  SendMessage: send,
  SendStreamingMessage: (at, params) =>
    inStream(at.asked, async (opened) => streamed(at, await startedBy(at, await sendingOf(params)), opened)),
  GetTask: get,
  CancelTask: cancel,
  SubscribeToTask: subscribe,
  ListTasks: unsupported("UNSUPPORTED_OPERATION", "tasks are not listed here: ask for each with GetTask"),
  GetExtendedAgentCard: unsupported("UNSUPPORTED_OPERATION", "there is one card for everybody"),
  CreateTaskPushNotificationConfig: noPush,
  GetTaskPushNotificationConfig: noPush,
  ListTaskPushNotificationConfigs: noPush,
  DeleteTaskPushNotificationConfig: noPush,
};

interface OfTask {
  readonly id: string;
  readonly historyLength?: number;
}

interface Sending {
  readonly message: A2aMessage;
  readonly configuration?: {
    readonly returnImmediately?: boolean;
    readonly historyLength?: number;
    readonly taskPushNotificationConfig?: Json;
  };
}

/** A task that exists, with the view of it that its client wants. */
interface Found {
  readonly run: StoredRun;
  readonly view: TaskView;
}

async function found(asked: Asked, agent: Runnable, { id: taskId, historyLength }: OfTask): Promise<Found> {
  const run = await asked.runs.show(sessionsOf(asked, agent.name) + taskId);
  const ids = run?.agent === agent.name ? idsOf(asked, run) : undefined;
  if (run === undefined || ids === undefined) throw new WritError("run-missing", { id: taskId });
  return { run, view: { ...ids, ...(historyLength === undefined ? {} : { historyLength }) } };
}

/**
 * Begins the run of a message, or returns the run of the task that the message answers. The same message sent again returns the same task. Its words are
 * untrusted, because another agent's model wrote them.
 */
async function startedBy({ asked, agent }: At, { message, configuration = {} }: Sending): Promise<Found> {
  const { historyLength, taskPushNotificationConfig: push } = configuration;
  if (push !== undefined && push !== null) return noPush();
  const { messageId, taskId = "", parts } = message;
  const wanted = historyLength === undefined ? {} : { historyLength };
  if (taskId !== "") return answered({ asked, agent }, message, { id: taskId, ...wanted });
  const contextId = message.contextId || messageId;
  const session = sessionsOf(asked, agent.name) + contextId;
  const run = await asked.runs.start(agent, clientInput(agent, inputOf(parts)), {
    id: `${session}/${messageId}`,
    session,
    intent: "",
  });
  return { run, view: { contextId, taskId: `${contextId}/${messageId}`, ...wanted } };
}

/** Takes the answers in a message for a task. Answers that were taken before, from a message that is sent again, change nothing. */
async function answered(
  { asked, agent }: Omit<At, "id">,
  { contextId = "", parts }: A2aMessage,
  wanted: OfTask,
): Promise<Found> {
  const { run, view } = await found(asked, agent, wanted);
  if (contextId !== "" && contextId !== view.contextId) refuse("the task is of another context");
  if (run.status !== "waiting") {
    const again = parts.flatMap(({ data }) => (isEntry(data) ? [data] : []));
    const before = again.length === parts.length ? await takenBefore(asked, run.id, again) : undefined;
    if (before !== undefined) return { run, view: { ...view, after: before.after } };
    throw new A2aRefusal(
      "UNSUPPORTED_OPERATION",
      "the task does not wait: send a message of its context without a task",
    );
  }
  const entries = parts.map(({ data }) => (isEntry(data) ? data : refuse(wantedAnswer)));
  const { after } = await takeAnswers(asked, entries, { isOwn: (id) => id === run.id, refuse });
  const now = await asked.runs.show(run.id);
  return { run: now ?? run, view: { ...view, after } };
}

const wantedAnswer =
  'each part of an answer is `data`: { "interruptId": the id of the question, "status": "resolved" or "cancelled", "payload": what it asks for }';

function isEntry(data: Json | undefined): data is ResumeEntry & JsonObject {
  if (data === undefined || !isJsonObject(data)) return false;
  const { interruptId, status } = data;
  return typeof interruptId === "string" && (status === "resolved" || status === "cancelled");
}

async function send(at: At, params: JsonObject): Promise<Response> {
  const { asked, id } = at;
  const wanted = await sendingOf(params);
  if (wanted.configuration?.returnImmediately === true) {
    const { run, view } = await startedBy(at, wanted);
    return result(id, { task: await taskOf(asked, run, view) });
  }
  return inStream(asked, async ({ signal, end }) => {
    const updates = updatesOf(asked, { ...(await startedBy(at, wanted)), signal });
    let next = await updates.next();
    while (next.done !== true) next = await updates.next();
    end();
    return result(id, { task: next.value });
  });
}

async function get({ asked, agent, id }: At, params: JsonObject): Promise<Response> {
  const { run, view } = await found(asked, agent, await wantedOf(params));
  return result(id, await taskOf(asked, run, view));
}

async function cancel({ asked, agent, id }: At, params: JsonObject): Promise<Response> {
  const { run, view } = await found(asked, agent, await wantedOf(params));
  if (run.end !== undefined) throw new A2aRefusal("TASK_NOT_CANCELABLE", "the task has ended");
  return result(id, await taskOf(asked, await asked.runs.cancel(run.id), view));
}

async function subscribe(at: At, params: JsonObject): Promise<Response> {
  const task = await found(at.asked, at.agent, await wantedOf(params));
  if (task.run.end !== undefined)
    throw new A2aRefusal("UNSUPPORTED_OPERATION", "the task has ended: ask with GetTask");
  return streamed(at, task, at.asked.openStream());
}

const result = (id: RpcId, value: A2aTask | { readonly task: A2aTask }): Response =>
  json({ jsonrpc: "2.0", id, result: value });

function streamed({ asked, id }: At, task: Found, { signal, answer }: OpenStream): Response {
  return answer(sentOf(id, updatesOf(asked, { ...task, signal })), {
    failure: (error) => ({ data: JSON.stringify(failed(id, ownError(error, asked.caller))) }),
  });
}

async function* sentOf(id: RpcId, updates: AsyncIterable<A2aUpdate>): AsyncGenerator<Sent, void> {
  for await (const update of updates) yield { data: JSON.stringify({ jsonrpc: "2.0", id, result: update }) };
}

function refuse(reason: string): never {
  throw new A2aRefusal("INVALID_PARAMS", reason);
}
