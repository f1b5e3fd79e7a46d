import * as valibot from "valibot";
import { expect, it } from "vitest";
import { ollama } from "../../../src/adapters/model/ollama.ts";
import { llamaCpp } from "../../../src/adapters/model/llama-cpp.ts";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { callTool } from "../../../src/doors.ts";
import { agent, memoryBank, sensible, skill, tool } from "../../../src/index.ts";
import { recogniser, textDriver } from "../../../src/drivers.ts";
import { foundIn, listedBy } from "../../../src/policy.ts";
import { fakeTool, faulty, runMatchers } from "../../../src/testing.ts";
import { planTool } from "../../../src/tools.ts";

const any = (value: unknown): never => value as never;
const model = (): string => "Done.";
const about = { name: "t", description: "", execute: () => 1 };

it.each<[what: string, begin: () => unknown, told: RegExp]>([
  [
    "a source without its tool",
    () => foundIn(any(undefined)),
    /^foundIn\(\): `tool` must be a text that is not empty, got nothing/,
  ],
  [
    "a source without names of its field",
    () => listedBy("list_rooms", { field: [] }),
    /^listedBy\(\): `field` must name a field/,
  ],
  [
    "a misspelt field of a protocol",
    () =>
      textDriver(any({ name: "p", conversation: model, read: model, feedback: model, plainAnswer: true })),
    /^textDriver\(\): `protocol` has the unknown field "plainAnswer"; did you mean "plainAnswers"\?/,
  ],
  [
    "a reply in place of its text",
    () => recogniser([fakeTool("t", 1)]).read(any({ text: "t()" })),
    /^read\(\) of recogniser\(\): `text` must be a string, got an object/,
  ],
  [
    "the options of a model in place of its file",
    () => llamaCpp(any({ model: "smollm2-135m" })),
    /^llamaCpp\(\): `pathOrName` must be a text that is not empty, got an object/,
  ],
  [
    "a fraction of a call at a time",
    () => agent({ name: "a", model, concurrency: 1.5 }),
    /^Agent "a": `concurrency` must be a whole number of at least 1, or Infinity, got 1.5/,
  ],
  [
    "a schema that was not awaited",
    () => tool({ ...about, inputSchema: any(Promise.resolve({ type: "object" })) }),
    /^The input schema of "t" cannot be used: it is a promise \(`await` it\)/,
  ],
  [
    "a valibot schema as output",
    () => agent({ name: "a", model, output: any(valibot.object({})) }),
    /^The output schema of "a" is a valibot schema/,
  ],
  [
    "knowledge as text",
    () => skill({ name: "s", description: "", tools: [], knowledge: any("docs") }),
    /^Skill "s": `knowledge` must be a list of what knowledge\(\) gives, got a string/,
  ],
  [
    "a default policy that was called",
    () => agent({ name: "a", model, policy: any((sensible as () => unknown)()) }),
    /^sensible\(\): it is a policy itself.*write `policy: sensible`/,
  ],
  ["a model without a name", () => ollama(any(undefined)), /^ollama\(\): `name` must be a text.*got nothing/],
  [
    "a host that is a number",
    () => ollama("m", { host: any(5) }),
    /^ollama\(\): `host` must be a string, got a number/,
  ],
  [
    "a model of a server without a name",
    () => openaiCompatible(any({ baseUrl: "http://127.0.0.1:8080/v1" })),
    /^openaiCompatible\(\): `name` must be a text.*got an object/,
  ],
  [
    "faults that are none",
    () => faulty(model, any(null)),
    /^faulty\(\): `faults` must be a list of faults, got null/,
  ],
  [
    "a fault by its status",
    () => faulty(model, any([{ status: 503 }])),
    /^faulty\(\): `faults\[0\]\.type` must be one of slow, cut, rate-limited, malformed, wrong-tool, got nothing/,
  ],
  [
    "a memory in a file by its path",
    () => memoryBank({ store: any("memory.db") }),
    /^A memory bank: `store` must be a store of memory, like inMemorySlots\(\), got a string/,
  ],
  [
    "a run that was not awaited",
    () => runMatchers.toHaveCalled.call(any({}), any(agent({ name: "a", model }).run("Hi")), "add"),
    /^What `expect\(\)` of a run is given: it must be the result of a run, got a promise \(`await` it\)/,
  ],
  [
    "the answer of a run",
    () => runMatchers.toHaveEnded.call(any({}), any("Done."), "answered"),
    /^What `expect\(\)` of a run is given: it must be the result of a run, got a string/,
  ],
  [
    "a checkpoint as its text",
    () => agent({ name: "a", model }).resume(any("{}")),
    /cannot go on from this checkpoint: it is a text; give what `JSON.parse\(text\)` returns$/,
  ],
  ["no options of a plan", () => planTool(any(null)), /^planTool\(\): it must be an object, got null/],
  [
    "no call among tools",
    () => callTool([fakeTool("add", 3)], any(undefined)),
    /^callTool\(\): `call` must be an object, got nothing/,
  ],
])("%s is told as such", async (_what, begin, told) => {
  await expect(Promise.try(begin)).rejects.toMatchObject({ message: expect.stringMatching(told) });
});
