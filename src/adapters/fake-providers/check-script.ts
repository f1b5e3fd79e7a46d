import { checkArguments, checkShape, closed } from "../../error/check-shape.ts";
import { plainReply } from "../../model/scripted.ts";
import {
  anything,
  count,
  list,
  oneOf,
  optional,
  type Shape,
  shapeOf,
  string,
  whole,
} from "../../util/shape.ts";
import type { FakeAnswer, FakeFault, FakeOptions, FakeReply, FakeStep } from "./fake-provider.ts";

const { files: _files, ...said } = plainReply;
const reply = closed({
  ...said,
  delayMs: optional(count),
  cutAfter: optional(whole),
} satisfies Fields<FakeReply>);
const fault = closed({
  status: shapeOf(
    "a status from 200 to 599",
    (value) => typeof value === "number" && Number.isInteger(value) && value >= 200 && value <= 599,
    String,
  ),
  message: optional(string),
  retryAfter: optional(count),
  html: optional(string),
  delayMs: optional(count),
} satisfies Fields<FakeFault>);

type Fields<Of> = Readonly<Record<keyof Of, Shape<unknown>>>;

const options = { whenDone: optional(oneOf("repeat", "refuse")) };

/** @throws WritError `definition-invalid` for a step that no fake provider can play, and for a host that this one does not play */
export function checkScript(steps: readonly FakeStep[], given: FakeOptions, hosts: readonly string[]): void {
  const taken = closed(hosts.length === 0 ? options : { ...options, host: optional(oneOf(...hosts)) });
  const where = "The script of a fake provider";
  checkArguments(
    where,
    { steps, options: given },
    { steps: list(anything, "a list of answers"), options: taken },
  );
  for (const [index, step] of steps.entries()) if (typeof step !== "function") checkAnswer(step, index + 1);
}

/** Checks one answer in the same way, from its step or from a function. */
export function checkAnswer(answer: FakeAnswer, number: number): void {
  if (typeof answer === "string" || answer instanceof Error) return;
  checkShape(`Step ${number} of a fake provider`, answer, "status" in Object(answer) ? fault : reply);
}
