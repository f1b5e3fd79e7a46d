import { describe, expect, it } from "vitest";
import { countVerdicts, hasSchemas, publicSchemas, sampleCalls } from "../../tools/grammar-samples.ts";
import { llamaCppMissing } from "../llama-cpp-support.ts";

const missing = await llamaCppMissing();
if (!hasSchemas) console.log("skipped: the public schemas are not in ../shared/data");

describe.skipIf(missing !== undefined || !hasSchemas)(
  "random weights under the grammars of 50 public schemas",
  () => {
    it("write valid calls only, unless they are cut", { timeout: 180_000 }, async () => {
      const schemas = await publicSchemas(50);
      expect(schemas).toHaveLength(50);
      const samples = await sampleCalls(schemas, { perSchema: 2, maxTokens: 500 });
      const counts = countVerdicts(samples);
      console.log(`Random weights under grammar: ${JSON.stringify(counts)}`);
      expect(samples.filter(({ verdict }) => verdict === "invalid")).toEqual([]);
      expect(counts.valid).toBeGreaterThan(60);
      expect(counts.relaxed).toBeLessThan(10);
    });
  },
);
