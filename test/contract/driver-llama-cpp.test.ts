import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { llamaCpp } from "../../src/adapters/model/llama-cpp.ts";
import { driverNamed } from "../../src/driver/choose.ts";
import { tool } from "../../src/index.ts";
import { driverNames } from "../../src/drivers.ts";
import type { ToolChoice } from "../../src/models.ts";
import { callsOf } from "../../src/message/message.ts";
import { assemble } from "../../src/model/assemble.ts";
import { writeRandomModel } from "../../tools/random-model.ts";
import { llamaCppMissing } from "../llama-cpp-support.ts";
import { turnOf } from "../unit/driver/turn.ts";

const missing = await llamaCppMissing();
const folder = await mkdtemp(join(tmpdir(), "writ-drivers-"));
const path = join(folder, "tiny.gguf");
writeRandomModel(path);
const model = llamaCpp(path);

afterAll(async () => {
  await model.dispose();
  await rm(folder, { recursive: true, force: true });
});

const add = tool({
  name: "math.add",
  description: "Add two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: () => 0,
});
const note = tool({
  name: "note",
  description: "Keep a note",
  inputSchema: z.object({
    tag: z.enum(["red", "blue"]),
    urgent: z.boolean().optional(),
    days: z.number().int().min(1).max(30).optional(),
  }),
  execute: () => 0,
});

const asked = 4;

/** The drivers that put a turn into one request under one grammar; `guided` decides by several (test/unit/driver/guided.test.ts). */
const grammarDrivers = driverNames.filter((name) => name !== "native" && name !== "guided");

/** A model whose weights are noise writes whatever its grammar lets it write: what llama.cpp makes of the grammar is what is seen. */
describe.skipIf(missing !== undefined).each(grammarDrivers)(
  "the driver %s with noise for a model",
  (name) => {
    it.each<ToolChoice>(["auto", "required", "none", { tool: "note" }])(
      "is read as a valid call or an answer, unless the token limit cut it (choice of tools: %j)",
      async (toolChoice) => {
        let whole = 0;
        for (let seed = 1; seed <= asked; seed += 1) {
          const turn = { ...turnOf({ tools: [add, note], toolChoice }), model };
          const driver = driverNamed(name);
          const request = driver.request(turn);
          expect(request.format?.type).toBe("grammar");
          const assembler = assemble(model.id, (start) => start);
          const settings = { ...request.settings, seed, temperature: 1, maxOutputTokens: 300 };
          const { signal } = new AbortController();
          for await (const delta of model.stream({ ...request, settings }, { signal })) assembler.push(delta);
          const reply = assembler.reply();
          const reading = driver.read(reply, turn);
          if (reply.finishReason === "length") continue;
          whole += 1;
          expect(reading.type, JSON.stringify(reply.message)).not.toBe("violation");
          for (const call of callsOf(reading.message)) {
            const parsed = await turn.allowed.tools.get(call.name)?.input.parse(call.arguments);
            expect(parsed?.ok, JSON.stringify(call)).toBe(true);
          }
        }
        if (typeof toolChoice === "object") expect(whole).toBeGreaterThan(0);
      },
    );
  },
);
