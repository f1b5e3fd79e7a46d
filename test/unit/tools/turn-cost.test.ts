import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

interface Cost {
  readonly promisesATurn: number;
  readonly promisesWhereAToolWaits: number;
  readonly bytesATurn: number;
  readonly promisesADelta: number;
  readonly bytesOfAWaitingRun: number;
  readonly answer: { readonly files: number; readonly functions: number };
  readonly call: { readonly files: number; readonly functions: number };
}

function counted(): Cost {
  const options = ["--max-semi-space-size=512", "--predictable", "bench/turn-cost.ts"];
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" }; // what was compiled before decides what is made anew: the same each time
  return JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8", env })) as Cost;
}

it("a turn makes no promise that nothing waits for, little garbage, and a short walk through the code; a run that waits holds on to little", () => {
  let cost = counted();
  for (let again = 0; again < 3 && cost.bytesATurn >= 21_800; again += 1) cost = counted(); // on a busy machine V8 compiles some calls so that they make 4 kB more
  expect(cost.promisesATurn).toBeLessThan(0.05); // those by which timers have a turn after 128 of the run
  expect(cost.promisesWhereAToolWaits).toBeLessThan(10.05);
  expect(cost.bytesATurn).toBeLessThan(24_800); // 20 100, and those 4 kB where each try met a busy machine
  expect(cost.promisesADelta).toBeLessThanOrEqual(6);
  expect(cost.bytesOfAWaitingRun).toBeLessThan(11_830); // 190 of them: the context, whose label takes in what runs inside see; 136: the list of records, which is filled by push; 8: the clock
  expect(cost.answer.files).toBeLessThanOrEqual(23);
  expect(cost.answer.functions).toBeLessThanOrEqual(188);
  expect(cost.call.files).toBeLessThanOrEqual(35);
  expect(cost.call.functions).toBeLessThanOrEqual(327);
}, 400_000);

it("turns run in code that V8 compiles once: their lists are of one kind, however warm the program is", () => {
  const options = ["--no-warnings", "bench/thrown-away.ts"];
  const places = JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8" })) as string[];
  expect(
    places.length,
    `made by \`map\`, which V8's compilers answer otherwise: ${places.join(", ")}`,
  ).toBeLessThanOrEqual(3); // 34 with \`map\` in five places
}, 120_000);
