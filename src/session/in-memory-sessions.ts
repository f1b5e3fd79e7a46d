import { WritError } from "../error/writ-error.ts";
import {
  checkVersion,
  headText,
  missing,
  recordOf,
  runText,
  type SessionContents,
  type SessionStore,
  type StoredSession,
} from "./session-store.ts";

interface Kept extends StoredSession {
  readonly runs: string[];
  /** The ids of its runs, in order. */
  readonly ids: string[];
}

/**
 * Keeps sessions in the memory of this process. `sqliteSessions()` keeps them in a file, `postgresSessions()` in a database.
 *
 * @example
 * ```ts
 * import { agent, inMemorySessions, session } from "writ";
 *
 * const talker = agent({ name: "talker", model: "ollama/qwen2.5:7b" });
 * const talk = session(inMemorySessions(), "talk");
 * await talker.run("My name is Kim.", { session: talk });
 * console.log(await talker("What is my name?", { session: talk }));
 * ```
 */
export function inMemorySessions(): SessionStore {
  const sessions = new Map<string, Kept>();
  const owners = new Map<string, string>();
  function keptAt(id: string, expectedVersion?: number): Kept {
    const kept = sessions.get(id);
    if (kept === undefined) throw missing(id);
    if (expectedVersion !== undefined) checkVersion(id, kept.version, expectedVersion);
    return kept;
  }
  return {
    async create(id, contents = {}) {
      const { runs = [], version = 0 } = contents;
      if (sessions.has(id)) throw new WritError("session-exists", { id });
      const kept = keptAs(version, { ...contents, runs });
      sessions.set(id, kept);
      return recordOf(id, kept);
    },
    async read(id, only) {
      const kept = keptAt(id);
      if (only === undefined) return recordOf(id, kept);
      const { runs, ids } = kept;
      const isWanted = (place: number): boolean =>
        "runId" in only ? ids[place] === only.runId : place >= runs.length - only.lastRuns;
      return recordOf(id, { ...kept, runs: runs.filter((_, place) => isWanted(place)) });
    },
    async append(id, run, expectedVersion) {
      const { version, head, runs, ids } = keptAt(id, expectedVersion);
      const text = runText(run);
      for (let at = ids.lastIndexOf(run.runId); at !== -1; at = ids.lastIndexOf(run.runId))
        for (const list of [runs, ids]) list.splice(at, 1);
      runs.push(text);
      ids.push(run.runId);
      sessions.set(id, { version: version + 1, head, runs, ids });
      return version + 1;
    },
    async update(id, contents, expectedVersion) {
      const version = keptAt(id, expectedVersion).version + 1;
      sessions.set(id, keptAs(version, contents));
      return version;
    },
    async delete(id) {
      keptAt(id);
      sessions.delete(id);
    },
    async list() {
      return [...sessions.keys()];
    },
    claims: {
      async take(id, owner) {
        const holder = owners.get(id) ?? owner;
        owners.set(id, holder);
        return holder;
      },
      async release(id, owner) {
        if (owners.get(id) === owner) owners.delete(id);
      },
    },
  };
}

function keptAs(version: number, contents: Partial<SessionContents> & Pick<SessionContents, "runs">): Kept {
  const { runs } = contents;
  return { version, head: headText(contents), runs: runs.map(runText), ids: runs.map(({ runId }) => runId) };
}
