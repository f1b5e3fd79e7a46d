import { describe, expect, it } from "vitest";
import { agent, type Agent, skill, tool } from "../../src/index.ts";
import { call, callTool, execute } from "../../src/doors.ts";
import type { CallScope } from "../../src/tools.ts";
import { pipe } from "../../src/compose.ts";

const inputSchema = { type: "object" } as const;
const enough = 40;

/** An agent whose only tool runs an agent again, in its own way. */
function nesting(way: (inner: Agent<string>, run: CallScope, outermost: CallScope) => Promise<unknown>): {
  readonly agent: Agent<string>;
  readonly runs: () => number;
} {
  let runs = 0;
  let outermost: CallScope | undefined;
  const again = tool({
    name: "again",
    description: "d",
    inputSchema,
    effect: "read",
    execute: async (_args, { run }) => {
      runs += 1;
      outermost ??= run;
      if (runs < enough) await way(nested, run, outermost);
      return "done";
    },
  });
  const nested: Agent<string> = agent({
    name: "nested",
    model: () => ({ calls: [{ name: "again", arguments: {} }] }),
    tools: [again],
    budget: { turns: 1 },
  });
  return { agent: nested, runs: () => runs };
}

describe("runs that tools begin inside each other", () => {
  it.each<[string, Parameters<typeof nesting>[0]]>([
    ["without saying that they are inside", (inner) => inner.run("x")],
    ["as a function", (inner) => inner("x").catch(() => undefined)],
    ["as part of the outermost call", (inner, _run, parent) => inner.run("x", { parent })],
    ["each with wider bounds of its own", (inner) => inner.with({ budget: { depth: 1000 } }).run("x")],
    ["in a composition", (inner) => pipe(inner, inner).run("x")],
    [
      "by a timer that they wait for",
      (inner) => new Promise((go) => setTimeout(() => go(inner.run("x")), 1)),
    ],
    ["through a tool that they call", (inner) => callTool(runner(inner), {})],
    ["through a tool as a function", (inner) => call(runner(inner), {})],
    [
      "through calls of no run",
      (inner) =>
        execute({
          calls: [{ type: "tool-call", id: "c", name: "go", arguments: {} }],
          tools: [runner(inner)],
        }),
    ],
    [
      "through a plain skill",
      (inner) =>
        agent({
          name: "s",
          skills: [skill({ name: "s", description: "d", execute: () => inner.run("x").then(() => "") })],
        }).run("x"),
    ],
  ])("end at the depth that the outermost one allows: %s", async (_way, way) => {
    const { agent: outer, runs } = nesting((inner, run, outermost) =>
      way(inner, run, outermost).catch((error: unknown) => {
        expect(error).toMatchObject({ code: "delegation-too-deep" });
      }),
    );
    await outer.run("x");
    expect(runs()).toBeGreaterThan(1);
    expect(runs()).toBeLessThanOrEqual(5);
  });

  it("go as deep as the outermost one says", async () => {
    const { agent: outer, runs } = nesting((inner) =>
      inner
        .with({ budget: { turns: 1, depth: 7 } })
        .run("x")
        .catch(() => undefined),
    );
    await outer.with({ budget: { depth: 7 } }).run("x");
    expect(runs()).toBe(8);
  });

  it("begin anew behind a call that has ended: nothing waits for that run", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { agent: outer, runs } = nesting(async (inner) => {
      setTimeout(() => void inner.run("x").then(resolve, resolve), 20);
    });
    await outer.run("x");
    expect(await promise).toMatchObject({ outcome: { type: "exhausted" } });
    expect(runs()).toBeGreaterThan(1);
  });
});

function runner(inner: Agent<string>): ReturnType<typeof tool> {
  return tool({
    name: "go",
    description: "d",
    inputSchema,
    execute: () => inner.run("x").then(() => "went"),
  });
}
