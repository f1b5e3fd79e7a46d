import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../../src/durable.ts";
import { serve } from "../../../src/server.ts";

it("is refused a worker without agents, which would take no run, and say nothing", () => {
  const refused = expect.objectContaining({
    code: "definition-invalid",
    message: expect.stringMatching(/^work\(\): .*`agents`/),
  });
  expect(() => durableRuns({ store: memoryRuns() }).work()).toThrow(refused);
  expect(() => durableRuns({ store: memoryRuns(), agents: [] }).work()).toThrow(refused);
  expect(() => serve({ store: memoryRuns() })).toThrow(refused);
  expect(() => serve({ store: memoryRuns(), work: false })).not.toThrow();
});
