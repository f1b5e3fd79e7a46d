import { expect, it } from "vitest";
import { agent } from "../../src/index.ts";
import { telemetry } from "../../src/otel.ts";
import { scripted } from "../../src/testing.ts";
import { register, sums, told } from "./collect.ts";

it("Providers that the program registers after it made its agents are told of spans and metrics alike", async () => {
  const clerk = agent({ name: "clerk", model: scripted(["Hello.", "Again."]), onEvent: telemetry() });
  await clerk.run("Hello"); // nobody is told
  register();
  await clerk.run("Hello");
  expect(told().map(({ name }) => name)).toContain("invoke_agent clerk");
  expect(await sums()).toMatchObject({
    "gen_ai.invoke_agent.duration": 1,
    "gen_ai.client.operation.duration": 1,
  });
});
