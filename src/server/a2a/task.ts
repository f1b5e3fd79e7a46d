import { boundText } from "../bound-text.ts";
import type { StoredRun, WaitingQuestion } from "../../durable/run-store.ts";
import type { Outcome } from "../../event/outcome.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { isAddress } from "../../util/media.ts";
import { isSaid, saidInput, type SaidPart } from "../chat-messages.ts";
import { interruptOf } from "../interrupts.ts";
import type { Asked } from "../route.ts";
import { toldOutcome } from "../told-failures.ts";
import {
  type A2aArtifact,
  type A2aMessage,
  type A2aPart,
  A2aRefusal,
  type A2aState,
  type A2aTask,
} from "./wire.ts";

/** The ids by which a client knows the run of a message: its conversation, which is a session, and its task. */
export interface TaskIds {
  readonly contextId: string;
  readonly taskId: string;
}

/** The text with which the ids of the sessions of an agent's conversations begin. */
export const sessionsOf = ({ caller }: Asked, agent: string): string => `${caller.prefix}a2a/${agent}/`;

/** The ids of a run; undefined for a run that was not begun by a message to the agent. */
export function idsOf(asked: Asked, { id, session, agent }: StoredRun): TaskIds | undefined {
  const prefix = sessionsOf(asked, agent);
  if (session?.startsWith(prefix) !== true || !id.startsWith(`${session}/`)) return undefined;
  return { contextId: session.slice(prefix.length), taskId: id.slice(prefix.length) };
}

/** The ids of a task, and the part of it that its client wants. */
export interface TaskView extends TaskIds {
  /** The `seq` of the last fact that the client was told. */
  readonly after?: number;
  /** The most messages of its history that the client wants. */
  readonly historyLength?: number;
}

/** The task that represents a run. */
export async function taskOf(asked: Asked, run: StoredRun, view: TaskView): Promise<A2aTask> {
  const { contextId, taskId: id, after = 0, historyLength = 1 } = view;
  const questions = run.status === "waiting" ? await asked.runs.waiting(run.id) : [];
  const asking = questions.filter(({ request }) => request.waitsFor === undefined);
  const { state, parts } = run.end
    ? endOf(toldOutcome(run.end.outcome, asked.caller))
    : openOf(run, asking, after);
  const timestamp = new Date(run.endedAt ?? asking[0]?.since ?? run.begunAt).toISOString();
  const messageId = `${id}/${state}/${asking[0]?.key ?? ""}`;
  const message: A2aMessage = { messageId, contextId, taskId: id, role: "ROLE_AGENT", parts };
  const said: A2aMessage = {
    messageId: id.slice(contextId.length + 1),
    contextId,
    taskId: id,
    role: "ROLE_USER",
    parts: partsOf(run.input),
  };
  return {
    id,
    contextId,
    status: { state, timestamp, ...(parts.length === 0 ? {} : { message }) },
    artifacts: await artifactsOf(asked, run),
    history: historyLength === 0 ? [] : [said],
  };
}

interface Shown {
  readonly state: A2aState;
  readonly parts: readonly A2aPart[];
}

function openOf({ status }: StoredRun, asking: readonly WaitingQuestion[], after: number): Shown {
  if (asking.length === 0)
    return { state: status === "ready" ? "TASK_STATE_SUBMITTED" : "TASK_STATE_WORKING", parts: [] };
  const parts = asking.flatMap((question) => {
    const data = interruptOf(question, after, undefined);
    const { message } = data;
    return [...(typeof message === "string" ? [{ text: message }] : []), { data }];
  });
  return { state: "TASK_STATE_INPUT_REQUIRED", parts };
}

const ends: { readonly [Type in Outcome["type"]]: A2aState } = {
  answered: "TASK_STATE_COMPLETED",
  cancelled: "TASK_STATE_CANCELED",
  refused: "TASK_STATE_REJECTED",
  failed: "TASK_STATE_FAILED",
  exhausted: "TASK_STATE_FAILED",
  suspended: "TASK_STATE_FAILED",
};

function endOf(outcome: Outcome): Shown {
  const state = ends[outcome.type];
  if (outcome.type === "answered") return { state, parts: [] };
  if (outcome.type === "cancelled") return { state, parts: [{ text: outcome.reason }] };
  const text = "code" in outcome ? `${outcome.code}: ${outcome.message}` : boundText(outcome);
  return { state, parts: [{ text }] };
}

/** The answer of a run, with its files, whose data only the records have. */
async function artifactsOf({ runs }: Asked, { id, end }: StoredRun): Promise<readonly A2aArtifact[]> {
  if (end?.outcome.type !== "answered") return [];
  const value = end.output ?? end.outcome.content;
  const files = await runs.replay(id).then(
    (whole) => whole.files,
    () => [], // another version of the agent may be unable to replay the turns
  );
  const raw = files.flatMap(({ data, mediaType }) =>
    data === "" || isAddress(data) ? [] : [{ raw: data, mediaType }],
  );
  const answer = typeof value === "string" ? { text: value } : { data: value };
  return [{ artifactId: answerId, parts: value === "" && raw.length > 0 ? raw : [answer, ...raw] }];
}

/** The id of the artifact that is the answer. The text of earlier turns has the same id, until the text of the next turn replaces it. */
export const answerId = "answer";

/** Makes the input of a run from the parts of a message: text, a message with files, or one value of JSON for an agent with a schema. */
export function inputOf(parts: readonly A2aPart[]): Json {
  const [first] = parts;
  if (parts.length === 1 && first?.data !== undefined) return first.data;
  return saidInput(parts.map(saidPart));
}

function saidPart({ text, raw, mediaType = "" }: A2aPart): SaidPart {
  if (text !== undefined) return { type: "text", text };
  if (raw !== undefined && mediaType !== "") return { type: "file", mediaType, data: raw };
  const reason = "each part must be text or a file as `raw` with its mediaType, or one part alone `data`";
  throw new A2aRefusal("CONTENT_TYPE_NOT_SUPPORTED", reason);
}

/** The parts from which {@link inputOf} made the input of a run. */
function partsOf(input: Json): readonly A2aPart[] {
  if (typeof input === "string") return [{ text: input }];
  const [message] = Array.isArray(input) ? input : [];
  const content = isJsonObject(message) ? message["content"] : undefined;
  if (!isSaid(content)) return [{ data: input }];
  return content.map((part) =>
    part.type === "text" ? { text: part.text } : { raw: part.data, mediaType: part.mediaType },
  );
}
