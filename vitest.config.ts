import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "lab/test/*.test.ts"],
    typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"], tsconfig: "tsconfig.json" },
    testTimeout: 20_000,
    reporters: ["default", "./tools/count-reporter.ts"],
  },
});
