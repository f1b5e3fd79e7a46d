import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { HookPlace } from "../../src/hook/hook.ts";
import { hookFields } from "../../src/hook/hook.ts";
import {
  agent,
  type Hook,
  memoryJournal,
  skill,
  tool,
  type ToolContext,
} from "../../src/index.ts";
import { fakeTool, type FakeTool, scripted, type ScriptedModel, type ScriptStep } from "../../src/testing.ts";
import { calling, expectValid, factsOf, ofType, resultsIn, roundTrip, watch, type Watched } from "./watching.ts";

interface Scene extends Watched {
  readonly model: ScriptedModel;
  readonly look: FakeTool;
}

interface SceneOptions {
  readonly steps?: readonly ScriptStep[];
  readonly definition?: Partial<Parameters<typeof agent>[0]>;
  readonly run?: Parameters<ReturnType<typeof agent>["run"]>[1];
}

const base = [calling(["look", { q: 1 }]), "Done."];

/** A run that comes through every place but those of failure: two turns, one call, two skills. */
async function scene(hooks: readonly Hook[], options: SceneOptions = {}): Promise<Scene> {
  const model = scripted(options.steps ?? base);
  const look = fakeTool("look", "seen");
  const alpha = skill({ name: "alpha", description: "Looks", tools: [look] });
  const beta = skill({ name: "beta", description: "Does not look", tools: [] });
  const definition = {
    name: "a",
    model,
    skills: [alpha, beta],
    selectSkill: () => "alpha",
    hooks,
    ...options.definition,
  };
  const watched = await watch(agent(definition).stream("go", options.run));
  return { ...watched, model, look };
}

const userTexts = (model: ScriptedModel, request: number): string[] =>
  (model.requests[request]?.messages ?? []).flatMap((message) =>
    message.role === "user" ? message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );

/** How a run comes to a place, where it does not come there by itself. */
const reaching: Partial<Record<HookPlace, SceneOptions>> = {
  onError: { steps: [new Error("the line is down"), ...base] },
  onBudgetThreshold: { definition: { budget: { turns: 2, warnAt: 0.5 } } },
  onBudgetExceeded: { definition: { budget: { turns: 1 } } },
};

interface Effect {
  readonly gives: unknown;
  readonly options?: SceneOptions;
  readonly expected: (scene: Scene) => void;
}

const replaced = { role: "assistant", parts: [{ type: "text", text: "Instead." }] };
const outcomeOf = ({ result }: Scene): object => result.outcome;

/** One effect for each field that a place may give back. */
const effects: { readonly [Place in HookPlace]: Readonly<Record<string, Effect>> } = {
  beforeRun: {
    input: { gives: "other", expected: ({ model }) => expect(userTexts(model, 0)).toEqual(["other"]) },
  },
  beforeSkill: {
    skill: {
      gives: "beta",
      expected: ({ events, look }) => {
        expect(ofType(events, "skill-chosen")).toMatchObject([{ skill: "beta", by: "hook" }]);
        expect(look.calls).toEqual([]);
      },
    },
    deny: {
      gives: "not today",
      expected: (seen) => {
        expect(outcomeOf(seen)).toMatchObject({ type: "refused", code: "run-refused" });
        expect(seen.result.error?.message).toContain("not today");
        expect(seen.model.requests).toEqual([]);
      },
    },
  },
  beforeTurn: {
    say: {
      gives: "Be quick.",
      expected: ({ model }) => expect(userTexts(model, 1)).toEqual(["go", "Be quick.", "Be quick."]),
    },
    answer: {
      gives: { cached: true },
      expected: ({ model, result }) => {
        expect(model.requests).toEqual([]);
        expect(result).toMatchObject({ text: '{"cached":true}', turns: 1, outcome: { type: "answered" } });
        expect(result.transcript.messages.at(-1)).toMatchObject({ role: "assistant" });
      },
    },
    deny: {
      gives: "closed",
      expected: (seen) => {
        expect(seen.model.requests).toEqual([]);
        expect(outcomeOf(seen)).toMatchObject({ type: "refused", message: expect.stringContaining("closed") });
      },
    },
  },
  beforeModel: {
    messages: {
      gives: [{ role: "user", parts: [{ type: "text", text: "redacted" }] }],
      expected: ({ model, result }) => {
        expect(userTexts(model, 0)).toEqual(["redacted"]);
        expect(JSON.stringify(result.transcript)).not.toContain("redacted");
      },
    },
    settings: {
      gives: { temperature: 0.25 },
      expected: ({ model }) => expect(model.requests[0]?.settings).toEqual({ temperature: 0.25 }),
    },
    toolChoice: {
      gives: { tool: "look" },
      expected: ({ model }) => expect(model.requests[0]?.toolChoice).toEqual({ tool: "look" }),
    },
  },
  afterModel: {
    message: {
      gives: replaced,
      expected: ({ result, look }) => {
        expect([result.text, look.calls]).toEqual(["Instead.", []]);
        expect(result.transcript.messages.at(-1)).toEqual(replaced);
      },
    },
  },
  beforeToolCall: {
    arguments: {
      gives: { q: 2 },
      expected: ({ events, look }) => {
        expect(look.calls).toEqual([{ q: 2 }]);
        expect(ofType(events, "call-decided")).toMatchObject([{ arguments: { q: 2 } }]);
        expect(ofType(events, "tool-start")).toMatchObject([{ arguments: { q: 2 } }]);
      },
    },
    deny: {
      gives: "it is private",
      expected: ({ result, look }) => {
        expect(look.calls).toEqual([]);
        expect(resultsIn(result.transcript)).toMatchObject([
          { status: "denied", text: "Tool 'look' was denied: it is private" },
        ]);
      },
    },
    result: {
      gives: { cached: 1 },
      expected: ({ result, look, events }) => {
        expect(look.calls).toEqual([]);
        expect(resultsIn(result.transcript)).toMatchObject([{ status: "ok", text: '{"cached":1}' }]);
        expect(ofType(events, "tool-end")).toMatchObject([{ result: { value: { cached: 1 } } }]);
      },
    },
  },
  afterToolCall: {
    result: {
      gives: { status: "ok", text: "[redacted]" },
      expected: ({ result, events, model }) => {
        expect(resultsIn(result.transcript)).toMatchObject([{ status: "ok", text: "[redacted]" }]);
        expect(model.requests[1]?.messages.at(-1)).toMatchObject({ text: "[redacted]" });
        expect(ofType(events, "tool-end")).toMatchObject([{ result: { text: "[redacted]" } }]);
      },
    },
  },
  afterTurn: {
    say: {
      gives: "Go on.",
      expected: ({ model }) => expect(userTexts(model, 1)).toEqual(["go", "Go on."]),
    },
    stop: {
      gives: "enough",
      expected: (seen) => {
        expect(outcomeOf(seen)).toEqual({ type: "cancelled", reason: "enough" });
        expect([seen.look.calls.length, seen.model.requests.length]).toEqual([1, 1]);
      },
    },
  },
  onBudgetThreshold: {},
  onBudgetExceeded: {
    extend: { gives: 2, expected: ({ result }) => expect(result).toMatchObject({ text: "Done.", turns: 2 }) },
    checkpoint: {
      gives: true,
      expected: ({ result }) =>
        expect(result).toMatchObject({ outcome: { type: "suspended", field: "turns" }, checkpoint: { agent: "a" } }),
    },
  },
  onError: {
    retryAfterMs: {
      gives: 1,
      expected: ({ result, model, events }) => {
        expect([result.text, model.requests.length]).toEqual(["Done.", 3]);
        expect(ofType(events, "retry-start")).toMatchObject([{ reason: expect.stringContaining("line is down") }]);
      },
    },
    answer: {
      gives: "We are offline.",
      expected: ({ result, model }) =>
        expect([result.text, model.requests.length]).toEqual(["We are offline.", 1]),
    },
  },
  onStop: {
    continue: {
      gives: "Are you sure?",
      options: { definition: { budget: { turns: 3 } } },
      expected: ({ model, result }) => {
        expect(userTexts(model, 2)).toEqual(["go", "Are you sure?"]);
        expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns" });
      },
    },
  },
  afterRun: {
    output: {
      gives: "Censored.",
      expected: ({ result }) => expect(result).toMatchObject({ output: "Censored.", text: "Done." }),
    },
  },
};

const places = Object.keys(hookFields) as HookPlace[];
const hookAt = (place: HookPlace, does: (at: never) => unknown): Hook => ({ name: "mine", [place]: does }) as Hook;

describe("what a hook may replace", () => {
  it.each(places)("case 31: in %s each field that it may give back has its effect, and is told [C25, Z6]", async (place) => {
    expect(Object.keys(effects[place]).toSorted()).toEqual([...hookFields[place]].toSorted());
    for (const [field, { gives, options, expected }] of Object.entries(effects[place])) {
      const hook = hookAt(place, () => ({ [field]: gives }));
      const seen = await scene([hook], options ?? reaching[place]);
      expected(seen);
      const told = ofType(seen.events, "hook-end").find((event) => event.place === place);
      expect(told?.by).toEqual({ [field]: "mine" });
    }
  });

  it.each(places)("case 31: in %s a field that it may not give back is refused by its name [C25]", async (place) => {
    for (const gives of [{ bogus: 1 }, { transcript: [] }, { turn: 7 }]) {
      const seen = await scene([hookAt(place, () => gives)], reaching[place]);
      const [field] = Object.keys(gives);
      expectFailedClosed(place, seen, `gave back the field "${field}", which \`${place}\` may not replace`);
    }
  });

  it.each(places)("in %s what is no JSON, or not what the field takes, is refused", async (place) => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const wrong: unknown[] = ["text", [], false, null];
    for (const field of hookFields[place]) wrong.push({ [field]: circle }, { [field]: () => "later" });
    const texts = new Set(["say", "deny", "skill", "stop", "continue", "checkpoint", "extend", "retryAfterMs"]);
    for (const field of hookFields[place].filter((name) => texts.has(name))) wrong.push({ [field]: { x: 1 } }, { [field]: null });
    for (const gives of wrong) {
      const seen = await scene([hookAt(place, () => gives)], reaching[place]);
      expectFailedClosed(place, seen, "The hook \"mine\" failed in its place");
      expect(seen.result.outcome.type, JSON.stringify(Object.keys(Object(gives) as object))).toMatch(/failed|answered/);
    }
  });

  it.each(places)("in %s what it is given cannot be changed: writing to it fails, and changes nothing", async (place) => {
    const writes = (at: Record<string, unknown>): void => {
      for (const value of Object.values(at)) deface(value);
      at["turn"] = 99;
    };
    const seen = await scene([hookAt(place, writes as never)], reaching[place]);
    expectFailedClosed(place, seen, "The hook \"mine\" failed in its place");
    expect(JSON.stringify(seen.result.transcript)).not.toContain("defaced");
  });

  it.each(places)("in %s a hook that throws fails closed, and one that hangs ends with its run [C30]", async (place) => {
    const seen = await scene([hookAt(place, () => { throw new Error("no disk"); })], reaching[place]);
    expectFailedClosed(place, seen, "no disk");

    const hanging = hookAt(place, () => new Promise(() => undefined));
    const stopped = await scene([hanging], { ...reaching[place], run: { signal: AbortSignal.timeout(40) } });
    expect(stopped.result.outcome).toMatchObject({ type: "cancelled" });
  });
});

/** Tries to write into a value, at every depth. */
function deface(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if ("messages" in value && Array.isArray(value.messages)) deface(value.messages);
  if (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value)) return;
  for (const [key, field] of Object.entries(value)) {
    deface(field);
    Reflect.set(value, key, "defaced");
  }
}

/** Before a call it is denied, after a call it fails, elsewhere the run fails. */
function expectFailedClosed(place: HookPlace, { result, look }: Scene, reason: string): void {
  if (place === "beforeToolCall" || place === "afterToolCall") {
    const status = place === "beforeToolCall" ? "denied" : "error";
    expect(resultsIn(result.transcript)).toMatchObject([{ status, text: expect.stringContaining(reason) }]);
    expect(look.calls).toHaveLength(place === "beforeToolCall" ? 0 : 1);
    expect(result.text).toBe("Done.");
  } else {
    expect(result.outcome).toMatchObject({ type: "failed", code: expect.stringMatching(/^hook-f/) });
    expect(result.error?.message).toContain(reason);
    expect(result.output).toBeUndefined();
  }
}

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
    const hooks = [adding("last", -5), adding("first of equals"), adding("guard", 200), adding("second of equals"), adding("early", 0.5)];
    const { look, events } = await scene(hooks);
    expect(order).toEqual(["guard 1", "early 11", "first of equals 112", "second of equals 1123", "last 11234"]);
    expect(look.calls).toEqual([{ q: 112345 }]);
    expect(ofType(events, "hook-end")).toMatchObject([{ place: "beforeToolCall", by: { arguments: "last" }, callId: expect.any(String) }]);
  });

  it("case 31: the first that denies decides; the others are asked all the same, and what they answer is ignored [C27, Z6]", async () => {
    const asked: string[] = [];
    const say = (name: string, gives: object): Hook => ({ name, beforeToolCall: () => (asked.push(name), gives) });
    const hooks = [say("a", {}), say("b", { deny: "b says no" }), say("c", { deny: "c says no" }), say("d", { result: "d" }), say("e", { arguments: { q: 5 } })];
    const { look, result } = await scene(hooks);
    expect([asked, look.calls]).toEqual([["a", "b", "c", "d", "e"], []]);
    expect(resultsIn(result.transcript)).toMatchObject([{ status: "denied", text: "Tool 'look' was denied: b says no" }]);
  });

  it("add to each other: what several say to the model stands one after another, and results pass from one to the next", async () => {
    const star: Hook = {
      name: "star",
      beforeTurn: () => ({ say: "Be brief." }),
      afterToolCall: ({ result }) => ({ result: { ...result, text: `*${result.text}*` } }),
    };
    const { model, events, result } = await scene([star, { ...star, name: "other", beforeTurn: () => ({ say: "Be kind." }) }]);
    expect(userTexts(model, 0)).toEqual(["go", "Be brief.\n\nBe kind."]);
    expect(resultsIn(result.transcript)).toMatchObject([{ text: "**seen**" }]);
    expect(ofType(events, "hook-end")[0]?.by).toEqual({ say: "star, other" });
  });

  it("run only for calls that the allow-list let pass, and on arguments that could not be read", async () => {
    const asked: unknown[] = [];
    const hook: Hook = { beforeToolCall: ({ tool: name, arguments: given }) => void asked.push([name, given]) };
    const { result } = await scene([hook], { steps: [calling("nope", ["look", "{oops"]), "Done."] });
    expect(asked).toEqual([["look", "{oops"]]);
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["denied", "invalid"]);
    const mending: Hook = { beforeToolCall: () => ({ arguments: { q: 3 } }) };
    const mended = await scene([mending], { steps: [calling(["look", "{oops"]), "Done."] });
    expect(mended.look.calls).toEqual([{ q: 3 }]);
  });

  it("may not give arguments that the tool does not take, nor past the policy", async () => {
    const saved: string[] = [];
    const save = tool({ name: "save", description: "", inputSchema: z.object({ to: z.string() }), execute: ({ to }) => saved.push(to) });
    const definition = { name: "a", tools: [save], model: scripted([calling(["save", { to: "notes" }], ["save", { to: "x" }]), "Done."]) };
    const give = [{ path: 1 }, { to: "/etc" }];
    const result = await agent({
      ...definition,
      hooks: [{ beforeToolCall: () => ({ arguments: give.shift() ?? {} }) }],
      policy: (call) => ({ verdict: JSON.stringify(call.arguments).includes("/etc") ? "deny" : "allow", rule: "paths", reason: "it is a system file" }),
    }).run("go");
    expect(saved).toEqual([]);
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["invalid", "denied"]);
  });

  it("case 31: after a block the rest of the calls is skipped where the author wants that, and only there [C8, C27]", async () => {
    const steps = [calling(["look", { q: 1 }], ["look", { q: 2 }], ["look", { q: 3 }]), "Done."];
    const hook: Hook = { beforeToolCall: ({ arguments: given }) => ((given as { q: number }).q === 2 ? { deny: "not two" } : {}) };
    const going = await scene([hook], { steps });
    expect(going.look.calls).toEqual([{ q: 1 }, { q: 3 }]);
    const stopping = await scene([hook], { steps, definition: { stopOnToolBlock: true } });
    expect(stopping.look.calls).toEqual([{ q: 1 }]);
    expect(resultsIn(stopping.result.transcript)).toMatchObject([{ status: "ok" }, { status: "denied" }, { status: "skipped", text: "Not run: an earlier call was blocked." }]);
    expect(stopping.result.text).toBe("Done.");
  });

  it("that are wrong are found when the agent is defined", () => {
    const define = (hook: unknown) => () => agent({ name: "a", model: () => "hi", hooks: [hook as Hook] });
    for (const [hook, reason] of [
      [{ beforeLunch: () => undefined }, 'there is no place "beforeLunch"'],
      [{ name: "odd", beforeRun: "yes" }, "`beforeRun` must be a function"],
      [{ priority: Number.NaN }, "`priority` must be a number"],
      [null, "a hook is an object"],
    ] as const)
      expect(define(hook)).toThrow(expect.objectContaining({ code: "definition-invalid", message: expect.stringContaining(reason) }));
  });
});

describe("hooks and what they may not break", () => {
  it("a run that a hook ends keeps what was said, done and spent before", async () => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const steps = [{ ...calling(["look", { q: 1 }]), usage }, { text: "Done.", usage }];
    for (const place of ["afterTurn", "onStop", "afterRun"] as const) {
      const seen = await scene([hookAt(place, () => { throw new Error("no disk"); })], { steps });
      const replies = place === "afterTurn" ? 1 : 2;
      expect(seen.result.usage).toEqual({ inputTokens: 10 * replies, outputTokens: 5 * replies });
      expect(resultsIn(seen.result.transcript)).toMatchObject([{ text: "seen" }]);
      expect(ofType(seen.events, "run-end")).toMatchObject([{ usage: seen.result.usage }]);
    }
    const inBatch: Hook = { onBudgetExceeded: () => { throw new Error("no disk"); } };
    const batch = await scene([inBatch], { steps: [{ ...calling(["look", { q: 1 }], ["look", { q: 2 }]), usage }], definition: { budget: { toolCalls: 1 } } });
    expect(batch.result).toMatchObject({ outcome: { type: "failed", code: "hook-failed" }, usage });
    expect(resultsIn(batch.result.transcript).map(({ status }) => status)).toEqual(["unknown", "unknown"]);
  });

  it("a request stays one that a provider takes, and within the budget", async () => {
    const orphan = [{ role: "tool", callId: "x", name: "look", status: "ok", text: "?" }];
    const asking = { role: "assistant", parts: [{ type: "tool-call", id: "x", name: "look", arguments: {} }] };
    for (const messages of [orphan, [asking], [], [{ role: "system", text: "only" }]]) {
      const { result, model } = await scene([{ name: "cut", beforeModel: () => ({ messages }) as never }]);
      expect(result.error).toMatchObject({ code: "hook-failed", data: { hook: "cut", place: "beforeModel" } });
      expect(model.requests).toEqual([]);
    }
    for (const toolChoice of [{ tool: "rm" }] as const) {
      const { result } = await scene([{ beforeModel: () => ({ toolChoice }) }]);
      expect(result.error?.message).toContain('the tool "rm" is not offered');
    }
    const { model } = await scene([{ beforeModel: () => ({ settings: { maxOutputTokens: 9000, seed: 1 } }) }], { definition: { budget: { tokens: 500 } } });
    expect(model.requests[0]?.settings).toEqual({ maxOutputTokens: 500, seed: 1 });
  });

  it("calls in a reply that a hook wrote get ids that no other call has", async () => {
    const call = { type: "tool-call" as const, id: "same", name: "look", arguments: { q: 7 } };
    const twice: Hook = { afterModel: ({ turn }) => (turn < 3 ? { message: { role: "assistant", parts: [call, { ...call, id: "" }] } } : {}) };
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
    expect(await never.run("go")).toMatchObject({ outcome: { type: "exhausted", field: "durationMs" }, usage: { estimated: true } });
  });

  it("what an attempt that failed has begun is not taken for a call of the next", async () => {
    const read = tool({ name: "read", description: "", inputSchema: z.object({ file: z.string() }), effect: "read", execute: ({ file }) => `text of ${file}` });
    const call = (file: string) => [
      { type: "call-start" as const, id: "c", name: "read" },
      { type: "call-end" as const, id: "c", arguments: { file } },
    ];
    const broken = call("wrong");
    const whole = [...call("right"), { type: "end" as const, finishReason: "tool-calls" as const }];
    const model = scripted([broken, whole, "Done."]);
    const result = await agent({ name: "a", model, tools: [read], hooks: [{ onError: () => ({ retryAfterMs: 0 }) }] }).run("go");
    expect(resultsIn(result.transcript)).toMatchObject([{ text: "text of right" }]);
  });
});

describe("a model call that fails", () => {
  const down = new Error("the line is down");

  it("is tried again after a pause as often as the author says, counted in each turn from 1 [A11]", async () => {
    const attempts: [number, number, string][] = [];
    const patient: Hook = {
      onError: ({ turn, attempt, error }) => {
        attempts.push([turn, attempt, error.code]);
        return attempt < 3 ? { retryAfterMs: 15 } : {};
      },
    };
    const began = Date.now();
    const { result } = await scene([patient], { steps: [down, down, base[0] ?? "", down, "Done."] });
    expect(result.text).toBe("Done.");
    expect(Date.now() - began).toBeGreaterThanOrEqual(40);
    expect(attempts).toEqual([[1, 1, "provider-failed"], [1, 2, "provider-failed"], [2, 1, "provider-failed"]]);
  });

  it("is thrown as it is without a hook, and with one that says nothing; a stubborn hook ends after ten attempts [A11, A9]", async () => {
    const run = (hooks: readonly Hook[], model = scripted([down])): [ScriptedModel, Promise<unknown>] => [model, agent({ name: "a", model, hooks }).run("go")];
    const [, plain] = run([]);
    await expect(plain).rejects.toMatchObject({ code: "provider-failed", cause: down });
    const [, silent] = run([{ onError: () => undefined }]);
    await expect(silent).rejects.toMatchObject({ code: "provider-failed", cause: down });
    const [model, stubborn] = run([{ onError: () => ({ retryAfterMs: 0 }) }]);
    await expect(stubborn).rejects.toMatchObject({ code: "provider-failed" });
    expect(model.requests).toHaveLength(10);
  });

  it("is nobody's question when the run was stopped or a budget ran out [A11]", async () => {
    const asked: unknown[] = [];
    const hook: Hook = { onError: (at) => void asked.push(at) };
    const stopping = new AbortController();
    const model = (): Promise<string> => {
      stopping.abort(new Error("enough"));
      return Promise.reject(down);
    };
    const stopped = await agent({ name: "a", model, hooks: [hook] }).run("go", { signal: stopping.signal });
    expect(stopped.outcome).toEqual({ type: "cancelled", reason: "enough" });
    await scene([hook], { definition: { budget: { turns: 1 } } });
    expect(asked).toEqual([]);

    let calls = 0;
    const failing = (): Promise<string> => ((calls += 1), Promise.reject(down));
    const pausing: Hook = { onError: () => ({ retryAfterMs: 60_000 }) };
    const paused = await agent({ name: "a", model: failing, hooks: [pausing] }).run("go", { signal: AbortSignal.timeout(30) });
    expect([paused.outcome.type, calls]).toEqual(["cancelled", 1]);
  });

  it("that says nothing is asked again: empty, blank, or nothing but reasoning [L4]", async () => {
    for (const silent of ["", "  \n", { text: "", reasoning: "Hm." }]) {
      const { result, model } = await scene([], { steps: [silent, "Here."] });
      expect([result.text, result.turns, model.requests.length]).toEqual(["Here.", 2, 2]);
      const never = await scene([], { steps: [silent] });
      expect(never.result.outcome).toMatchObject({ type: "failed", code: "protocol-violated" });
    }
  });
});

describe("tools that fail and tools that ask", () => {
  it("case 32: throwOnToolFailure ends the run at the first failure, after the calls of its turn; without it the model is told [C8, C13]", async () => {
    const bad = tool({ name: "bad", description: "", inputSchema: z.object({}), execute: (): string => { throw new RangeError("out of range"); } });
    const good = fakeTool("good", "fine");
    const steps = [calling("good", "bad", "good"), "Told."];
    const lenient = await watch(agent({ name: "a", model: scripted(steps), tools: [bad, good] }).stream("go"));
    expect(lenient.result.text).toBe("Told.");
    const model = scripted(steps);
    const strict = await watch(agent({ name: "a", model, tools: [bad, good], throwOnToolFailure: true }).stream("go"));
    expect(strict.result).toMatchObject({ outcome: { type: "failed", code: "tool-failed" }, error: { cause: { message: "out of range" } } });
    expect(resultsIn(strict.result.transcript)).toMatchObject([{ status: "ok" }, { status: "error", text: "Tool 'bad' failed: out of range" }, { status: "ok" }]);
    expect(model.requests).toHaveLength(1);
  });

  it("case 32: missing parameters are named and the tool does not run, whatever the schema is written in [C12]", async () => {
    const ran: unknown[] = [];
    const properties = { a: { type: "number" }, b: { type: "number" }, c: { type: "string" } };
    const schemas = [z.object({ a: z.number(), b: z.number(), c: z.string().optional() }), { type: "object", properties, required: ["a", "b"] }];
    for (const inputSchema of schemas) {
      const sum = tool({ name: "sum", description: "", inputSchema, execute: (args) => ran.push(args) });
      const given = [{}, { a: 1 }, { c: 5, b: "x" }];
      const model = scripted([calling(...given.map((args) => ["sum", args] as const)), "Told."]);
      const result = await agent({ name: "a", model, tools: [sum] }).run("go");
      const told = resultsIn(result.transcript).map(({ text }) => text);
      expect(told[0]).toContain("Tool 'sum' received invalid arguments: Missing required parameters: a, b. It did not run.");
      expect(told[1]).toContain("invalid arguments: Missing required parameters: b. It did not run.");
      expect(told[2]).toMatch(/invalid arguments: Missing required parameters: a; b: .+\. It did not run\./);
    }
    expect(ran).toEqual([]);
  });

  it("a tool that asks is given its call and the state of its run [C7, C35]", async () => {
    const seen: ToolContext[] = [];
    const ask = tool({ name: "ask", description: "", inputSchema: z.object({ q: z.number() }), execute: (_args, context) => void seen.push(context) });
    const model = scripted([calling(["ask", { q: 1 }]), calling(["ask", { q: 2 }]), "Done."]);
    const work = skill({ name: "work", description: "", tools: [ask] });
    const hooks: Hook[] = [{ beforeToolCall: ({ turn }) => (turn === 2 ? { arguments: { q: 20 } } : {}) }];
    const result = await agent({ name: "asker", model, skills: [work], hooks }).run("go", { runId: "r" });
    expect(seen.map(({ call, callId }) => [call.name, call.arguments, call.id === callId])).toEqual([["ask", { q: 1 }, true], ["ask", { q: 20 }, true]]);
    expect(seen.map(({ run: { transcript: _transcript, ...run } }) => run)).toEqual([
      { runId: "r", agent: "asker", skill: "work", turn: 1, depth: 0 },
      { runId: "r", agent: "asker", skill: "work", turn: 2, depth: 0 },
    ]);
    expect(seen.map(({ run }) => run.transcript.messages.length)).toEqual([1, 3]);
    expect(result.transcript.messages.slice(0, 3)).toEqual(seen[1]?.run.transcript.messages);
  });
});

describe("hooks at a replay", () => {
  it.each(places)("case 31: in %s no hook is asked again, and the facts are the same [C26]", async (place) => {
    const given = [...Object.entries(effects[place]), ["nothing", { gives: undefined }] as const, ["failure", { gives: undefined }] as const];
    for (const [field, { gives, ...more }] of given as [string, Effect][]) {
      const journal = memoryJournal();
      const run = { journal, runId: "r" };
      const options = more.options ?? reaching[place] ?? {};
      const does = (): unknown => {
        if (field === "failure") throw new Error("no disk");
        return field === "nothing" ? undefined : { [field]: gives };
      };
      const first = await scene([hookAt(place, does)], { ...options, run }).catch((error: unknown) => error as Error);
      if (first instanceof Error) {
        expect([place, field]).toEqual(["onError", "nothing"]); // the model's own error is thrown, and nothing of it is recorded
        continue;
      }
      const never = (): never => { throw new Error("asked again"); };
      const steps = [never];
      const again = await scene([hookAt(place, never)], { ...options, steps, run: { ...run, journal: memoryJournal(roundTrip(journal.records)) } });
      expect(factsOf(again.events)).toEqual(factsOf(first.events));
      expect(roundTrip(again.result.transcript)).toEqual(roundTrip(first.result.transcript));
      expect(again.look.calls).toEqual([]);
    }
  });
});

