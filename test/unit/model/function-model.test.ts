import { expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { fakeTool } from "../../../src/testing.ts";
import type { ModelFunction } from "../../../src/model/function-model.ts";

async function* pieces(): AsyncGenerator<string> {
  yield "Hello";
}

it.each<[what: string, given: () => unknown, told: string]>([
  ["nothing", () => undefined, "this one gave nothing"],
  ["a list", () => ["Hello"], "this one gave a list"],
  ["fields of another library", () => ({ content: "Hello" }), "this one gave { content }"],
  ["a text that is none", () => ({ text: [{ type: "text", text: "hi" }] }), "gave a text that is a list"],
  ["calls that are none", () => ({ calls: "add" }), "gave calls that are a string"],
  ["a call without its name", () => ({ calls: [{ tool: "add" }] }), "gave a call without a name"],
  ["a call that is nothing", () => ({ calls: [null] }), "gave a call without a name"],
  ["pieces of text", pieces, 'a piece of it is not a delta, but "Hello"'],
])("a model function that gives %s is told so, and by whom it is mended", async (_what, given, told) => {
  const { outcome, error } = await agent({ name: "a", model: given as ModelFunction })
    .run("Hi")
    .catch((error: unknown) => ({ outcome: undefined, error }));
  expect(outcome).toBeUndefined();
  expect(error).toMatchObject({
    code: "reply-invalid",
    message: expect.stringContaining(told),
    hint: expect.stringContaining(
      "Correct the function or the adapter that makes the replies, if it is yours",
    ),
  });
});

it("a model function says nothing by a text that is null, as providers write it beside calls", async () => {
  let asked = 0;
  const calls = [{ name: "look", arguments: {} }];
  const model = (): unknown => (asked++ === 0 ? { text: null, reasoning: null, calls } : { text: "Done." });
  const tools = [fakeTool("look", "seen")];
  const run = await agent({ name: "a", model: model as ModelFunction, tools }).run("go");
  expect(run).toMatchObject({ text: "Done." });
  expect(JSON.stringify(run.transcript)).not.toContain('"null"');
});

it.each<[what: string, model: ModelFunction]>([
  ["at once", () => JSON.parse("{")],
  ["later", async () => JSON.parse("{")],
  [
    "between pieces",
    async function* () {
      yield { type: "text-delta", text: "a" } as const;
      JSON.parse("{");
    },
  ],
])("a model function that throws %s is named as the place of the error", async (_when, model) => {
  const error: unknown = await agent({ name: "a", model })
    .run("Hi")
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "provider-failed",
    message: expect.stringMatching(/for the model "function": its code threw: Expected property name/),
    hint: expect.stringContaining("If the model is a function of yours that threw, `cause` is its error."),
    cause: expect.any(SyntaxError),
    retryable: false,
  });
});
