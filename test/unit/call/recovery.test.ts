import { describe, expect, it } from "vitest";
import { z } from "zod";
import { WritError } from "../../../src/error/writ-error.ts";
import {
  type ArgumentRepair,
  type ExecutionRecovery,
  recoverExecution,
  repairArguments,
} from "../../../src/call/recovery.ts";
import type { ToolCall } from "../../../src/message/message.ts";
import { emptyTranscript } from "../../../src/message/transcript.ts";
import { escalate, isBuiltin, throwException } from "../../../src/tool/builtins.ts";
import { checkRecoveryRules, recoveryFor } from "../../../src/tool/recovery-rules.ts";
import {
  type ArgumentFailure,
  checkRecovery,
  escalated,
  fix,
  fixed,
  type FixerContext,
  type Recovery,
  type Repair,
  retry,
  unrecoverable,
} from "../../../src/tool/recovery.ts";
import { type Tool, tool } from "../../../src/tool/tool.ts";
import type { Json } from "../../../src/util/json.ts";

const weather: Tool = tool({
  name: "weather",
  description: "",
  inputSchema: z.object({ city: z.string(), days: z.int() }),
  execute: ({ city }) => city,
});

const context: FixerContext = {
  signal: new AbortController().signal,
  parent: { runId: "r", agent: "a", skill: "a", turn: 1, depth: 0, transcript: emptyTranscript() },
};

const sunny = { city: "Oslo", days: 2 };

function call(given: Json, malformed?: string): ToolCall {
  return { type: "tool-call", id: "1", name: "weather", arguments: given, ...(malformed && { malformed }) };
}

/** What `repairArguments` is given, and what it tells. */
function repairing(
  given: ToolCall,
  recovery: Recovery,
  stopped = (): boolean => false,
): ArgumentRepair & { readonly thrown: unknown[] } {
  const thrown: unknown[] = [];
  return { call: given, tool: weather, recovery, stopped, context, onThrow: (e) => thrown.push(e), thrown };
}

function recovering<Value>(
  from: { error: unknown; again?: () => Value | Promise<Value>; tool?: Tool; stopped?: () => boolean },
  executionFailed: Recovery["executionFailed"],
): ExecutionRecovery<Value> & { readonly thrown: unknown[] } {
  const thrown: unknown[] = [];
  const never = (): never => {
    throw new Error("it must not run again");
  };
  const { error, again = never, tool = weather, stopped = () => false } = from;
  const recovery: Recovery = { executionFailed };
  const onThrow = (e: unknown): unknown => thrown.push(e);
  return { tool, recovery, error, again, stopped, context, onThrow, thrown, arguments: sunny };
}

const boom = new Error("boom");
const spent = new WritError("budget-exhausted", {
  name: "inner",
  reason: "exceeded budget of 3 turns",
  field: "turns",
});

describe("arguments", () => {
  it("tells text that cannot be read from a value that does not fit, with the raw text, what is wrong and the schema [E2, E7, E1.1]", async () => {
    const seen: [string, ArgumentFailure][] = [];
    const recovery: Recovery = {
      invalidArguments: (raw, failure) => {
        seen.push([raw, failure]);
        return failure.type === "unreadable" ? fixed({ city: "Oslo" }) : fixed(sunny);
      },
    };
    const given = call('{"city":"Oslo"', "they are not valid JSON: it ends early");
    expect(await repairArguments(repairing(given, recovery))).toEqual({
      type: "repaired",
      arguments: sunny,
      rounds: 2,
    });
    expect(seen).toMatchObject([
      [
        '{"city":"Oslo"',
        { type: "unreadable", tool: "weather", message: "they are not valid JSON: it ends early", round: 0 },
      ],
      ['{"city":"Oslo"}', { type: "mismatch", round: 1 }],
    ]);
    expect(seen[1]?.[1].message).toContain("days");
    expect(seen[1]?.[1].schema).toBe(weather.input.jsonSchema);
  });

  it("waits for a schema that judges later", async () => {
    const slow = tool({
      name: "weather",
      description: "",
      inputSchema: z.object({ city: z.string().refine(async (city) => city === "Oslo", "is no city") }),
      execute: ({ city }) => city,
    });
    const ask = (city: string): ReturnType<typeof repairArguments> =>
      repairArguments({
        ...repairing(call({}), {
          invalidArguments: (_raw, { round }) => (round === 0 ? fixed({ city }) : undefined),
        }),
        tool: slow,
      });
    expect(await ask("Oslo")).toEqual({ type: "repaired", arguments: { city: "Oslo" }, rounds: 1 });
    expect(await ask("Olso")).toEqual({ type: "unhandled" });
  });

  it("reads a fixed text as JSON, and checks it like the model's own arguments", async () => {
    const ask = (value: Json): ReturnType<typeof repairArguments> =>
      repairArguments(
        repairing(call({}), {
          invalidArguments: (_raw, { round }) => (round === 0 ? fixed(value) : undefined),
        }),
      );
    expect(await ask(JSON.stringify(sunny))).toEqual({ type: "repaired", arguments: sunny, rounds: 1 });
    expect(await ask('{"city":"Oslo","days":"soon"}')).toEqual({ type: "unhandled" });
    expect(await ask("")).toEqual({ type: "unhandled" });
    expect(await ask('{"__proto__":{"city":"x"},"city":"Oslo","days":2}')).toEqual({ type: "unhandled" });
  });

  it("goes round at most 8 times, then fails", async () => {
    let asked = 0;
    const recovery: Recovery = { invalidArguments: () => ((asked += 1), fixed({ city: asked })) };
    const outcome = await repairArguments(repairing(call({}), recovery));
    expect(asked).toBe(8);
    expect(outcome).toMatchObject({
      type: "failed",
      result: { status: "invalid" },
      fatal: { type: "failed", code: "tool-failed" },
    });
    expect(outcome).toHaveProperty(
      "fatal.reason",
      expect.stringMatching(
        /^Tool 'weather' received invalid arguments, and argument recovery exceeded 8 repair steps: .*days/,
      ),
    );
  });

  it("takes what the eighth round gives", async () => {
    const recovery: Recovery = { invalidArguments: (_raw, { round }) => fixed(round === 7 ? sunny : "{") };
    expect(await repairArguments(repairing(call({}), recovery))).toEqual({
      type: "repaired",
      arguments: sunny,
      rounds: 8,
    });
  });

  it("asks a fixer with the raw text, or with the text that it is given", async () => {
    const given: string[] = [];
    const fixer = (text: string, { parent }: FixerContext): string => {
      given.push(`${text} ${parent.runId}`);
      return JSON.stringify(sunny);
    };
    const broken = call("{city}", "it is not JSON");
    for (const input of [undefined, "mend this"]) {
      const outcome = await repairArguments(
        repairing(broken, { invalidArguments: () => fix(fixer, { input }) }),
      );
      expect(outcome).toMatchObject({ type: "repaired" });
    }
    expect(given).toEqual(["{city} r", "mend this r"]);
  });

  it("tells the model what was escalated, and ends the run where nothing can be done [E3, E5]", async () => {
    const soft = await repairArguments(
      repairing(call({}), { invalidArguments: () => escalated("no city", "critical") }),
    );
    expect(soft).toMatchObject({
      type: "escalated",
      result: {
        status: "invalid",
        text: "ERROR: Tool 'weather' failed: no city (severity: CRITICAL). Please retry with corrected arguments.",
      },
    });
    const hard = await repairArguments(
      repairing(call({}), { invalidArguments: () => unrecoverable("binary data") }),
    );
    expect(hard).toMatchObject({
      type: "failed",
      fatal: { reason: "Tool 'weather' received invalid arguments that cannot be mended: binary data" },
    });
  });

  it("leaves the failure as it is without a handler, for a handler that says nothing, and once the run is stopped", async () => {
    let asked = 0;
    const recovery: Recovery = { invalidArguments: () => ((asked += 1), undefined) };
    expect(await repairArguments(repairing(call({}), {}))).toEqual({ type: "unhandled" });
    expect(await repairArguments(repairing(call({}), recovery))).toEqual({ type: "unhandled" });
    expect(await repairArguments(repairing(call({}), recovery, () => true))).toEqual({ type: "unhandled" });
    expect(asked).toBe(1);
  });

  it("ends the run, with the cause, when the handler itself fails or gives no repair", async () => {
    const broken = repairing(call({}), {
      invalidArguments: () => {
        throw boom;
      },
    });
    expect(await repairArguments(broken)).toMatchObject({
      fatal: { reason: expect.stringContaining("its recovery failed: boom") as string },
    });
    expect(broken.thrown).toEqual([boom]);
    for (const answer of ["text", { type: "bogus" }, retry(1)]) {
      const recovery: Recovery = { invalidArguments: () => answer as never };
      expect(await repairArguments(repairing(call({}), recovery))).toMatchObject({ type: "failed" });
    }
  });

  it("lets the exhausted budget of a fixer end the run as what it is [T12]", async () => {
    const asked: number[] = [];
    const fixer = (): never => {
      asked.push(1);
      throw new Error("wrapped", { cause: spent });
    };
    const outcome = await repairArguments(
      repairing(call({}), { invalidArguments: () => fix(fixer, { attempts: 5 }) }),
    );
    expect(outcome).toMatchObject({
      type: "failed",
      fatal: { type: "exhausted", excess: { field: "turns" } },
    });
    expect(asked).toHaveLength(1);
  });

  it("gives plain data, as a journal keeps it", async () => {
    for (const answer of [fixed(sunny), fixed("{"), escalated("x"), unrecoverable()]) {
      const outcome = await repairArguments(repairing(call({}), { invalidArguments: () => answer }));
      expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
    }
  });
});

describe("execution", () => {
  it("runs the tool again until it succeeds, at most as often as said [E3]", async () => {
    let runs = 0;
    const again = (): string => {
      runs += 1;
      if (runs < 3) throw boom;
      return "late";
    };
    expect(await recoverExecution(recovering({ error: boom, again }, () => retry(3)))).toEqual({
      type: "succeeded",
      value: "late",
    });
    expect(runs).toBe(3);
  });

  it("names tool and count when all runs fail, and keeps the first error as the cause [E3]", async () => {
    const again = (): never => {
      throw new Error("again");
    };
    for (const [times, count] of [
      [1, "1 retry"],
      [3, "3 retries"],
    ] as const) {
      const options = recovering({ error: boom, again }, () => retry(times));
      const text = `Tool 'weather' failed after ${count}: again`;
      expect(await recoverExecution(options)).toEqual({
        type: "failed",
        result: { status: "error", text },
        fatal: { type: "failed", code: "tool-failed", reason: text },
      });
      expect(options.thrown).toEqual([boom]);
    }
  });

  it("puts a fixed value, or the fixer's answer as JSON where it is JSON, in the place of the result [E3]", async () => {
    const ask = (repair: Repair): ReturnType<typeof recoverExecution> =>
      recoverExecution(recovering({ error: boom }, () => repair));
    expect(await ask(fixed({ sun: true }))).toEqual({ type: "fixed", value: { sun: true } });
    expect(await ask(fixed("12"))).toEqual({ type: "fixed", value: "12" });
    expect(await ask(fix((text) => `{"was":"${text}"}`))).toEqual({ type: "fixed", value: { was: "boom" } });
    expect(await ask(fix(() => "sunny"))).toEqual({ type: "fixed", value: "sunny" });
    expect(await ask(fix(() => undefined as never))).toMatchObject({ type: "failed" });
    const named: Tool = tool({
      ...weather,
      inputSchema: z.object({}),
      outputSchema: z.string(),
      effect: "none",
      exclusive: false,
      execute: () => "",
    });
    expect(await recoverExecution(recovering({ error: boom, tool: named }, () => fix(() => "12")))).toEqual({
      type: "fixed",
      value: "12",
    });
  });

  it("lets each throw of a fixer use up an attempt, and then ends the run [E5]", async () => {
    let asked = 0;
    const moody = (): string => {
      asked += 1;
      if (asked < 3) throw new Error(`no ${asked}`);
      return "mended";
    };
    expect(await recoverExecution(recovering({ error: boom }, () => fix(moody, { attempts: 3 })))).toEqual({
      type: "fixed",
      value: "mended",
    });
    asked = 0;
    const options = recovering({ error: boom }, () => fix(moody, { attempts: 2 }));
    expect(await recoverExecution(options)).toMatchObject({
      type: "failed",
      fatal: {
        reason: "Tool 'weather' failed and cannot be recovered: the fixer 'moody' failed 2 times: no 2",
      },
    });
    expect(options.thrown).toEqual([boom]);
  });

  it("stops asking a fixer that escalates or gives up, whatever attempts are left, also when its error was wrapped [E5, E7]", async () => {
    let asked = 0;
    const saying = (error: Error): Repair =>
      fix(
        function judge() {
          asked += 1;
          throw new Error("the skill failed", { cause: error });
        },
        { attempts: 5 },
      );
    const soft = new WritError("tool-escalated", { reason: "unquoted keys", severity: "low" });
    const told = await recoverExecution(recovering({ error: boom }, () => saying(soft)));
    expect(told).toEqual({
      type: "escalated",
      result: {
        status: "error",
        text: "ERROR: Tool 'weather' failed: unquoted keys (severity: LOW). Please retry with corrected arguments.",
        note: "escalated by 'judge' at attempt 1; what failed: boom",
      },
    });
    const hard = new WritError("tool-unrecoverable", { reason: "binary data" });
    const ended = await recoverExecution(recovering({ error: boom }, () => saying(hard)));
    expect(ended).toMatchObject({
      type: "failed",
      fatal: { reason: "Tool 'weather' failed and cannot be recovered: binary data" },
    });
    expect(asked).toBe(2);
  });

  it("names the error of the tool where the handler gives no reason of its own", async () => {
    expect(await recoverExecution(recovering({ error: boom }, () => unrecoverable()))).toMatchObject({
      type: "failed",
      fatal: { reason: "Tool 'weather' failed and cannot be recovered: boom" },
    });
  });

  it("keeps the original error where the handler says nothing [E3]", async () => {
    for (const nothing of [undefined, null]) {
      const outcome = await recoverExecution(recovering({ error: boom }, () => nothing as undefined));
      expect(outcome).toEqual({ type: "unhandled", error: boom });
    }
    const options = { ...recovering({ error: boom }, undefined), recovery: {} };
    expect(await recoverExecution(options)).toEqual({ type: "unhandled", error: boom });
  });

  it("asks no handler about an exhausted budget, and retries it no more [T12]", async () => {
    let asked = 0;
    const wrapped = new Error("the inner agent failed", { cause: spent });
    const handler = (): Repair => ((asked += 1), retry(5));
    for (const error of [spent, wrapped])
      expect(await recoverExecution(recovering({ error }, handler))).toEqual({ type: "unhandled", error });
    expect(asked).toBe(0);
    let runs = 0;
    const again = (): never => {
      runs += 1;
      throw wrapped;
    };
    const late = await recoverExecution(recovering({ error: boom, again }, handler));
    expect(late).toEqual({ type: "unhandled", error: wrapped });
    const fixer = (): never => {
      throw wrapped;
    };
    const inFixer = await recoverExecution(recovering({ error: boom }, () => fix(fixer, { attempts: 3 })));
    expect(inFixer).toEqual({ type: "unhandled", error: wrapped });
    expect(runs).toBe(1);
  });

  it("runs nothing any more once the run is stopped", async () => {
    let runs = 0;
    const stopped = (): boolean => runs >= 4;
    const again = (): never => {
      runs += 1;
      throw boom;
    };
    expect(
      await recoverExecution(recovering({ error: boom, again, stopped }, () => retry(1000))),
    ).toMatchObject({
      type: "unhandled",
    });
    expect(runs).toBe(4);
    let asked = 0;
    const fixer = (): never => {
      asked += 1;
      throw boom;
    };
    const halted = { error: boom, stopped: () => asked >= 2 };
    expect(await recoverExecution(recovering(halted, () => fix(fixer, { attempts: 50 })))).toMatchObject({
      type: "unhandled",
    });
    expect(asked).toBe(2);
  });

  it("tells the handler which call failed, whichever tool it is for [E7]", async () => {
    const seen: unknown[] = [];
    const handler: Recovery["executionFailed"] = (error, failedCall) => {
      seen.push(error, failedCall);
      return undefined;
    };
    await recoverExecution(recovering({ error: boom }, handler));
    expect(seen).toEqual([boom, { tool: "weather", arguments: sunny }]);
  });
});

describe("severities", () => {
  it("are read whatever their case, and are HIGH by default [E5]", () => {
    expect((["low", "MEDIUM", "critical"] as const).map((given) => escalated("x", given).severity)).toEqual([
      "LOW",
      "MEDIUM",
      "CRITICAL",
    ]);
    expect(escalated("x").severity).toBe("HIGH");
    expect(escalated("x", "grave" as "high").severity).toBe("HIGH");
  });
});

describe("the built-in tools", () => {
  it("throw what they are told, and are known by their identity, not their name [T11]", () => {
    const run = (each: Tool, args: unknown): unknown => {
      try {
        return each.execute(args, undefined as never);
      } catch (error) {
        return error;
      }
    };
    expect(run(escalate, { reason: "no" })).toMatchObject({
      code: "tool-escalated",
      data: { reason: "no", severity: "HIGH" },
    });
    expect(run(escalate, { reason: "no", severity: "Low" })).toMatchObject({ data: { severity: "LOW" } });
    expect(run(throwException, { reason: "no" })).toMatchObject({
      code: "tool-unrecoverable",
      data: { reason: "no" },
    });
    const shadow = tool({ name: "escalate", description: "", inputSchema: z.object({}), execute: () => 1 });
    expect([escalate, throwException, shadow].map(isBuiltin)).toEqual([true, true, false]);
  });
});

describe("rules", () => {
  it("hold by the tool, then by its name, then by default, each as a whole [E4]", () => {
    const own: Recovery = { executionFailed: () => retry(1) };
    const named: Recovery = { executionFailed: () => retry(2) };
    const rest: Recovery = { invalidArguments: () => fixed({}) };
    const rules = { tools: { weather: named }, default: rest };
    const withOwn = { ...weather, recover: own };
    expect(recoveryFor(withOwn, rules)).toBe(own);
    expect(recoveryFor(weather, rules)).toBe(named);
    expect(recoveryFor({ ...weather, name: "other" }, rules)).toBe(rest);
    expect(recoveryFor({ ...weather, name: "constructor" }, rules)).toBe(rest);
    expect(recoveryFor(weather, {})).toBeUndefined();
    expect(recoveryFor(escalate, rules)).toBeUndefined();
  });

  it("are refused when they name an unknown tool or an unknown kind, or hold no function", () => {
    const place = { where: 'agent "a"', known: ["weather"] };
    const check =
      (rules: unknown): (() => void) =>
      () =>
        checkRecoveryRules(rules as never, place);
    expect(check({ tools: { weather: {} }, default: { executionFailed: () => retry(1) } })).not.toThrow();
    expect(check({ tools: { wether: {} } })).toThrow('lists the tool "wether"');
    expect(check({ defaults: {} })).toThrow('and has "defaults"');
    expect(check({ default: { executionError: () => retry(1) } })).toThrow(
      'has the unknown field "executionError"',
    );
    expect(() => checkRecovery({ executionFailed: 3 }, 'Tool "x"')).toThrow(
      "`recover.executionFailed` must be a function",
    );
    expect(() => checkRecovery(3, 'Tool "x"')).toThrow(WritError);
    expect(() => checkRecovery(undefined, 'Tool "x"')).not.toThrow();
  });

  it("are made of repairs that are right in themselves", () => {
    for (const times of [0, -1, 1.5, Number.NaN]) {
      expect(() => retry(times)).toThrow("a whole number of at least 1");
      expect(() => fix(() => "", { attempts: times })).toThrow("a whole number of at least 1");
    }
    expect(() => fix("mender" as never)).toThrow("an agent or a function");
  });
});
