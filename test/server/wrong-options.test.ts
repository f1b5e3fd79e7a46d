import { describe, expect, it } from "vitest";
import { memoryRuns } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";
import { serve, serveMcpStdio } from "../../src/server.ts";

const one = agent({ name: "one", model: () => "Done." });
const store = memoryRuns();

const wrong: readonly [name: string, options: unknown, reason: RegExp][] = [
  ["nothing", undefined, /it must be an object, got nothing/],
  ["null", null, /it must be an object, got null/],
  ["an agent", [one], /it must be an object, got a list/],
  ["no store", { agents: [one] }, /`store` must be a store of runs, like sqliteRuns\(path\), got nothing/],
  ["agents that are none", { store, agents: one }, /`agents` must be a list of agents, got a function/],
  ["two agents of one name", { store, agents: [one, one] }, /two agents have the name "one"/],
  ["an option that is none", { store, agent: [one] }, /unknown field "agent".*`?agents`?/],
  [
    "a wrong number of runs",
    { store, agents: [one], work: { concurrency: 0 } },
    /`work\.concurrency` must be/,
  ],
];

describe("options that cannot be", () => {
  it.each(wrong)("are told as those of serve(): %s", (_name, options, reason) => {
    const begin = () => serve(options as never);
    expect(begin).toThrow(expect.objectContaining({ code: "definition-invalid" }));
    expect(begin).toThrow(/^serve\(\)/);
    expect(begin).toThrow(reason);
  });

  it.each(wrong)("are told as those of serveMcpStdio(): %s", async (_name, options, reason) => {
    const begun = serveMcpStdio(options as never);
    await expect(begun).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringMatching(/^serveMcpStdio\(\)/),
    });
    await expect(begun).rejects.toThrow(reason);
  });
});

it.each([undefined, null, 5, ["ada"]])("a caller whom the sign-in names %j is nobody", async (name) => {
  const faults: unknown[] = [];
  const principals = () => ({ name }) as never;
  const server = serve({ store, agents: [one], principals, onError: (error) => faults.push(error) });
  const refused = await server.fetch(new Request("https://agents.example/runs"));
  expect(refused.status).toBe(500);
  expect(faults).toEqual([expect.objectContaining({ message: expect.stringContaining("`name`") })]);
  await server.drain();
});
