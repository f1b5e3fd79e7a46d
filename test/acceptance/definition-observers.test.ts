import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { pipe } from "../../src/compose.ts";
import {
  agent,
  type AgentDefinition,
  type AgentEvent,
  inMemorySessions,
  session,
  skill,
  tool,
} from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

type Observing = Pick<AgentDefinition<undefined, undefined>, "on" | "onEvent">;

const add = tool({
  name: "add",
  description: "",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  effect: "none",
  execute: ({ a, b }) => a + b,
});
const calculator = (observing: Observing) => {
  const model = scripted([{ calls: [{ name: "add", arguments: { a: 3, b: 5 } }] }, "It is 8."]);
  return agent({ name: "calculator", model, tools: [add], ...observing });
};

afterEach(() => vi.restoreAllMocks());

describe("observers in the definition", () => {
  it("are told name, arguments and result of each call after its tool ran, however the agent is run [O1.1, C32]", async () => {
    const used: unknown[] = [];
    const observing: Observing = {
      on: { "tool-end": ({ name, arguments: args, result }) => used.push([name, args, result.value]) },
    };
    await calculator(observing)("3 + 5?");
    for await (const _ of calculator(observing).stream("3 + 5?")) continue;
    for await (const _ of calculator(observing).turns("3 + 5?")) continue;
    expect(used).toEqual([1, 2, 3].map(() => ["add", { a: 3, b: 5 }, 8]));
  });

  it("are told all events of a run in order, beside whoever watches it, before the run goes on [O1.2, C32]", async () => {
    const observed: AgentEvent[] = [];
    const watched: AgentEvent[] = [];
    const result = await calculator({ onEvent: (event) => observed.push(event) }).run("3 + 5?", {
      onEvent: (event) => watched.push(event),
    });
    expect(observed.map(({ type }) => type)).toEqual(watched.map(({ type }) => type));
    expect(observed.at(0)).toMatchObject({ type: "run-start", runId: result.runId, seq: 1 });
    expect(observed.at(-1)?.type).toBe("run-end");
    const seen: string[] = [];
    const slow = {
      ...add,
      effect: "write" as const,
      execute: () => seen.push("ran"),
    };
    await calculator({ on: { "tool-start": () => seen.push("start"), "tool-end": () => seen.push("end") } })
      .with({ tools: [slow] })
      .run("3 + 5?");
    expect(seen).toEqual(["start", "ran", "end"]);
  });

  it("are told of plain skills, and of runs inside [O1.2]", async () => {
    const types: string[] = [];
    const onEvent = ({ type, runId }: AgentEvent): void => void types.push(`${runId.length > 0} ${type}`);
    const upper = skill({
      name: "upper",
      description: "",
      trusted: true,
      execute: (text) => String(text).toUpperCase(),
    });
    expect(await agent({ name: "plain", skills: [upper], onEvent })("a")).toBe("A");
    expect(types).toEqual(["true run-start", "true skill-chosen", "true run-end"]);
    const agents: string[] = [];
    const inner = calculator({}).asTool();
    const model = scripted([{ calls: [{ name: "calculator", arguments: { input: "3 + 5?" } }] }, "Eight."]);
    await agent({
      name: "outer",
      model,
      tools: [inner],
      on: { "run-start": (event) => agents.push(event.agent) },
    })("go");
    expect(agents).toEqual(["outer", "calculator"]);
  });

  it("are told with each event whose it is: agent, run, the run around it, and session [O3]", async () => {
    const told: AgentEvent[] = [];
    const inner = calculator({}).asTool();
    const model = scripted([{ calls: [{ name: "calculator", arguments: { input: "3 + 5?" } }] }, "Eight."]);
    const outer = agent({ name: "outer", model, tools: [inner], onEvent: (event) => told.push(event) });
    const { runId } = await outer.run("go", { session: session(inMemorySessions(), "kim") });
    const inside = told.filter((event) => event.runId !== runId);
    expect(inside.map(({ type }) => type)).toContain("tool-end");
    for (const event of inside) {
      expect(event).toMatchObject({ agent: "calculator", parentRunId: runId, at: expect.any(Number) });
      expect(event).not.toHaveProperty("sessionId");
    }
    const own = told.filter((event) => event.runId === runId);
    expect(own.map(({ type }) => type)).toContain("run-end");
    for (const event of own) {
      expect(event).toMatchObject({ agent: "outer", sessionId: "kim", at: expect.any(Number) });
      expect(event).not.toHaveProperty("parentRunId");
    }
    const alone: AgentEvent[] = [];
    const says = (name: string) => agent({ name, model: () => name });
    for await (const event of pipe(says("a"), says("b")).stream("go")) alone.push(event);
    expect(new Set(alone.map((event) => event.agent))).toEqual(new Set(["pipe(a, b)", "a", "b"]));
  });

  it("change nothing: an event is a copy that cannot be written to [O1.3]", async () => {
    vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const told: string[] = [];
    const write = (event: AgentEvent): void => {
      if (event.type !== "tool-end") return;
      told.push(event.type);
      (event.result as { text: string }).text = "9";
    };
    const result = await calculator({ onEvent: write, on: { "tool-end": write } }).run("3 + 5?");
    expect(told).toHaveLength(2);
    expect(result.transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ text: "8" });
    expect(result.text).toBe("It is 8.");
  });

  it("end nothing: what they throw, at once or later, is a process warning with a code [O1.3]", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const others: string[] = [];
    const result = await calculator({
      onEvent: () => {
        throw new Error("observer down");
      },
      on: {
        "tool-end": async () => Promise.reject(new Error("later down")),
        "run-end": ({ type }) => others.push(type),
      },
    }).run("3 + 5?");
    await new Promise((resolve) => setImmediate(resolve));
    expect(result.outcome.type).toBe("answered");
    expect(others).toEqual(["run-end"]);
    const code = "WRIT_OBSERVER_FAILED";
    const words = (reason: string): string =>
      `An observer of agent "calculator" failed, and the run went on: ${reason}`;
    expect(warned.mock.calls).toEqual([
      [words("observer down"), { type: "WritWarning", code }],
      [words("later down"), { type: "WritWarning", code }],
    ]);
  });

  it("are checked when the agent is made: a type of event that there is not, or no function [O1.2]", () => {
    const wrong = { code: "definition-invalid", message: expect.stringContaining("tool-end") };
    expect(() => calculator({ on: { "tool-ended": () => undefined } as never })).toThrow(
      expect.objectContaining(wrong),
    );
    expect(() => calculator({ on: { "tool-end": 7 } as never })).toThrow(expect.objectContaining(wrong));
    expect(() => calculator({ onEvent: 7 as never })).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });
});
