import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { restateDispatcher } from "../../examples/restate/dispatcher.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";

/** Takes what Restate is told, and calls nobody. */
async function listening(): Promise<{ readonly address: string; readonly told: readonly string[] }> {
  const told: string[] = [];
  const server = createServer(({ url = "", headers }, response) => {
    told.push(`${decodeURIComponent(url)} ${"idempotency-key" in headers ? "swept" : ""}`.trim());
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at a port
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, told };
}

it("looks for runs that nobody told Restate of, whatever letters are in their ids", async () => {
  const { address, told } = await listening();
  const serviceOf = (name: string) => ({ name, port: 0, address: "http://127.0.0.1:9" });
  const dispatcher = restateDispatcher({ ingress: address, admin: address, serviceOf });
  const store = memoryRuns();
  const clerk = agent({ name: "clerk", model: () => "done" });
  const starter = durableRuns({ store, agents: [clerk] }); // as a process that died before it told of its runs
  for (const id of ["注文 7", "r"]) await starter.start(clerk, "Go", { id });
  await using _worker = durableRuns({ store, dispatcher, agents: [clerk] }).work();
  await expect
    .poll(() => told)
    .toEqual(["/deployments", "/clerk/r/advance/send swept", "/clerk/注文 7/advance/send swept"]);
});
