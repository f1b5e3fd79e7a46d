import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { llamaCpp } from "../../src/adapters/model/llama-cpp.ts";
import { writeRandomModel } from "../../tools/random-model.ts";
import { llamaCppMissing } from "../llama-cpp-support.ts";
import { modelContract } from "./model.ts";

const missing = await llamaCppMissing();
const folder = await mkdtemp(join(tmpdir(), "writ-llama-cpp-"));
const path = join(folder, "tiny.gguf");
writeRandomModel(path);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.skipIf(missing !== undefined)("the embedded model", () => {
  modelContract("llama-cpp", {
    scripted: false,
    settings: { maxOutputTokens: 200, seed: 5 },
    timeoutMs: 10_000,
    open: () => {
      const model = llamaCpp(path);
      return Promise.resolve({ model, close: () => model.dispose() });
    },
  });
});
