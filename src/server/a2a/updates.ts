import { isFact, type AgentEvent } from "../../event/event.ts";
import type { StoredRun } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import type { Asked } from "../route.ts";
import { runEvents } from "../run-events.ts";
import { UiChunks } from "../ui-chunks.ts";
import { answerId, taskOf, type TaskIds, type TaskView } from "./task.ts";
import type { A2aTask, A2aUpdate } from "./wire.ts";

/** A run that a client follows, with the client's view of it. */
export interface Following {
  readonly run: StoredRun;
  readonly view: TaskView;
  readonly signal: AbortSignal;
}

/**
 * Tells the task of a run, then its text as it is written and its states, until the run has ended or waits: for an answer, or for something that the client
 * cannot give. Returns the final state of the task.
 */
export async function* updatesOf(
  asked: Asked,
  { run, view, signal }: Following,
): AsyncGenerator<A2aUpdate, A2aTask> {
  const { taskId, contextId } = view;
  const began = await taskOf(asked, run, view);
  yield { task: began };
  const { state } = began.status;
  if (run.end !== undefined || state === "TASK_STATE_INPUT_REQUIRED") return began;
  const words = new Words(view);
  let last = view.after ?? 0;
  let isAtWork = state === "TASK_STATE_WORKING";
  for await (const event of runEvents(run.id, asked.served, { after: last, signal, untilItWaits: true })) {
    if (isFact(event)) last = event.seq;
    if (!isAtWork) {
      const timestamp = new Date(asked.served.host.now()).toISOString();
      yield { statusUpdate: { taskId, contextId, status: { state: "TASK_STATE_WORKING", timestamp } } };
    }
    isAtWork = true;
    yield* words.of(event);
    // Another process tells the end before it stores it.
    if (event.type === "run-end") await asked.runs.result(run.id, { signal });
  }
  const now = await asked.runs.show(run.id);
  if (now === undefined) throw new WritError("run-missing", { id: taskId });
  const rests = await taskOf(asked, now, { ...view, after: last });
  yield* words.mended(rests);
  yield { statusUpdate: { taskId, contextId, status: rests.status } };
  return rests;
}

/** The text of a run as it is written. The text of a turn replaces that of the turn before, because the last one is the answer. */
class Words {
  private readonly ids: TaskIds;
  private readonly chunks = new UiChunks();
  private shown = "";

  constructor({ taskId, contextId }: TaskIds) {
    this.ids = { taskId, contextId };
  }

  *of(event: AgentEvent): Generator<A2aUpdate> {
    for (const { type, delta } of this.chunks.of(event)) {
      if (type === "start-step" || type === "reset-step") this.shown = "";
      if (type !== "text-delta") continue;
      const artifact = { artifactId: answerId, parts: [{ text: String(delta) }] };
      yield { artifactUpdate: { ...this.ids, artifact, append: this.shown !== "", lastChunk: false } };
      this.shown += String(delta);
    }
  }

  /** The whole answer, if it differs from what was shown: a value, files, a corrected text. */
  *mended({ artifacts }: A2aTask): Generator<A2aUpdate> {
    for (const artifact of artifacts) {
      const [first, ...others] = artifact.parts;
      if (first?.text === this.shown && others.length === 0) continue;
      yield { artifactUpdate: { ...this.ids, artifact, append: false, lastChunk: true } };
    }
  }
}
