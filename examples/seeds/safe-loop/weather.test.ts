import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { call, safeLoop } from "writ/doors";
import { scripted } from "writ/testing";
import { getWeather, runAgent } from "./weather.ts";

const bounds = { maxSteps: 3, budget: 100 };
const lima = {
  calls: [{ name: "get_weather", arguments: { city: "Lima" } }],
  usage: { inputTokens: 5, outputTokens: 1 },
};

beforeEach(() => {
  delete process.env["WRIT_MODEL"];
});

await test("a tool is an ordinary function, called with its arguments by name", async () => {
  assert.equal(await call(getWeather, { city: "Lima" }), "weather in Lima: sunny");
  // @ts-expect-error it takes a city
  await assert.rejects(call(getWeather, { town: "Lima" }), { code: "input-invalid" });
});

await test("the answer of the model is the answer", async () => {
  assert.equal(await runAgent("Weather?", { ...bounds, model: scripted([lima, "Sunny."]) }), "Sunny.");
});

await test("what is not on the list does not run, and the loop goes on", async () => {
  for (const name of ["delete_database", "constructor", "__proto__"]) {
    const contexts: string[] = [];
    const model = scripted([{ calls: [{ name }] }, lima, "Sunny."]);
    const onStep = (_step: unknown, context: string): unknown => contexts.push(context);
    assert.equal(await runAgent("Weather?", { ...bounds, model, onStep }), "Sunny.");
    assert.equal(contexts.at(-1), ` [${name} => not allowed] [get_weather => weather in Lima: sunny]`);
  }
});

await test("it ends when its steps or its tokens are used up", async () => {
  const endless = scripted([lima]);
  assert.equal(await runAgent("Weather?", { ...bounds, model: endless }), "out of steps");
  assert.equal(endless.requests.length, 3);
  const dear = scripted([lima]);
  assert.equal(await runAgent("Weather?", { maxSteps: 9, budget: 10, model: dear }), "out of steps");
  assert.equal(dear.requests.length, 2); // 6 and 6 tokens: the step that went over was carried out, and no other step was asked for
});

await test("without a model it runs, and says that there is none", async () => {
  assert.equal(await runAgent("Weather?", bounds), "[no llm provider]");
});

await test("safeLoop() is this loop, ready made", async () => {
  const steps = [{ calls: [{ name: "delete_database" }] }, lima, "Sunny."];
  const own: string[] = [];
  const made: string[] = [];
  await runAgent("Weather?", {
    ...bounds,
    model: scripted(steps),
    onStep: (_step, context) => own.push(context),
  });
  const answer = await safeLoop({
    ...bounds,
    question: "Weather?",
    tools: { get_weather: getWeather },
    model: scripted(steps),
    onStep: ({ step, context }) => step.kind === "tool" && made.push(context),
  });
  assert.equal(answer, "Sunny.");
  assert.deepEqual(made, own);
});
