import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Hook, tool } from "../../src/index.ts";
import type { HookPlace } from "../../src/hook/hook.ts";
import { reactDriver } from "../../src/drivers.ts";
import { scripted } from "../../src/testing.ts";
import { userMessage } from "../../src/message/message.ts";
import type { Delta } from "../../src/model/model.ts";
import { scene, userTexts } from "./hook-scene.ts";
import { calling, expectValid, ofType, resultsIn } from "./watching.ts";

const hookAt = (place: HookPlace, does: (at: never) => unknown): Hook => ({ name: "mine", [place]: does });

describe("several hooks", () => {
  it("case 31: the highest priority is asked first, equals in their order, and each sees what those before it replaced [C26, Z6]", async () => {
    const order: string[] = [];
    const adding = (name: string, priority?: number): Hook => ({
      name,
      ...(priority === undefined ? {} : { priority }),
      beforeToolCall: ({ arguments: given }) => {
        const { q } = given as { readonly q: number };
        order.push(`${name} ${q}`);
        return { arguments: { q: q * 10 + order.length } };
      },
    });
    const hooks = [
      adding("last", -5),
      adding("first of equals"),
      adding("guard", 200),
      adding("second of equals"),
      adding("early", 0.5),
    ];
    const { look, events } = await scene(hooks);
    expect(order).toEqual([
      "guard 1",
      "early 11",
      "first of equals 112",
      "second of equals 1123",
      "last 11234",
    ]);
    expect(look.calls).toEqual([{ q: 112345 }]);
    expect(ofType(events, "hook-end")).toMatchObject([
      { place: "beforeToolCall", by: { arguments: "last" }, callId: expect.any(String) },
    ]);
  });

  it("case 31: the first that denies decides; the others are asked all the same, and what they answer is ignored [C27, Z6]", async () => {
    const asked: string[] = [];
    const say = (name: string, gives: object): Hook => ({
      name,
      beforeToolCall: () => (asked.push(name), gives),
    });
    const hooks = [
      say("a", {}),
      say("b", { deny: "b says no" }),
      say("c", { deny: "c says no" }),
      say("d", { result: "d" }),
      say("e", { arguments: { q: 5 } }),
    ];
    const { look, result } = await scene(hooks);
    expect([asked, look.calls]).toEqual([["a", "b", "c", "d", "e"], []]);
    expect(resultsIn(result.transcript)).toMatchObject([
      { status: "denied", text: "Tool 'look' was denied: b says no" },
    ]);
  });

  it("add to each other: what several say to the model stands one after another, and results pass from one to the next", async () => {
    const star: Hook = {
      name: "star",
      beforeTurn: () => ({ say: "Be brief." }),
      afterToolCall: ({ result }) => ({ result: { ...result, text: `*${result.text}*` } }),
    };
    const { model, events, result } = await scene([
      star,
      { ...star, name: "other", beforeTurn: () => ({ say: "Be kind." }) },
    ]);
    expect(userTexts(model, 0)).toEqual(["go", "Be brief.\n\nBe kind."]);
    expect(resultsIn(result.transcript)).toMatchObject([{ text: "**seen**" }]);
    expect(ofType(events, "hook-end")[0]?.by).toEqual({ say: "star, other" });
  });

  it("run only for calls that the allow-list let pass, and on arguments that could not be read", async () => {
    const asked: unknown[] = [];
    const hook: Hook = {
      beforeToolCall: ({ tool: name, arguments: given }) => void asked.push([name, given]),
    };
    const { result } = await scene([hook], { steps: [calling("nope", ["look", "{oops"]), "Done."] });
    expect(asked).toEqual([["look", "{oops"]]);
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["denied", "invalid"]);
    const mending: Hook = { beforeToolCall: () => ({ arguments: { q: 3 } }) };
    const mended = await scene([mending], { steps: [calling(["look", "{oops"]), "Done."] });
    expect(mended.look.calls).toEqual([{ q: 3 }]);
  });

  it("may not give arguments that the tool does not take, nor past the policy", async () => {
    const saved: string[] = [];
    const save = tool({
      name: "save",
      description: "",
      inputSchema: z.object({ to: z.string() }),
      execute: ({ to }) => saved.push(to),
    });
    const definition = {
      name: "a",
      tools: [save],
      model: scripted([calling(["save", { to: "notes" }], ["save", { to: "x" }]), "Done."]),
    };
    const give = [{ path: 1 }, { to: "/etc" }];
    const result = await agent({
      ...definition,
      hooks: [{ beforeToolCall: () => ({ arguments: give.shift() ?? {} }) }],
      policy: (call) => ({
        verdict: JSON.stringify(call.arguments).includes("/etc") ? "deny" : "allow",
        rule: "paths",
        reason: "it is a system file",
      }),
    }).run("go");
    expect(saved).toEqual([]);
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["invalid", "denied"]);
  });

  it("case 31: after a block the rest of the calls is skipped where the author wants that, and only there [C27, C8.3]", async () => {
    const steps = [calling(["look", { q: 1 }], ["look", { q: 2 }], ["look", { q: 3 }]), "Done."];
    const hook: Hook = {
      beforeToolCall: ({ arguments: given }) => ((given as { q: number }).q === 2 ? { deny: "not two" } : {}),
    };
    const going = await scene([hook], { steps });
    expect(going.look.calls).toEqual([{ q: 1 }, { q: 3 }]);
    const stopping = await scene([hook], { steps, definition: { endOn: ["blocked-call"] } });
    expect(stopping.look.calls).toEqual([{ q: 1 }]);
    expect(resultsIn(stopping.result.transcript)).toMatchObject([
      { status: "ok" },
      { status: "denied" },
      { status: "skipped", text: "Not run: an earlier call was blocked." },
    ]);
    expect(stopping.result.text).toBe("Done.");
  });

  it("that are wrong are found when the agent is defined", () => {
    const define = (hook: unknown) => () => agent({ name: "a", model: () => "hi", hooks: [hook as Hook] });
    for (const [hook, reason] of [
      [{ beforeLunch: () => undefined }, 'there is no place "beforeLunch"'],
      [{ name: "odd", beforeRun: "yes" }, "`beforeRun` must be a function"],
      [{ priority: Number.NaN }, "`priority` must be a finite number"],
      [null, "a hook is an object"],
    ] as const)
      expect(define(hook)).toThrow(
        expect.objectContaining({ code: "definition-invalid", message: expect.stringContaining(reason) }),
      );
  });
});

describe("hooks and what they may not break", () => {
  it("a run that a hook ends keeps what was said, done and spent before", async () => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const steps = [
      { ...calling(["look", { q: 1 }]), usage },
      { text: "Done.", usage },
    ];
    for (const place of ["afterTurn", "onStop", "afterRun"] as const) {
      const seen = await scene(
        [
          hookAt(place, () => {
            throw new Error("no disk");
          }),
        ],
        { steps },
      );
      const replies = place === "afterTurn" ? 1 : 2;
      expect(seen.result.usage).toEqual({ inputTokens: 10 * replies, outputTokens: 5 * replies });
      expect(resultsIn(seen.result.transcript)).toMatchObject([{ text: "seen" }]);
      expect(ofType(seen.events, "run-end")).toMatchObject([{ usage: seen.result.usage }]);
    }
    const inBatch: Hook = {
      onBudgetExceeded: () => {
        throw new Error("no disk");
      },
    };
    const batch = await scene([inBatch], {
      steps: [{ ...calling(["look", { q: 1 }], ["look", { q: 2 }]), usage }],
      definition: { budget: { toolCalls: 1 } },
    });
    expect(batch.result).toMatchObject({ outcome: { type: "failed", code: "hook-failed" }, usage });
    expect(resultsIn(batch.result.transcript).map(({ status }) => status)).toEqual(["skipped", "skipped"]);
  });

  it("a request stays one that a provider takes, and within the budget", async () => {
    const orphan = [{ role: "tool", callId: "x", name: "look", status: "ok", text: "?" }];
    const asking = {
      role: "assistant",
      parts: [{ type: "tool-call", id: "x", name: "look", arguments: {} }],
    };
    for (const messages of [orphan, [asking], [], [{ role: "system", text: "only" }]]) {
      const { result, model } = await scene([{ name: "cut", beforeModel: () => ({ messages }) as never }]);
      expect(result.error).toMatchObject({
        code: "hook-failed",
        data: { hook: "cut", place: "beforeModel" },
      });
      expect(model.requests).toEqual([]);
    }
    for (const toolChoice of [{ tool: "rm" }] as const) {
      const { result } = await scene([{ beforeModel: () => ({ toolChoice }) }]);
      expect(result.error?.message).toContain('the tool "rm" is not offered');
    }
    const { model } = await scene(
      [{ beforeModel: () => ({ settings: { maxOutputTokens: 9000, seed: 1 } }) }],
      { definition: { budget: { tokens: 500 } } },
    );
    expect(model.requests[0]?.settings).toEqual({ maxOutputTokens: 500, seed: 1 });
  });

  it("the text that a model goes on from says what the messages of a hook say", async () => {
    const asked = async (beforeModel: NonNullable<Hook["beforeModel"]>) => {
      const model = scripted(["Answer: ok"], { features: { completion: true } });
      await agent({ name: "a", model, driver: "lines", hooks: [{ beforeModel }] }).run("Where is Kim?");
      return model.requests[0]?.prompt;
    };
    expect(await asked(() => ({}))).toBe("Q: Where is Kim?\n");
    expect(await asked(() => ({ messages: [userMessage("Q: Where is N?\n")] }))).toBe("Q: Where is N?\n");
    const two = [{ role: "system", text: "Be brief." } as const, userMessage("Q: Where is N?\n")];
    expect(await asked(() => ({ messages: two }))).toBeUndefined();
  });

  it("a run that is sent on after each answer may have a reply that does not count, or half of one, before each", async () => {
    const goOnUntil = (last: number): Hook => ({
      onStop: ({ turn }) => (turn < last ? { continue: "Go on." } : {}),
    });
    const four = <Step>(...steps: readonly Step[]): Step[] => [...steps, ...steps, ...steps, ...steps];
    const emptied = agent({ name: "a", model: scripted(four("", "Yes.")), hooks: [goOnUntil(8)] });
    expect(await emptied.run("go")).toMatchObject({ outcome: { type: "answered" }, turns: 8 });
    const decided = '{"thought": "I know.", "type": "final_answer", "answer": "Yes."}';
    const halved = agent({
      name: "a",
      driver: reactDriver({ finalViaInference: true }),
      model: scripted(four(decided, "Yes.", decided, "Yes.")),
      budget: { turns: 16 },
      hooks: [goOnUntil(16)],
    });
    expect(await halved.run("go")).toMatchObject({ outcome: { type: "answered" }, turns: 16 });
  });

  it("an input that a hook puts in the place of the caller's goes through the schema once, like the caller's", async () => {
    const input = z.object({
      euros: z.number().transform((euros) => euros * 100),
      note: z.string().default("none"),
    });
    const seen: unknown[] = [];
    const heard = async (beforeRun: NonNullable<Hook["beforeRun"]>) => {
      const model = scripted(["Done."]);
      const hooks: Hook[] = [
        { beforeRun },
        { name: "looks", beforeRun: ({ input: shown }) => void seen.push(shown) },
      ];
      await agent({ name: "a", input, model, hooks }).run({ euros: 5 });
      return userTexts(model, 0);
    };
    expect(await heard(() => undefined)).toEqual(['{"euros":500,"note":"none"}']);
    expect(await heard(({ input: shown }) => ({ input: { ...Object(shown), note: "rent" } }))).toEqual([
      '{"euros":500,"note":"rent"}',
    ]);
    expect(await heard(() => ({ input: { euros: 7 } }))).toEqual(['{"euros":700,"note":"none"}']);
    expect(seen).toEqual([{ euros: 5 }, { euros: 5, note: "rent" }, { euros: 7 }]);
    const counts = z.string().transform((text) => text.length);
    const model = scripted(["Done."]);
    const hooks: Hook[] = [{ beforeRun: ({ input: shown }) => ({ input: shown }) }];
    await agent({ name: "a", input: counts, model, hooks }).run("tea");
    expect(userTexts(model, 0)).toEqual(["3"]);
  });

  it("an output that a hook puts in the place of the run's is refused where the schema would change once more what the hook was shown", async () => {
    const masked = async (output: z.ZodType) => {
      const hooks: Hook[] = [
        { name: "masked", afterRun: ({ output: shown }) => ({ output: { ...Object(shown), memo: "***" } }) },
      ];
      const model = scripted(['{"amount": 5, "memo": " rent"}']);
      return agent({ name: "a", model, output, hooks }).run("go");
    };
    const memo = z.string().trim();
    const cents = await masked(z.object({ amount: z.number().transform((euros) => euros * 100), memo }));
    expect(cents.outcome).toMatchObject({
      type: "failed",
      code: "hook-failed",
      message: expect.stringContaining("would change once more"),
    });
    expect((await masked(z.object({ amount: z.number(), memo }))).output).toEqual({ amount: 5, memo: "***" });
  });

  it("a returned value that JSON would empty is no answer: a promise that nobody awaited, a map", async () => {
    const reason = async (value: unknown) => {
      const hook = hookAt("beforeToolCall", () => ({ result: value }));
      const { look, result } = await scene([hook]);
      expect(look.calls).toEqual([]);
      return result.calls[0]?.reason;
    };
    expect(await reason(Promise.resolve("kept"))).toContain("`await` it");
    expect(await reason({ rows: new Map([["a", 1]]) })).toContain("it has a Map");
  });

  it("settings from a hook are checked like those of the agent", async () => {
    const ended = async (settings: object) => {
      const model = scripted(["Done."]);
      const hooks = [hookAt("beforeModel", () => ({ settings }))];
      const { error } = await agent({ name: "a", model, hooks }).run("go");
      return [error?.code, error?.message, model.requests.length];
    };
    const failed = (reason: string) => ["hook-failed", expect.stringContaining(reason), 0];
    expect(await ended({ temperature: "hot" })).toEqual(
      failed("`settings.temperature` must be a finite number"),
    );
    expect(await ended({ temperature: NaN })).toEqual(failed('"temperature" is NaN'));
    expect(await ended({ temprature: 1 })).toEqual(failed("temperature"));
    expect(await ended({ temperature: 0, stopSequences: ["."] })).toEqual([undefined, undefined, 1]);
    expect(() => agent({ name: "a", model: scripted([]), settings: { seed: NaN } })).toThrow(
      "`seed` must be a finite number",
    );
  });

  it("an output that the schema refuses is told with the name of its hook", async () => {
    const hooks: Hook[] = [
      { name: "first", afterRun: () => ({ output: { n: 1 } }) },
      { name: "last", afterRun: () => ({ output: "none" }) },
    ];
    const output = z.object({ n: z.number() });
    const { error } = await agent({ name: "a", model: scripted(['{"n": 5}']), output, hooks }).run("go");
    expect(error?.message).toContain('The hook "last" failed in `afterRun`');
  });

  it("calls in a reply that a hook wrote get ids that no other call has", async () => {
    const call = { type: "tool-call" as const, id: "same", name: "look", arguments: { q: 7 } };
    const twice: Hook = {
      afterModel: ({ turn }) =>
        turn < 3 ? { message: { role: "assistant", parts: [call, { ...call, id: "" }] } } : {},
    };
    const { look, result } = await scene([twice], { steps: ["a", "b", "Done."] });
    expect([look.calls.length, result.text]).toEqual([4, "Done."]);
    expectValid(result.transcript);
  });

  it("an answer in place of the model must be what the run gives; a run that was stopped does not wait for it to be read", async () => {
    const output = z.object({ n: z.number() });
    const typed = { name: "a", output, model: scripted([new Error("down")]) };
    for (const place of ["beforeTurn", "onError"] as const) {
      const good = await agent({ ...typed, hooks: [hookAt(place, () => ({ answer: { n: 4 } }))] }).run("go");
      expect(good.output).toEqual({ n: 4 });
      const wrong = await agent({ ...typed, hooks: [hookAt(place, () => ({ answer: "four" }))] }).run("go");
      expect(wrong.outcome).toMatchObject({ type: "failed", code: "hook-failed" });
      expectValid(wrong.transcript);
    }
    const slow = z.string().refine(() => new Promise<boolean>(() => undefined));
    const never = agent({ name: "a", output: slow, model: () => '"x"', budget: { durationMs: 40 } });
    expect(await never.run("go")).toMatchObject({
      outcome: { type: "exhausted", field: "durationMs" },
      usage: { estimated: true },
    });
  });

  it("what an attempt that failed has begun is not taken for a call of the next", async () => {
    const named = (name: string, effect?: "read"): ReturnType<typeof tool> =>
      tool({ name, description: "", inputSchema: {}, effect, execute: () => `by ${name}` });
    const call = (name: string): Delta[] => [
      { type: "call-start", id: "c", name },
      { type: "call-end", id: "c", arguments: {} },
    ];
    const whole: Delta[] = [...call("write"), { type: "end", finishReason: "tool-calls" }];
    const model = scripted([call("read"), whole, "Done."]);
    const hooks: Hook[] = [{ onError: () => ({ retryAfterMs: 0 }) }];
    const tools = [named("read", "read"), named("write")];
    const result = await agent({ name: "a", model, tools, hooks }).run("go");
    expect(resultsIn(result.transcript)).toMatchObject([{ name: "write", text: "by write" }]);
  });
});
