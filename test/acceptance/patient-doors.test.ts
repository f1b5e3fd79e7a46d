import { describe, expect, it } from "vitest";
import { chat, chatStream, decide, llmStep, safeLoop } from "../../src/doors.ts";
import { WritError } from "../../src/index.ts";
import { withRetry } from "../../src/models.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import type { Delta, Model } from "../../src/model/model.ts";
import type { Patience } from "../../src/model/patience.ts";
import { fakeOpenai, scripted } from "../../src/testing.ts";

const end: Delta = { type: "end", finishReason: "stop" };

function busy(): WritError {
  return new WritError("provider-failed", { provider: "p", model: "m", reason: "busy" }, { retryable: true });
}

/** A model that says so many deltas and then nothing until it is given up; from the second request on it answers. */
function silent(...after: readonly Delta[]): Model & { asked(): number } {
  let asked = 0;
  return {
    id: "silent",
    features: { tools: true },
    asked: () => asked,
    async *stream(_request, { signal }) {
      asked += 1;
      if (asked === 1) {
        yield* after;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
      yield { type: "text-delta", text: "yes" };
      yield end;
    },
  };
}

async function streamed(request: Parameters<typeof chatStream>[0]): Promise<string> {
  let told = "";
  for await (const delta of chatStream(request)) if (delta.type === "text-delta") told += delta.text;
  return told;
}

/** The doors that ask a model, each for the text "yes". */
const doors = {
  chat: async (model: Model, patience: Patience) =>
    (await chat({ model, messages: "Go?", ...patience })).text,
  chatStream: (model: Model, patience: Patience) => streamed({ model, messages: "Go?", ...patience }),
  llmStep: async (model: Model, patience: Patience) => {
    const step = await llmStep({ model, prompt: "Go?", catalog: [], ...patience });
    return step.kind === "final" ? step.text : step.name;
  },
  safeLoop: (model: Model, patience: Patience) =>
    safeLoop({ model, question: "Go?", tools: {}, maxSteps: 1, budget: 100, ...patience }),
  decide: async (model: Model, patience: Patience) =>
    (await decide({ model, question: "Go?", options: ["yes", "no"], ...patience })).option,
};
const quick = { retry: { firstDelayMs: 1 } };

describe.each(Object.entries(doors))("%s", (name, ask) => {
  it("asks again when its provider is overloaded, three times in all", async () => {
    expect(await ask(scripted([busy(), busy(), "yes"]), quick)).toBe("yes");
    const never = scripted([busy()]);
    await expect(ask(never, quick)).rejects.toMatchObject({ code: "provider-failed" });
    expect(never.requests).toHaveLength(3);
  });

  it("asks as often as the author says, and leaves a model alone that asks again by itself", async () => {
    for (const [retry, requests] of [
      [false, 1],
      [{ attempts: 1 }, 1],
      [{ attempts: 4, firstDelayMs: 1 }, 4],
    ] as const) {
      const model = scripted([busy()]);
      await expect(ask(model, { retry })).rejects.toMatchObject({ code: "provider-failed" });
      expect(model.requests).toHaveLength(requests);
    }
    const model = scripted([busy()]);
    await expect(ask(withRetry(model, { attempts: 2, firstDelayMs: 1 }), quick)).rejects.toThrow("busy");
    expect(model.requests).toHaveLength(2);
  });

  it("gives up a model that says nothing, and asks again", async () => {
    const model = silent();
    expect(await ask(model, { timeout: { firstChunkMs: 5 }, ...quick })).toBe("yes");
    expect(model.asked()).toBe(2);
    const once = ask(silent(), { timeout: { firstChunkMs: 5 }, retry: false });
    await expect(once).rejects.toMatchObject({ code: "model-timeout", data: { field: "firstChunkMs" } });
    const shortest = ask(silent(), { timeout: { firstChunkMs: 1 }, retry: false });
    await expect(shortest).rejects.toMatchObject({ code: "model-timeout" });
  });

  it("gives up a model that falls silent in its reply", async () => {
    const half: Delta = { type: "text-delta", text: "ye" };
    const once = ask(silent(half), { timeout: { chunkMs: 5 }, retry: false });
    await expect(once).rejects.toMatchObject({ code: "model-timeout", data: { field: "chunkMs" } });
    const again = silent(half);
    const asking = ask(again, { timeout: { chunkMs: 5 }, ...quick });
    if (name === "chatStream") await expect(asking).rejects.toMatchObject({ code: "model-timeout" });
    else expect(await asking).toBe("yes");
    expect(again.asked()).toBe(name === "chatStream" ? 1 : 2); // its pieces were handed out already
  });

  it("refuses what is no pace and no bound before the model is asked", async () => {
    const wrong: readonly object[] = [
      { retry: { attempts: 0 } },
      { retry: { times: 3 } },
      { retry: 3 },
      { timeout: 5 },
      { timeout: { firstChunkMs: 0 } },
      { timeout: { stepMs: 5 } },
    ];
    for (const patience of wrong) {
      const model = scripted(["yes"]);
      await expect(ask(model, patience)).rejects.toMatchObject({
        code: "definition-invalid",
        message: expect.stringMatching(/`(retry|timeout)/) as string,
      });
      expect(model.requests).toHaveLength(0);
    }
  });

  it("waits no longer when it is cancelled", async () => {
    const cancel = new AbortController();
    const model = scripted([busy(), "yes"]);
    const cancelled = { retry: { firstDelayMs: 60_000 }, signal: cancel.signal };
    const asking = ask(model, cancelled);
    setTimeout(() => cancel.abort(new Error("enough")), 5);
    await expect(asking).rejects.toThrow("enough");
    expect(model.requests).toHaveLength(1);
  });
});

describe("over the wire", () => {
  it("`chat` survives a 429, a reply that is late and a reply that breaks off", async () => {
    await using openai = await fakeOpenai([
      { status: 429, retryAfter: 0.01 },
      { text: "late", delayMs: 60_000 },
      { text: "Tea is hot.", cutAfter: 2 },
      "yes",
    ]);
    const model = openaiCompatible("m", { baseUrl: `${openai.url}/v1` });
    const retry = { attempts: 20, firstDelayMs: 1 }; // a busy machine may be late with other replies too
    const reply = await chat({ model, messages: "Go?", retry, timeout: { firstChunkMs: 400 } });
    expect(reply.text).toBe("yes");
    expect(openai.requests.length).toBeGreaterThanOrEqual(4);
  });

  it("`chatStream` survives a 503 before its first piece, and hands out no piece twice", async () => {
    await using openai = await fakeOpenai([{ status: 503 }, { text: "Tea is hot.", cutAfter: 2 }, "yes"]);
    const model = openaiCompatible("m", { baseUrl: `${openai.url}/v1` });
    await expect(streamed({ model, messages: "Go?", ...quick })).rejects.toMatchObject({
      code: "provider-failed",
    });
    expect(openai.requests).toHaveLength(2);
  });
});
