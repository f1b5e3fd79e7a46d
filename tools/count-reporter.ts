import type { Reporter, TestModule } from "vitest/node";

/** Prints `N passed, N failed, N skipped` as the last line of a test run. A file that cannot be loaded counts as a failure. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const file of modules) {
      if (file.state() === "failed" && file.errors().length > 0) counts.failed += 1;
      for (const test of file.children.allTests()) counts[test.result().state] += 1;
    }
    const skipped = counts.skipped + counts.pending;
    // After the other reporters, whose summary is printed in the same tick.
    setImmediate(() =>
      console.log(
        `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
      ),
    );
  }
}
