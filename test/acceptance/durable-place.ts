import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { memoryRuns, type RunStore } from "../../src/durable.ts";
import type { ModelRequest } from "../../src/models.ts";
import { postgresRuns } from "../../src/postgres.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";

type OpenStore = RunStore & { readonly close?: () => unknown };

/** The places in which durable runs are tested: a file, a server that is started for it, and this process. */
export const durablePlaces = ["a SQLite file", "PostgreSQL", "memory"] as const;

/** Registers what opens and closes the stores of a place, each test with an empty one. Gives what opens it once more, as another process does. */
export function storesIn(where: (typeof durablePlaces)[number]): () => RunStore {
  const folder = mkdtempSync(join(tmpdir(), "writ-durable-"));
  const isServer = where === "PostgreSQL";
  let inMemory = memoryRuns();
  let server: PostgresServer | undefined;
  let place = 0;
  const stores: OpenStore[] = [];
  beforeAll(async () => {
    if (isServer && postgresMissing() === undefined) server = await startPostgres();
  });
  afterAll(() => {
    server?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(({ skip }) => {
    skip(isServer && server === undefined, "PostgreSQL is not here");
    place += 1;
    inMemory = memoryRuns();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close?.();
  });
  return () => {
    if (where === "memory") return inMemory;
    const store = isServer
      ? postgresRuns(server?.url, { schema: `runs ${place}`, connections: 2 })
      : sqliteRuns(join(folder, `runs-${place}.db`));
    stores.push(store);
    return store;
  };
}

/** A call that a model of a test makes. */
export type PlannedCall = { readonly name: string; readonly arguments?: Readonly<Record<string, string>> };

/** A model that makes the planned calls, turn by turn, then says what it was told of them: only the conversation decides. */
export const planned =
  (...turns: readonly (readonly PlannedCall[])[]) =>
  ({ messages }: Pick<ModelRequest, "messages">) => {
    const calls = turns[messages.filter(({ role }) => role === "assistant").length];
    if (calls !== undefined)
      return { calls: calls.map(({ name, arguments: args = {} }) => ({ name, arguments: args })) };
    return messages
      .flatMap((message) => (message.role === "tool" ? [`${message.name} ${message.status}`] : []))
      .join(", ");
  };
