import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ask, runsFile, serving, talker } from "./scene.ts";

const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): unknown => unhandled.push(error);
beforeEach(() => void process.on("unhandledRejection", onUnhandled));
afterEach(() => void process.off("unhandledRejection", onUnhandled));

describe("whoever is told of the faults of a server", () => {
  it.each([
    [
      "throws",
      () => {
        throw new Error("the log is gone");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("the log is gone");
      },
    ],
  ])("changes nothing where it %s", async (_how, onError) => {
    const told: unknown[] = [];
    const server = serving(runsFile(), {
      agents: [talker()],
      principals() {
        throw new Error("the sessions are gone");
      },
      onError(error) {
        told.push(error);
        return onError();
      },
    });
    expect((await ask(server, "GET /runs")).status).toBe(500);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(told).toHaveLength(1);
    expect(unhandled).toEqual([]);
  });
});
