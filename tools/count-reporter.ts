import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import type { TestRecord } from "./seed-claims.ts";
import { root } from "./source-files.ts";

/**
 * Prints `N passed, N failed, N skipped` as the last line of a test run, and keeps what each test of a whole run gave for
 * tools/seed-coverage.ts. A file that cannot be loaded counts as a failure. Tests that passed at a second try, which CI gives them, are named.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): Promise<void> {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    const flaky: string[] = [];
    for (const file of modules) {
      if (file.state() === "failed" && file.errors().length > 0) counts.failed += 1;
      for (const test of file.children.allTests()) {
        counts[test.result().state] += 1;
        if (test.diagnostic()?.flaky === true) flaky.push(`${file.relativeModuleId}: ${test.fullName}`);
      }
    }
    const skipped = counts.skipped + counts.pending;
    // After the other reporters, whose summary is printed in the same tick.
    setImmediate(() => {
      for (const name of flaky) console.log(`passed at the second try: ${name}`);
      console.log(
        `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
      );
    });
    return keepResults(modules);
  }
}

/** A run of some files, or of some tests, leaves the results of the last whole run as they are. */
async function keepResults(modules: readonly TestModule[]): Promise<void> {
  const vitest = modules[0]?.project.vitest;
  if (vitest === undefined || vitest.getGlobalTestNamePattern() !== undefined) return;
  const globbed = await Promise.all(vitest.projects.map((project) => project.globTestFiles()));
  const all = globbed.flatMap(({ testFiles, typecheckTestFiles }) => [...testFiles, ...typecheckTestFiles]);
  if (modules.length < all.length) return;
  const records = modules.flatMap((file) =>
    [...file.children.allTests()].map((test): TestRecord => ({
      file: file.relativeModuleId,
      title: test.name,
      state: test.result().state,
    })),
  );
  const folder = join(root, "coverage");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tests.json"), JSON.stringify(records, null, 1));
}
