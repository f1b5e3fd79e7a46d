import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

it("an ended run leaves next to nothing behind a minor collection, also one that was recorded, denied or delegated", () => {
  const options = ["--max-semi-space-size=512", "bench/left-by-runs.ts"];
  const left = JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8" })) as object;
  expect(Object.keys(left)).toEqual(["plain", "recorded", "delegating"]);
  expect(Object.entries(left).filter(([, bytes]) => !(bytes < 1500))).toEqual([]);
}, 400_000);
