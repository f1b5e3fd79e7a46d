import { expect, it } from "vitest";
import { llamaCpp } from "../../../src/adapters/model/llama-cpp.ts";
import { ollama } from "../../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { auditLog } from "../../../src/audit.ts";
import { majorityVote, weighted } from "../../../src/compose.ts";
import { llmStatus } from "../../../src/doors.ts";
import {
  commandDriver,
  guidedDriver,
  jsonDriver,
  pythonicDriver,
  reactDriver,
  selectDriver,
} from "../../../src/drivers.ts";
import { skillLibrary } from "../../../src/files.ts";
import { agent, skill } from "../../../src/index.ts";
import { modelFromFunction } from "../../../src/models.ts";
import { fakeAnthropic, fakeOpenai, prove } from "../../../src/testing.ts";
import { fix, skillContext } from "../../../src/tools.ts";

const one = agent({ name: "one", model: () => "Done." });
const plain = skill({ name: "plain", description: "", tools: [] });

/** Functions by their names, with the options that each is given: none that it has. */
const givers: Readonly<Record<string, (options: never) => unknown>> = {
  auditLog: (options) => auditLog("unused.jsonl", options),
  commandDriver,
  fakeAnthropic: (options) => fakeAnthropic(["Hi"], options),
  fakeOpenai: (options) => fakeOpenai(["Hi"], options),
  fix: (options) => fix(one, options),
  guidedDriver,
  jsonDriver,
  llamaCpp: (options) => llamaCpp("none.gguf", options),
  llmStatus,
  majorityVote,
  modelFromFunction: (options) => modelFromFunction(() => "Done.", options),
  ollama: (options) => ollama("m", options),
  openaiCompatible: (options) => openaiCompatible("m", options),
  prove: (options) => prove(one, options),
  pythonicDriver,
  reactDriver,
  selectDriver,
  skillContext: (options) => skillContext(plain, options),
  skillLibrary: (options) => skillLibrary([], options),
  weighted: (options) => weighted({ one: 1 }, options),
};

it.each(Object.entries(givers))(
  "%s() takes neither null nor an option that it does not have",
  async (_name, give) => {
    await expect(Promise.try(give, null as never)).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringMatching(/must be an object, got null/),
    });
    await expect(Promise.try(give, { surely: 1 } as never)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:definition|option)-invalid$/),
      message: expect.stringMatching(/surely/),
    });
  },
);

it.each<[what: string, steps: unknown, told: RegExp]>([
  ["a text", "Hi", /`steps` must be a list of answers, got a string/],
  ["nothing", [undefined], /^Step 1 of a fake provider: it must be an object, got nothing/],
  ["a tool in place of calls", ["Hi", { tool: "add" }], /^Step 2 of a fake provider: .*unknown field "tool"/],
  ["a call by another name", [{ calls: [{ tool: "add" }] }], /`calls\[0\]` has the unknown field "tool"/],
  [
    "a status that there is not",
    [{ status: 99_999 }],
    /`status` must be a status from 200 to 599, got 99999/,
  ],
  ["a status as text", [{ status: "429" }], /`status` must be a status/],
  [
    "seconds by another name",
    [{ status: 429, retryAfterMs: 5 }],
    /"retryAfterMs"; did you mean "retryAfter"/,
  ],
  ["a delay by another name", [{ text: "Hi", delay: 5 }], /unknown field "delay"/],
])("a fake provider does not begin with %s in its script", async (_what, steps, told) => {
  await expect(fakeOpenai(steps as never)).rejects.toMatchObject({
    code: "definition-invalid",
    message: expect.stringMatching(told),
  });
});

it("a fake provider answers with the fault of a function that gives no answer", async () => {
  await using provider = await fakeOpenai([() => ({ tool: "add" }) as never]);
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
  const response = await provider.fetch(`${provider.url}/v1/chat/completions`, { method: "POST", body });
  expect([response.status, await response.text()]).toEqual([
    500,
    expect.stringContaining('unknown field \\"tool\\"'),
  ]);
});
