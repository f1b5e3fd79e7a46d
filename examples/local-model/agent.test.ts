// Tests that a user of writ would write: the calls that the program makes of a sentence, without a model; and the model itself, if this machine has it.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { isWritError } from "writ";
import { modelFromFunction } from "writ/models";
import house, { done } from "./agent.ts";

const brief = house.with({ settings: { maxOutputTokens: 10 }, budget: { durationMs: 600_000 } });
/** The reason why this machine cannot ask the model. The skipped test prints it. */
const skip = await brief("Thank you!").then(() => false, whyNot);
beforeEach(() => void done.splice(0));

const features = { small: true, completion: true, format: "grammar" } as const;
const quiet = house.with({ model: modelFromFunction(() => "You are welcome!", { features }) });

test("does what is said, also two things at once", async () => {
  await quiet("Switch the lights in the kitchen on.");
  await quiet("Lights off in the bedroom, and set a timer for five minutes");
  assert.deepEqual(done, ["kitchen on", "bedroom off", "timer 5"]);
});

test("does nothing where nothing, or too little, was asked", async () => {
  for (const words of ["Thank you!", "Set a timer."]) await quiet(words);
  assert.deepEqual(done, []);
});

test("the model itself: it does what is said, and says something else to thanks", { skip }, async () => {
  await house("Set a timer for twelve minutes.");
  const thanks = await brief.run("Thank you!");
  assert.deepEqual(done, ["timer 12"]);
  assert.equal(thanks.outcome.type, "answered");
  assert.ok((thanks.text ?? "").length > 0);
});

function whyNot(error: unknown): string {
  if (isWritError(error, "model-file-missing") || isWritError(error, "peer-missing"))
    return `${error.message} ${error.hint}`;
  throw error;
}
