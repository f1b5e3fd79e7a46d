import { WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";

/** The last fact that a reader knows of each run, by its id: of the run that it reads, and of the runs inside. */
export type Cursor = ReadonlyMap<string, number>;

/**
 * Reads the place of a reader: the number of a fact of the run, then `,id:number` for each known run inside it, with the ids that the reader was told.
 *
 * @throws WritError `request-invalid`
 */
export function readCursor(text: string, id: string, prefix: string): Cursor {
  const [own = "", ...others] = text.split(",");
  const pairs = others.map((each): [string, string] => {
    const [run = "", seq = ""] = each.split(":");
    return [`${prefix}${decoded(run)}`, seq];
  });
  const isInside = pairs.every(([run, seq]) => run.startsWith(`${id}/`) && isNumber(seq));
  if (!isNumber(own) || !isInside) throw notAnEvent();
  return new Map([[id, Number(own)], ...pairs.map(([run, seq]) => [run, Number(seq)] as const)]);
}

/** The place behind an event, as its reader sends it back. */
export function cursorText(cursor: Cursor, id: string, own: (id: string) => string): string {
  const inside = [...cursor].filter(([run]) => run !== id);
  const pairs = inside.map(([run, seq]) => `,${encodeURIComponent(own(run))}:${seq}`);
  return `${cursor.get(id) ?? 0}${pairs.join("")}`;
}

/** The same place, one fact later. */
export function cursorAfter(cursor: Cursor, { runId, seq }: AgentEvent): Cursor {
  return new Map(cursor).set(runId, seq);
}

const isNumber = (text: string): boolean => /^\d{1,15}$/.test(text);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notAnEvent();
  }
}

function notAnEvent(): WritError {
  return new WritError("request-invalid", {
    where: "`last-event-id`",
    reason: "it is not the number of an event",
  });
}
