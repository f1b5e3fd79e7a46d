import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { killRun } from "../../tools/kill/kill-runs.ts";
import { type RestateServer, restateMissing, startRestate } from "../restate-server.ts";
import { dispatcherContract } from "./dispatcher.ts";
import { restateDispatched } from "./dispatcher-restate.ts";

describe.skipIf(restateMissing() !== undefined)("the dispatcher of examples/restate", () => {
  let server: RestateServer;
  beforeAll(async () => {
    server = await startRestate();
  });
  afterAll(() => server.close());

  dispatcherContract(
    "Restate",
    restateDispatched(() => server),
  );

  it("hands a run on whose workers are killed, and nothing is lost or done twice", async () => {
    const under = restateDispatched(() => server, ["boss"]);
    const { complaints, kills } = await killRun(["out:2", "in:2"], { waits: true, store: under });
    expect([complaints, kills]).toEqual([[], 2]);
  }, 240_000); // many processes, one after the other
});
