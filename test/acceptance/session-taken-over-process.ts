/** A worker that can be killed: it carries out runs of sessions, and its tool never ends. Argument: the address of a PostgreSQL, or the path of a SQLite file. */
import { pathToFileURL } from "node:url";
import { durableRuns, type DurableRuns } from "../../src/durable.ts";
import { agent, session, tool } from "../../src/index.ts";
import { postgresRuns, postgresSessions } from "../../src/postgres.ts";
import { sqliteRuns, sqliteSessions } from "../../src/sqlite.ts";

/** The agent, whose tool tells when it begins. */
export const looker = (begun: () => Promise<unknown> | undefined) =>
  agent({
    name: "looker",
    model: ({ messages }) =>
      messages.at(-1)?.role === "tool" ? `told ${messages.length}` : { calls: [{ name: "look" }] },
    tools: [
      tool({
        name: "look",
        description: "Looks",
        effect: "read",
        retry: "always",
        inputSchema: { type: "object", properties: {} },
        async execute() {
          await begun();
          return "seen";
        },
      }),
    ],
  });

/** The runs of a process, with their sessions. `close` ends its connections. */
export function runsAt(address: string, one: ReturnType<typeof looker>) {
  const [store, kept] = address.startsWith("postgres")
    ? [postgresRuns(address), postgresSessions(address)]
    : [sqliteRuns(address), sqliteSessions(address)];
  const runs: DurableRuns = durableRuns({ store, agents: [one], sessions: (id) => session(kept, id) });
  return { runs, kept, close: () => Promise.all([store.close(), kept.close()]) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const hanging = looker(() => {
    process.stdout.write("begun\n");
    return new Promise(() => setInterval(() => undefined, 1000));
  });
  runsAt(process.argv[2] ?? "", hanging).runs.work({ concurrency: 1 }); // the one that hangs
}
