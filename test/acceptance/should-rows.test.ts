import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  agent,
  budgets,
  type Approve,
  knowledge,
  memoryBank,
  memoryJournal,
  skill,
  tool,
} from "../../src/index.ts";
import { promptFile } from "../../src/files.ts";
import { safeLoop } from "../../src/adapters/lower-doors.ts";
import { aiSdk } from "../../src/adapters/model/ai-sdk.ts";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { fakeOllama, fakeTool, scripted } from "../../src/testing.ts";
import { startOllama } from "../contract/ollama-server.ts";
import { temporaryFolder } from "../unit/adapters/files/folder.ts";
import { calling, ofType, resultsIn, watch } from "./watching.ts";

const folder = temporaryFolder();

describe("keys", () => {
  it("are in nothing that is printed, told or kept of an agent and its runs [A8]", async () => {
    const secrets = ["sk-header", "hunter2", "sk-sdk"];
    const sent: string[] = [];
    const server = await startOllama({
      chat(request, response) {
        sent.push(JSON.stringify(request.headers));
        response.writeHead(401).end(JSON.stringify({ error: "unauthorized" }));
      },
    });
    onTestFinished(server.close);
    const refused: typeof fetch = (_url, init) => {
      sent.push(JSON.stringify([...new Headers(init?.headers)]));
      return Promise.resolve(new Response('{"error":{"message":"no"}}', { status: 401 }));
    };
    const host = server.url.replace("http://", "http://user:hunter2@");
    const models = [
      ollama("m", { host, headers: { "x-api-key": "sk-header" } }),
      ollama("m", { host }),
      aiSdk(createOpenAI({ apiKey: "sk-sdk", fetch: refused })("gpt-5")),
    ];
    const shown: unknown[] = [];
    for (const model of models) {
      const greeter = agent({ name: "greeter", model });
      const journal = memoryJournal();
      // oxlint-disable-next-line no-await-in-loop -- one after another keeps what was sent in order
      const told = await watchFailing(greeter, journal);
      shown.push(model, greeter, String(greeter), greeter.describe(), journal.records, ...told);
    }
    for (const text of shown.flatMap((value) => [
      inspect(value, { depth: 20, showHidden: true }),
      JSON.stringify(value),
    ]))
      for (const secret of [...secrets, Buffer.from("user:hunter2").toString("base64")])
        expect(text ?? "").not.toContain(secret);
    expect(sent[0]).toContain("sk-header"); // so that it was there to be leaked
    expect(sent[1]).toContain(Buffer.from("user:hunter2").toString("base64"));
    expect(sent.at(-1)).toContain("sk-sdk");
  });

  it("that are missing are an error of their own, before anything is sent [A8]", async () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const fetch = vi.fn<typeof globalThis.fetch>();
    const keyless = agent({ name: "keyless", model: createOpenAI({ fetch })("gpt-5") });
    await expect(keyless("Hi")).rejects.toMatchObject({
      code: "provider-refused-key",
      message: expect.stringContaining("OPENAI_API_KEY"),
      retryable: false,
    });
    expect(fetch).not.toHaveBeenCalled();
  });
});

type Watched = Parameters<typeof watch>[0];

/** All that is told of a run that fails, and its error. */
async function watchFailing(
  failing: { stream(input: string, options: object): Watched },
  journal: object,
): Promise<unknown[]> {
  const told: unknown[] = [];
  try {
    for await (const event of failing.stream("Hi", { journal })) told.push(event);
  } catch (error) {
    expect(error).toMatchObject({ code: "provider-refused-key" });
    return [...told, error];
  }
  throw new Error("the run should fail");
}

describe("an agent for people", () => {
  it("describes itself: model, bounds, rules, and what each skill may call [A14]", () => {
    const pay = tool({
      name: "pay",
      description: "Pays\n  an amount",
      inputSchema: { type: "object" },
      effect: "irreversible",
      constraints: { maxCalls: 2, onlyAfter: ["login"] },
      execute: () => 1,
    });
    const faq = knowledge({ name: "faq", description: "Frequent questions", load: () => "none" });
    const clerk = agent({
      name: "clerk",
      description: "Pays what is due",
      model: scripted(["x"], { id: "ollama/m" }),
      settings: { providerOptions: { secret: "sk-setting" } },
      budget: { turns: 3, tokens: 500 },
      hooks: [{ beforeTurn: () => undefined }],
      memory: memoryBank(),
      policy: () => ({ verdict: "allow", rule: "all", reason: "all" }),
      skills: [
        skill({
          name: "work",
          description: "Works",
          tools: [pay, fakeTool("login", 1)],
          knowledge: [faq],
          memory: false,
        }),
        skill({ name: "shout", description: "Upper case", execute: (text) => String(text).toUpperCase() }),
      ],
    });
    expect(clerk.describe()).toBe(
      [
        'agent "clerk" (ollama/m): Pays what is due',
        "budget: turns 3, toolCalls 32, durationMs 300000, tokens 500, repeats 3, depth 3, llmCalls 100, resultBytes 65536",
        "policy: a function",
        "hooks: 1",
        "memory: yes",
        'skill "work": Works',
        "  pay (effect irreversible; none; at most 2 calls; only after login): Pays an amount",
        "  login (effect undeclared; none): fake login",
        "  faq (knowledge; none): Frequent questions",
        'skill "shout" (a function): Upper case',
      ].join("\n"),
    );
    expect(String(clerk)).toBe('agent "clerk" (ollama/m)');
    const plain = agent({ name: "plain", skills: [skill({ name: "s", description: "", execute: () => 1 })] });
    expect(plain.describe()).toBe(
      [
        'agent "plain" (no model)',
        "budget: turns 8, toolCalls 32, durationMs 300000, repeats 3, depth 3, llmCalls 100, resultBytes 65536",
        "policy: none: a declared write or irreversible effect asks after untrusted data",
        'skill "s" (a function)',
      ].join("\n"),
    );
  });

  it("has its instructions from a file, and one that cannot be read is an error before there is an agent [A14]", async () => {
    const path = folder.file("coder.md", "\uFEFFYou write code.\nBriefly.\n\n");
    const model = scripted(["ok"]);
    await agent({ name: "coder", model, instructions: promptFile(path) })("Hi");
    expect(model.requests[0]?.messages[0]).toMatchObject({ text: "You write code.\nBriefly." });
    expect(promptFile(new URL(`file://${path}`))).toBe("You write code.\nBriefly.");
    for (const [wrong, reason] of [
      [folder.path("missing.md"), "it is not there"],
      [folder.path("."), "it is no regular file"],
      [folder.file("empty.md", " \n"), "it is empty"],
      [folder.file("latin.md", new Uint8Array([0xe4, 0x20])), "it is not UTF-8"],
      [folder.file("binary.md", "a\0b"), "it is binary"],
      [folder.file("large.md", "x".repeat(1_048_577)), "it is larger than 1048576 bytes"],
    ] as const)
      expect(() => promptFile(wrong), reason).toThrow(
        expect.objectContaining({ code: "file-unreadable", message: expect.stringContaining(reason) }),
      );
  });
});

describe("budgets to begin with", () => {
  it("are in the range for production, hold, and stand in the docs as they are [B4]", async () => {
    expect(budgets.interactive).toMatchObject({ durationMs: 30_000, tokens: 8_000, toolCalls: 16 });
    for (const { toolMs = 0, sameToolInARow = 0 } of Object.values(budgets)) {
      expect(toolMs >= 5_000 && toolMs <= 30_000).toBe(true);
      expect(sameToolInARow >= 3 && sameToolInARow <= 5).toBe(true);
    }
    const page = readFileSync(new URL("../../docs/budgets.md", import.meta.url), "utf8");
    const [, head = ""] = /\| preset \|(.*)\|\n/.exec(page) ?? [];
    const fields = head.split("|").map((cell) => cell.replaceAll("`", "").trim());
    for (const [name, preset] of Object.entries(budgets)) {
      const bounds = new Map<string, unknown>(Object.entries(preset));
      const [, row = ""] = new RegExp(`\\| \`${name}\`[^|]*\\|(.*)\\|\\n`).exec(page) ?? [];
      const cells = row.split("|").map((cell) => cell.replaceAll(",", "").trim());
      const told = cells.map((cell) => (cell === "none" ? cell : Number(cell)));
      const real = fields.map((field) => bounds.get(field) ?? (field === "turns" ? 8 : "none"));
      expect(told, name).toEqual(real);
      expect(fields).toEqual(expect.arrayContaining([...bounds.keys()]));
    }
    const model = scripted([
      { ...calling("look", "look", "look", "look", "look"), usage: { inputTokens: 1, outputTokens: 1 } },
    ]);
    const ended = await agent({
      name: "a",
      model,
      tools: [fakeTool("look", 1)],
      budget: budgets.interactive,
    }).run("x");
    expect(ended.outcome).toMatchObject({ type: "exhausted", field: "sameToolInARow", limit: 4 });
  });
});

describe("signals", () => {
  it("tell of the skill, refusals, unknown tools, people, usage and the failure, each as an event [O-signals]", async () => {
    const deploy = fakeTool("deploy", "done");
    const operator = agent({
      name: "operator",
      model: scripted([
        calling("deploy", "delete_database"),
        () => {
          throw new Error("the line is dead");
        },
      ]),
      tools: [deploy],
      policy: () => ({ verdict: "ask", rule: "people", reason: "careful" }),
      budget: { turns: 2, warnAt: 0.5 },
    });
    const approve: Approve = () => ({ approved: false, reason: "not today" });
    const events: Parameters<typeof ofType>[0][number][] = [];
    const running = (async () => {
      for await (const event of operator.stream("go", { approve })) events.push(event);
    })();
    await expect(running).rejects.toMatchObject({ code: "provider-failed" });
    expect(ofType(events, "skill-chosen")).toMatchObject([{ skill: "operator" }]);
    expect(
      ofType(events, "call-decided").map(({ name, decision }) => [name, decision.verdict, decision.rule]),
    ).toEqual([
      ["deploy", "ask", "people"],
      ["delete_database", "deny", "allow-list"],
    ]);
    expect(ofType(events, "approval-request")).toMatchObject([{ name: "deploy" }]);
    expect(ofType(events, "approval-answer")).toMatchObject([{ approved: false, reason: "not today" }]);
    expect(ofType(events, "tool-end").map(({ name, result }) => [name, result.status])).toEqual([
      ["deploy", "denied"],
      ["delete_database", "denied"],
    ]);
    expect(ofType(events, "usage-add").length).toBeGreaterThan(0);
    expect(ofType(events, "budget-threshold")).toMatchObject([{ field: "turns", used: 1, limit: 2 }]);
    expect(ofType(events, "run-end")).toMatchObject([
      { outcome: { type: "failed", code: "provider-failed" } },
    ]);
    expect(deploy.calls).toHaveLength(0);
  });

  it("stand in one order around a call: hook, decision, start, tool, hook, end; a denied call has no start [C11]", async () => {
    const order: string[] = [];
    const note = (what: string): void => void order.push(what);
    const worker = agent({
      name: "worker",
      model: scripted([calling(["work", { n: 1 }]), calling(["work", { n: 2 }]), "Done."]),
      tools: [
        fakeTool("work", async () => {
          await sleep(5); // what was told before has reached the watcher by then
          note("tool");
          return "raw";
        }),
      ],
      hooks: [
        {
          name: "h",
          beforeToolCall({ arguments: args }) {
            note("before");
            return (args as { n: number }).n === 2 ? { deny: "no" } : { arguments: { n: 3 } };
          },
          afterToolCall({ result }) {
            note(`after ${result.text}`);
            return { result: { ...result, text: "changed" } };
          },
        },
      ],
    });
    await worker.run("go", {
      onEvent(event) {
        if (event.type === "call-decided")
          note(`${event.decision.verdict} ${JSON.stringify(event.arguments)}`);
        if (event.type === "tool-start") note(`start ${JSON.stringify(event.arguments)}`);
        if (event.type === "tool-end") note(`end ${event.result.status} ${event.result.text}`);
      },
    });
    expect(order).toEqual([
      "before",
      'allow {"n":3}',
      'start {"n":3}',
      "tool",
      "after raw",
      "end ok changed",
      "before",
      'deny {"n":2}',
      "end denied Tool 'work' was denied: no",
    ]);
  });
});

describe("people and intent", () => {
  it("a gate is never passed silently: nobody, an error, a strange answer and no answer in time are all a no [Y20]", async () => {
    const deploy = fakeTool("deploy", "done");
    const asking = (approve: unknown, durationMs = 60_000) =>
      agent({
        name: "operator",
        model: scripted([calling("deploy"), "Done."]),
        tools: [deploy],
        policy: () => ({ verdict: "ask", rule: "people", reason: "careful" }),
        budget: { durationMs },
      }).run("go", { approve: approve as Approve });
    const answers: [unknown, RegExp][] = [
      [undefined, /there is nobody to ask/],
      [() => false, /a person said no/],
      [() => Promise.reject(new Error("no terminal")), /asking failed: no terminal/],
      [() => "yes", /the answer was neither true nor false/],
      [() => ({ approved: 1 }), /the answer was neither true nor false/],
      [() => ({ approved: true, args: {} }), /the answer has the unknown field "args"/],
      [() => ({ approved: true, argument: {} }), /unknown field "argument"; did you mean "arguments"/],
      [() => ({ approve: true }), /the answer was neither true nor false/],
    ];
    for (const [approve, told] of answers) {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      const { transcript } = await asking(approve);
      expect(resultsIn(transcript)).toMatchObject([{ status: "denied", text: expect.stringMatching(told) }]);
    }
    const late = await asking(() => new Promise(() => undefined), 50);
    expect(late.outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
    expect(deploy.calls).toHaveLength(0);
    expect((await asking(() => true)).text).toBe("Done.");
    expect(deploy.calls).toHaveLength(1);
  });

  it("an intent is told to the model and allows nothing: what is not listed does not run [Y15]", async () => {
    const model = scripted([calling("erase"), calling("read"), "Done."]);
    const [read, erase] = [fakeTool("read", "text"), fakeTool("erase", "gone")];
    const contexts: string[] = [];
    await safeLoop({
      model,
      question: "Clean up",
      tools: { read },
      intent: "erase everything with the tool erase",
      maxSteps: 5,
      budget: 10_000,
      onStep: ({ context }) => contexts.push(context),
    });
    expect(contexts.at(-1)).toBe(" [erase => not allowed] [read => text]");
    expect(erase.calls).toHaveLength(0);
    for (const request of model.requests)
      expect(JSON.stringify(request.messages)).toContain("erase everything");
  });
});

describe("reasoning", () => {
  it("is set by effort or by tokens, and streams apart from the answer [A12]", async () => {
    await using server = await fakeOllama([{ reasoning: "Two and two.", text: "Four." }]);
    const thinker = agent({ name: "thinker", model: ollama("m", { host: server.url, think: "low" }) });
    const { events, result } = await watch(thinker.stream("2 + 2?"));
    expect(server.requests).toMatchObject([{ body: { think: "low" } }]);
    expect(
      ofType(events, "reasoning-delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe("Two and two.");
    expect(
      ofType(events, "text-delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe("Four.");
    expect(result.text).toBe("Four.");

    const bodies: unknown[] = [];
    const fetch: typeof globalThis.fetch = (_url, init) => {
      bodies.push(JSON.parse(init?.body as string));
      return Promise.resolve(new Response("{}", { status: 500 }));
    };
    const claude = agent({
      name: "claude",
      model: createAnthropic({ apiKey: "k", fetch })("claude-sonnet-4-5"),
      retry: false,
      settings: { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2048 } } } },
    });
    await expect(claude("2 + 2?")).rejects.toMatchObject({ code: "provider-failed" });
    expect(bodies).toMatchObject([{ thinking: { type: "enabled", budget_tokens: 2048 } }]);
  });
});
