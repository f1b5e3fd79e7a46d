import { isWritError, WritError } from "../error/writ-error.ts";
import { startKey } from "../journal/record-form.ts";
import type { DurableAround } from "./durable-options.ts";
import { replayKnown } from "./follow.ts";
import { pagedRuns } from "./paged-runs.ts";
import { leftToLater } from "./protocol.ts";
import { keepsConversation } from "./run-of.ts";
import { openStatuses, type StoredRun } from "./run-store.ts";

/** A run that cannot go on with the code of this process, and the reason. */
export interface StrandedRun {
  readonly run: StoredRun;
  /** The reason: `journal-mismatch` names the changed parts, `journal-longer` a turn that the code does not reach; `journal-newer`: a later version. */
  readonly error: WritError;
}

/** The most runs that are read at a time. */
const page = 100;

/** Replays each run of these agents that has not ended, and returns those whose records were made from other code. */
export async function strandedRuns(around: DurableAround): Promise<readonly StrandedRun[]> {
  const stranded: StrandedRun[] = [];
  for (const status of openStatuses)
    for (const { name } of around.agents ?? [])
      for await (const run of pagedRuns(around.store, { agent: name, status, limit: page, most: page })) {
        const error = await faultOf(run, around);
        if (error !== undefined) stranded.push({ run, error });
      }
  return stranded;
}

/**
 * Checks that the code of this process could go on with a run after a yes, if the run's agent is here: otherwise the run would fail, and the yes be used up.
 *
 * @throws WritError `question-stale` if its policy is another one, `question-stranded`
 */
export async function checkGoesOn(id: string, key: string, around: DurableAround): Promise<void> {
  const run = await around.store.read(id);
  const isHere = around.agents?.some(({ name }) => name === run?.agent) === true;
  const cause = run === undefined || !isHere ? undefined : await faultOf(run, around);
  if (cause === undefined || isWritError(cause, "journal-newer")) return; // a process of the later version takes it
  const question = (await around.store.questions(id)).find((one) => one.key === key);
  if (question === undefined) return;
  const { tool } = question.request;
  const parts = changedIn(cause);
  if (parts.includes("policy")) throw new WritError("question-stale", { id, key, tool }, { cause });
  const reason =
    parts.length === 0 ? "it would have ended before its last turn" : `its ${parts.join(" and ")} changed`;
  throw new WritError("question-stranded", { id, key, tool, reason }, { cause });
}

/** The parts in which a run differs from its records, as the error of its replay names them. */
export function changedIn(error: WritError): readonly string[] {
  return isWritError(error, "journal-mismatch") ? String(error.data.parts).split(" and ") : [];
}

/** Codes of replay errors that mean that the records were made by other code. */
const ofOtherCode: ReadonlySet<string> = new Set(["journal-mismatch", "journal-longer", "journal-newer"]);

/** The error of a replay that met records of other code. Reaching the end of the records is not such an error. */
async function faultOf(run: StoredRun, around: DurableAround): Promise<WritError | undefined> {
  const later = leftToLater(run);
  if (later !== undefined) return later;
  try {
    await replayKnown(run, around);
    return undefined;
  } catch (error) {
    if (!isWritError(error)) throw error;
    if (!ofOtherCode.has(error.code)) return undefined;
    const isOfStart = isWritError(error, "journal-mismatch") && error.data.key === startKey;
    return isOfStart || !isLeftToOthers(run, around) ? error : undefined;
  }
}

/**
 * True of a run whose conversation is in the sessions, in a process that has none: its workers leave the run to others. Its replay begins without the conversation,
 * so that only the record of its start can be compared.
 */
function isLeftToOthers({ session, agent }: StoredRun, { sessions, agents = [] }: DurableAround): boolean {
  const known = agents.find(({ name }) => name === agent);
  return session !== undefined && sessions === undefined && known !== undefined && keepsConversation(known);
}
