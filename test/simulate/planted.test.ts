import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bugs } from "../../tools/planted/bugs.ts";
import { huntFor } from "../../tools/planted/plant.ts";
import { root } from "../../tools/source-files.ts";

/** Those that a few schedules show, whatever the machine does meanwhile: `npm run planted` looks for all. */
const quick = [
  "a process that was taken for dead still writes",
  "one yes holds for all later calls like it",
  "what the policy denies runs",
  "calls that were cancelled have no result",
];

describe("planted bugs", () => {
  it.each(bugs)("can be planted: $name", ({ edits }) => {
    for (const { file, find } of edits)
      expect(readFileSync(join(root, file), "utf8").split(find)).toHaveLength(2);
  });

  it.each(quick)("are found: %s", { timeout: 600_000 }, (name) => {
    const bug = bugs.find((one) => one.name === name);
    const found = bug === undefined ? "there is no such bug" : huntFor(bug, { seconds: 300 });
    expect(found).toMatchObject({ invariant: expect.any(String) });
    expect(typeof found === "string" ? Infinity : found.steps).toBeLessThanOrEqual(12);
  });
});
