import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { simulate } from "../../src/testing.ts";
import { root } from "../../tools/source-files.ts";
import { clerk, once } from "../unit/eval/simulate/scene.ts";

const simulation = `
import { agent as make } from "writ";
import { fakeTool } from "writ/testing";
const inputSchema = { type: "object", properties: { order: { enum: ["A1", "A2"] } }, required: ["order"], additionalProperties: false };
const refund = fakeTool("refund", "", { effect: "irreversible", inputSchema });
export default make({ name: "clerk", model: () => "", tools: [refund], policy: () => ({ verdict: "allow", rule: "all", reason: "" }) });
export const options = {
  state: () => [],
  tools: { refund: ({ order }, { state }) => (state.push(order), "refunded") },
  invariants: { "an order is refunded at most once": ({ state }) => new Set(state).size === state.length },
};
`;

it.each(["vitest", "node"] as const)(
  "prints a test for %s that fails as the schedule did",
  async (runner) => {
    const { failure } = await simulate(clerk, {
      ...once,
      schedules: 2000,
      test: { agent: "default", runner },
    });
    const folder = mkdtempSync(join(tmpdir(), "writ-simulate-"));
    try {
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(root, join(folder, "node_modules/writ"), "junction");
      symlinkSync(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"), "junction");
      writeFileSync(
        join(folder, "package.json"),
        JSON.stringify({ type: "module", dependencies: { writ: "*" } }),
      );
      writeFileSync(join(folder, "simulation.ts"), simulation);
      writeFileSync(join(folder, "found.test.ts"), failure?.test ?? "");
      const vitest = join(root, "node_modules/vitest/vitest.mjs");
      const options = { cwd: folder, encoding: "utf8" } as const;
      const ways = { vitest: [vitest, "run", "--root", folder], node: ["--test"] };
      const { stdout, stderr, status } = spawnSync(process.execPath, ways[runner], options);
      expect(stdout + stderr).toContain("an order is refunded at most once: it does not hold");
      expect(status).toBe(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
