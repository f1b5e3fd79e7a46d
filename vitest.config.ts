import { defineConfig } from "vitest/config";
import "./tools/compile-cache.ts";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files whose tests wait for processes that are killed, one after the other: minutes, and little work. */
const patient = /contract\/(?:run-store|dispatcher|durable-workers|postgres-faults)/;

/** Begins the files that take longest first: on a fresh clone nothing is known of them but their size, and one of them at last keeps one core idle. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files); // oxlint-disable-line unicorn/no-array-sort -- it is the method of this class
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

/** Files that share the modules of their worker: to load the source for each took longer than most of their tests. */
const shared = [
  "test/{properties,recorded,cases}/**/*.test.ts",
  "test/unit/**/!(unenforced|drives|sqlite-left-lock).test.ts", // which mock a module
  // The guard of writ/testing, which others load, holds all of a process: these have tools that it would stop.
  "test/acceptance/!(isolation-levels|durable-drain).test.ts",
];

const rankOf = ({ moduleId }: TestSpecification): number => (patient.test(moduleId) ? 0 : 1);

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "shared", include: shared, isolate: false } },
      {
        extends: true,
        test: {
          name: "own",
          include: ["test/**/*.test.ts", "lab/test/*.test.ts"],
          exclude: shared,
          typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"], tsconfig: "tsconfig.json" },
        },
      },
    ],
    testTimeout: 120_000, // a busy machine takes twenty times as long
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 120_000, // a cluster of PostgreSQL is made in one
    // A busy machine of CI fails no commit by itself; the reporter names the test, and `npm run test:load` gives none a second try.
    retry: process.env["CI"] === "true" ? 1 : 0,
    reporters: ["default", "./tools/count-reporter.ts"],
    maxWorkers: 4, // on two cores: half of them wait for processes
    sequence: { sequencer: LongestFirst },
  },
});
