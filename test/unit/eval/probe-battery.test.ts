import { describe, expect, it } from "vitest";
import { battery } from "../../../src/eval/probe/battery.ts";
import { asksForRestraint, type ProbeCase } from "../../../src/eval/probe/probe-case.ts";
import { runCase } from "../../../src/eval/probe/run-case.ts";
import type { ModelRequest } from "../../../src/model/model.ts";
import { type FunctionReply, modelFromFunction } from "../../../src/model/function-model.ts";

/** Makes the expected calls one after another, and answers with all that an answer must contain. */
function perfect(probeCase: ProbeCase, { messages }: ModelRequest): FunctionReply {
  const next = probeCase.calls[messages.filter(({ role }) => role === "tool").length];
  if (next !== undefined) return { calls: [{ name: wire(next.tool), arguments: next.arguments[0] ?? {} }] };
  const words = (probeCase.answer ?? ["Done"]).map((wanted) =>
    typeof wanted === "string" ? wanted : wanted[0],
  );
  return { text: words.join(" and ") };
}

/** Providers take no dots. */
function wire(name: string): string {
  return name.replaceAll(".", "_");
}

const options = { driver: "native", timeoutMs: 10_000, signal: new AbortController().signal } as const;

describe("the battery", () => {
  it("has about thirty cases of different names, at least six of them for restraint", () => {
    expect(battery.length).toBeGreaterThanOrEqual(28);
    expect(battery.length).toBeLessThanOrEqual(34);
    expect(new Set(battery.map(({ name }) => name)).size).toBe(battery.length);
    expect(battery.filter(asksForRestraint).length).toBeGreaterThanOrEqual(6);
    expect(battery.some(({ tools }) => tools.length >= 30)).toBe(true);
  });

  it("converts a temperature so that the answer of its case is what the tool gives", async () => {
    const probeCase = battery.find(({ name }) => name === "result-in-next-call");
    if (probeCase === undefined) throw new Error("there is no such case");
    const model = modelFromFunction((request) => {
      const results = request.messages.filter((message) => message.role === "tool");
      const isDone = results.length === probeCase.calls.length;
      return isDone ? { text: results.at(-1)?.text ?? "" } : perfect(probeCase, request);
    });
    expect(await runCase(probeCase, { ...options, model })).toMatchObject({ right: true });
  });

  it.each(battery)("case $name can be done right", async (probeCase) => {
    const model = modelFromFunction((request) => perfect(probeCase, request));
    const result = await runCase(probeCase, { ...options, model });
    expect(result.fault).toBeUndefined();
    expect(result).toMatchObject({ right: true, unreadable: 0, replies: probeCase.calls.length + 1 });
  });

  it.each(battery)("case $name is wrong for a model that only talks, or only calls", async (probeCase) => {
    const [tool] = probeCase.tools;
    const talker = modelFromFunction(() => "I could say many things.");
    const caller = modelFromFunction(() => ({ calls: [{ name: wire(tool?.name ?? ""), arguments: {} }] }));
    const talked = await runCase(probeCase, { ...options, model: talker });
    const called = await runCase(probeCase, { ...options, model: caller });
    expect(talked.right).toBe(asksForRestraint(probeCase) && probeCase.answer === undefined);
    expect(called.right).toBe(false);
  });
});
