import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agent, type AgentEvent, type Budget, isFact, tool, type Tool } from "../../src/index.ts";
import type { JsonSchema } from "../../src/tools.ts";
import { scripted, type ScriptStep } from "../../src/testing.ts";
import type { Json } from "../../src/util/json.ts";

/** A run as data: case.json says what is run, facts.json what must happen. UPDATE_CASES=1 writes facts.json, to be read before it is kept. */
interface Case {
  readonly input: string;
  readonly instructions?: string;
  readonly driver?: "native" | "json" | "lines";
  readonly budget?: Budget;
  readonly tools: readonly CaseTool[];
  readonly script: readonly ScriptStep[];
}

interface CaseTool {
  readonly name: string;
  readonly inputSchema: JsonSchema;
  readonly effect?: "none" | "read" | "write";
  readonly notation?: string;
  readonly timeoutMs?: number;
  /** What the tool gives, throws, or how long it never comes back. */
  readonly returns?: Json;
  readonly throws?: string;
  readonly hangs?: boolean;
}

const root = import.meta.dirname;
const names = readdirSync(root, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

function toolOf({ returns, throws, hangs, ...definition }: CaseTool): Tool {
  const execute = (): unknown => {
    if (throws !== undefined) throw new Error(throws);
    return hangs === true ? new Promise(() => undefined) : returns;
  };
  return tool({ ...definition, description: `the tool ${definition.name}`, execute });
}

function withoutTime(event: AgentEvent): unknown {
  const { at: _at, runId: _runId, ...fact } = event;
  return JSON.parse(
    JSON.stringify(fact, (key, value: unknown) =>
      key === "durationMs" || key === "startedMs" ? undefined : value,
    ),
  );
}

describe("scripted runs", () => {
  it.each(names)("%s", async (name) => {
    const folder = join(root, name);
    const { input, tools, script, ...definition } = JSON.parse(
      readFileSync(join(folder, "case.json"), "utf8"),
    ) as Case;
    const facts: unknown[] = [];
    const run = agent({ name: "agent", ...definition, model: scripted(script), tools: tools.map(toolOf) });
    for await (const event of run.stream(input)) if (isFact(event)) facts.push(withoutTime(event));
    const path = join(folder, "facts.json");
    if (process.env["UPDATE_CASES"] !== undefined) writeFileSync(path, `${JSON.stringify(facts, null, 2)}\n`);
    expect(facts).toEqual(JSON.parse(readFileSync(path, "utf8")));
  });
});
