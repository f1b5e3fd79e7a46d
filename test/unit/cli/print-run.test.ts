import { describe, expect, it } from "vitest";
import { demoAgent } from "../../../src/cli/demo/weather.ts";
import { printFailure, printRun } from "../../../src/cli/print-run.ts";
import { WritError } from "../../../src/error/writ-error.ts";
import { agent, deny, guarded, type ModelSource, tool } from "../../../src/index.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";
import { captureOutput } from "./captured-output.ts";

function lines(text: string): string[] {
  return text.trimEnd().split("\n");
}

function endless(turns: number): ReturnType<typeof agent> {
  return agent({
    name: "endless",
    model: scripted([{ calls: [{ name: "again" }] }]),
    tools: [fakeTool("again", "more")],
    budget: { turns },
  });
}

function answering(model: ModelSource): ReturnType<typeof agent> {
  return agent({ name: "a", model });
}

describe("printRun", () => {
  it("prints the answer alone to standard output, and each call with its fate to the progress", async () => {
    const output = captureOutput();
    expect(await printRun(demoAgent(), "How warm?", { output, model: "a script" })).toBe(0);
    expect(output.answers()).toBe(
      "Oslo has 9 degrees and Rome 21: 15 on average. I may not send mail, so I did not.\n",
    );
    expect(lines(output.told()).filter((line) => !line.startsWith("  turn"))).toEqual([
      "weather with a script, driver native",
      '→ 1 temperature {"city":"Oslo"}',
      '→ 2 temperature {"city":"Rome"}',
      "✓ 1 temperature = 9  0 ms",
      "✓ 2 temperature = 21  0 ms",
      '✗ 3 average {"values":"9 and 21"}  wrong arguments: values: must be a list, got "9 and 21"',
      '→ 4 average {"values":[9,21]}',
      "✓ 4 average = 15  0 ms",
      `✗ 5 send_mail {"to":"everyone@example.com","text":"15 degrees"}  denied (allow-list): Tool 'send_mail' is not allowed for skill 'weather'. Allowed: [temperature, average]; to allow it: list the tool in skill "weather"`,
      expect.stringMatching(/^answered after 5 calls, 0 ms, about \d+ tokens in, \d+ out$/),
    ]);
  });

  it("tells a failed, a timed-out and a skipped call from one that ran", async () => {
    const output = captureOutput();
    const fail = fakeTool("fail", () => {
      throw new Error("no\nsuch thing");
    });
    const slow = tool({
      name: "slow",
      description: "",
      inputSchema: { type: "object" },
      timeoutMs: 5,
      execute: () => new Promise(() => undefined),
    });
    const model = scripted([{ calls: [{ name: "fail" }, { name: "slow" }, { name: "fail" }] }, "never"]);
    const limited = agent({ name: "a", model, tools: [fail, slow], budget: { toolCalls: 2 } });
    expect(await printRun(limited, "go", { output })).toBe(4);
    const told = lines(output.told());
    expect(told).toContain("✗ 1 fail error: Tool 'fail' failed: no such thing  0 ms");
    expect(told).toContain("✗ 2 slow timeout: Tool 'slow' timed out after 0 ms.  0 ms");
    expect(told).toContain("✗ 3 fail skipped: Not run: exceeded tool-call budget of 2.");
    expect(told).toContain("error[budget-exhausted] Agent 'a' exceeded tool-call budget of 2");
    expect(output.answers()).toBe("");
  });

  it("says who denied a call that needs an approval", async () => {
    const output = captureOutput();
    const model = scripted([{ calls: [{ name: "pay" }] }, "Not paid."]);
    const policy = () => ({ verdict: "ask", rule: "money", reason: "it costs" }) as const;
    expect(
      await printRun(agent({ name: "a", model, policy, tools: [fakeTool("pay", "paid")] }), "pay", {
        output,
      }),
    ).toBe(0);
    expect(output.told()).toContain(
      "? 1 pay {}  needs an approval\n✗ 1 denied: it needs an approval, and there is no terminal to ask at\n",
    );
  });

  it("shows a change that would allow a call whole or not at all", async () => {
    const output = captureOutput();
    const args = { to: "kim", text: "x" };
    const model = scripted([
      { calls: [{ name: "look" }] },
      { calls: [{ name: "pay", arguments: args }] },
      "No.",
    ]);
    const policy = guarded({ extraRules: [deny("pay")] });
    const tools = [fakeTool("look", "seen"), fakeTool("pay", "paid")];
    await printRun(agent({ name: "a", model, policy, tools }), "Look", { output });
    const denied = lines(output.told()).find((line) => line.startsWith("✗ 2 pay")) ?? "";
    expect(denied).toMatch(/denied \(deny pay \(extraRules\[0\]\)\): the policy forbids it$/);
  });

  it("shows nothing of a model or a tool that would steer the terminal", async () => {
    const output = captureOutput({ answersTerminal: true });
    const model = scripted([{ calls: [{ name: "look" }] }, "an\u001B[31mswer"]);
    await printRun(agent({ name: "a", model, tools: [fakeTool("look", "\u001B]0;title\u0007")] }), "go", {
      output,
    });
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(output.told() + output.answers()).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
    expect(output.answers()).toBe("an\\u{1b}[31mswer\n");
  });

  it("passes the answer on byte by byte where no terminal reads it", async () => {
    const output = captureOutput();
    await printRun(
      answering(() => "an\u001B[31mswer"),
      "go",
      { output },
    );
    expect(output.answers()).toBe("an\u001B[31mswer\n");
  });

  it("prints one object with --json, with the value of a structured answer", async () => {
    const output = captureOutput();
    const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;
    const adder = agent({
      name: "adder",
      output: schema,
      model: () => ({ text: '{"sum":8}', usage: { inputTokens: 5, outputTokens: 2 } }),
    });
    expect(await printRun(adder, "3 + 5", { output, format: "json" })).toBe(0);
    expect(JSON.parse(output.answers())).toEqual({
      type: "result",
      outcome: "answered",
      result: '{"sum":8}',
      output: { sum: 8 },
      error: null,
      usage: { inputTokens: 5, outputTokens: 2 },
      turns: 1,
      duration_ms: expect.any(Number),
      run_id: expect.stringMatching(/./),
    });
  });

  it("prints every event as a line with stream-json, and the result last", async () => {
    const output = captureOutput();
    expect(await printRun(endless(2), "go", { output, format: "stream-json" })).toBe(4);
    const printed = lines(output.answers()).map(
      (line) => JSON.parse(line) as { type: string; runId?: string; run_id?: string },
    );
    expect(printed.at(0)).toMatchObject({ type: "run-start", seq: 1 });
    expect(printed.at(-2)).toMatchObject({ type: "run-end", outcome: { type: "exhausted" } });
    expect(printed.at(-1)).toMatchObject({
      type: "result",
      outcome: "exhausted",
      result: null,
      error: { code: "budget-exhausted" },
      turns: 2,
    });
    expect(printed.at(-1)?.run_id).toBe(printed[0]?.runId);
  });

  it("gives what a broken provider throws as an error, with what was used until then", async () => {
    const output = captureOutput();
    const unreachable = new WritError("provider-unreachable", {
      provider: "Ollama",
      url: "http://127.0.0.1:1",
      reason: "refused",
      advice: "",
    });
    const model = scripted([
      { calls: [{ name: "again" }], usage: { inputTokens: 7, outputTokens: 3 } },
      unreachable,
    ]);
    const broken = agent({ name: "a", model, tools: [fakeTool("again", "more")] });
    expect(await printRun(broken, "go", { output, format: "json" })).toBe(5);
    expect(JSON.parse(output.answers())).toMatchObject({
      outcome: "failed",
      result: null,
      error: { code: "provider-unreachable", retryable: true },
      usage: { inputTokens: 7, outputTokens: 3 },
      turns: 2,
    });
    expect(output.told()).toContain(
      "error[provider-unreachable] Cannot reach Ollama at http://127.0.0.1:1: refused\n",
    );
    expect(output.told()).not.toMatch(/^\s+at /m);
  });

  it("tells a refused run by its exit code", async () => {
    const output = captureOutput();
    const model = scripted([{ calls: [{ name: "rm" }] }]);
    expect(await printRun(agent({ name: "a", model, endOn: ["unknown-tool"] }), "go", { output })).toBe(3);
    expect(output.told()).toContain(
      "error[tool-not-allowed] Tool 'rm' is not allowed for skill 'a'. Allowed: []",
    );
  });

  it("prints what stands in the way of a run", async () => {
    const output = captureOutput();
    expect(
      await printRun(
        answering(() => "ok"),
        "go",
        { output, skill: "none", format: "json" },
      ),
    ).toBe(2);
    expect(JSON.parse(output.answers())).toMatchObject({
      outcome: "failed",
      error: { code: "skill-unknown" },
    });
  });

  it("listens for interrupts only while it runs", async () => {
    const before = process.listenerCount("SIGINT");
    let during = 0;
    const model = (): string => {
      during = process.listenerCount("SIGINT");
      return "ok";
    };
    await printRun(answering(model), "go", { output: captureOutput() });
    expect([during, process.listenerCount("SIGINT")]).toEqual([before + 1, before]);
  });

  it("cancels the run at the first interrupt", async () => {
    const output = captureOutput();
    const model = (): Promise<string> => {
      setTimeout(() => process.emit("SIGINT"), 5);
      return new Promise(() => undefined);
    };
    expect(await printRun(answering(model), "go", { output })).toBe(130);
    expect(output.told()).toContain("error[run-cancelled]");
  });
});

describe("what strangers wrote", () => {
  const steering = "\u001B]0;title\u0007\u009B2J\u202E\u007F\r";
  const throws = tool({
    name: "throws",
    description: "",
    inputSchema: { type: "object" },
    execute: () => {
      throw new Error(steering, { cause: Object.assign(new Error(steering), { body: steering }) });
    },
  });
  const calls = [steering, "gives", "throws"].map((name) => ({ name, arguments: { [steering]: steering } }));
  const agentOf = (more: object): ReturnType<typeof agent> => {
    const model = scripted([{ text: steering, calls }, steering]);
    return agent({ name: "a", model, tools: [fakeTool("gives", steering), throws], ...more });
  };
  it.each([
    ["as text", { format: "text" }, {}],
    ["as text with all details", { format: "text", verbose: true }, {}],
    ["as JSON", { format: "json" }, {}],
    ["as JSON lines", { format: "stream-json" }, {}],
    ["as an error", { format: "text" }, { endOn: ["tool-failure"] }],
    ["as an error with its stack", { format: "text", verbose: true }, { endOn: ["tool-failure"] }],
    ["as an error in JSON", { format: "json", verbose: true }, { endOn: ["tool-failure"] }],
  ] as const)("steers no terminal %s", async (_how, how, more) => {
    const output = captureOutput({ answersTerminal: true });
    await printRun(agentOf(more), "go", { ...how, output, model: steering });
    const all = output.answers() + output.told();
    expect(all).toContain("title");
    expect(all).not.toMatch(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/u);
  });
});

describe("printFailure", () => {
  it("shows code, message, advice and page, and no stack [Y25]", async () => {
    const output = captureOutput();
    expect(
      await printFailure(new WritError("file-missing", { instead: ".", path: "a.ts" }), { output }),
    ).toBe(2);
    expect(output.told().replace(/:\d+\)/, ":LINE)")).toBe(
      'error[file-missing] There is no file "a.ts".\n  Give the path of a TypeScript or JavaScript file that exports an agent, or of a definition in Markdown or JSON.\n  npx writ errors file-missing (docs/errors.md:LINE)\n',
    );
    expect(output.answers()).toBe("");
  });

  it("shows the stack and the causes when asked to, and the advice of the cause first", async () => {
    const output = captureOutput();
    const cause = new WritError("name-taken", { kind: "tool", name: "add", where: "here" });
    await printFailure(
      new WritError(
        "agent-file-broken",
        { path: "a.ts", reason: "x", advice: "Correct the file." },
        { cause },
      ),
      {
        output,
        verbose: true,
      },
    );
    expect(output.told()).toMatch(/Rename one of them[^\n]*\n {2}Correct the file/);
    expect(output.told()).toMatch(/\n\s+at /);
    expect(output.told()).toContain("[cause]");
  });

  it("gives the same advice once, and the place in the code of an error that is not writ's", async () => {
    const output = captureOutput();
    const given = { option: "--x", value: "y", advice: "Take z." };
    const cause = new WritError("option-invalid", given);
    await printFailure(new WritError("option-invalid", given, { cause }), { output });
    expect(output.told().match(/Take z\./g)).toHaveLength(1);
    const thrown = new Error("later");
    thrown.stack = `Error: later\n    at Timeout._onTimeout (${process.cwd()}/agents/mine.ts:3:9)`;
    await printFailure(thrown, { output });
    expect(output.told()).toContain("error later (agents/mine.ts:3:9)\n");
  });

  it("copes with what is no error of writ", async () => {
    const output = captureOutput();
    expect(await printFailure(new TypeError("kaput\nmore"), { output, format: "json" })).toBe(1);
    expect(JSON.parse(output.answers())).toMatchObject({
      error: { code: "unexpected", message: "kaput\nmore" },
    });
    expect(output.told()).toMatch(/^error kaput more \(test.unit.cli.print-run\.test\.ts:\d+:\d+\)\n/m);
  });
});
