import { createServer } from "node:net";
import { once } from "node:events";
import { restateDispatcher } from "../../examples/restate/dispatcher.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import type { RestateServer } from "../restate-server.ts";
import type { DispatcherUnderTest, OpenDispatched } from "./dispatcher.ts";
import { sqliteUnderTest } from "./run-store-sqlite.ts";

/** A file of runs, a Restate, and the ports of the agents, whose services have those in their names: one Restate serves many places. */
interface Place {
  readonly file: string;
  readonly ingress: string;
  readonly admin: string;
  readonly ports: Readonly<Record<string, number>>;
}

export const openDispatched: OpenDispatched = (address) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by `place` below
  const { file, ports, ...restate } = JSON.parse(address) as Place;
  const dispatcher = restateDispatcher({
    ...restate,
    serviceOf(agent) {
      const port = ports[agent] ?? 0;
      return { name: `${agent}-${port}`, port, address: `http://127.0.0.1:${port}` };
    },
  });
  return {
    store: sqliteRuns(file),
    dispatcher: { ...dispatcher, [Symbol.asyncDispose]: () => Promise.resolve() },
  };
};

/** Workers on a SQLite file to which a Restate sends the runs of some agents. */
export function restateDispatched(
  server: () => RestateServer,
  agents: readonly string[] = ["a", "b"],
): DispatcherUnderTest {
  return {
    module: import.meta.url,
    openDispatched,
    async place() {
      const { address: file, remove } = await sqliteUnderTest.place();
      const ports = Object.fromEntries(
        await Promise.all(agents.map(async (agent) => [agent, await freePort()] as const)),
      );
      const { ingress, admin } = server();
      return { address: JSON.stringify({ file, ingress, admin, ports } satisfies Place), remove };
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}
