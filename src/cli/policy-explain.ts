import { asTool } from "../policy/rules/annotate.ts";
import { existsSync } from "node:fs";
import { nodeHost } from "../adapters/clock.ts";
import { recordedFacts } from "../durable/follow.ts";
import { WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Decision } from "../policy/decision.ts";
import { explain } from "../policy/study/explain.ts";
import type { DescribedTool, RecordedEvent } from "../policy/study/simulate.ts";
import { toSchema } from "../schema/to-schema.ts";
import { isLabel } from "../message/label.ts";
import { isJsonObject, type JsonObject, parseJson } from "../util/json.ts";
import { fits, object, oneOf, optional, shapeOf, string } from "../util/shape.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { loadAgent } from "./load-agent.ts";
import { jsonLine, oneLine, printable, processOutput } from "./output.ts";
import { readPolicy } from "./read-policy.ts";
import { readText, readTools } from "./read-tools.ts";
import { knownStore } from "./run-store.ts";
import { acceptedParts, type CheckFlags } from "./work.ts";

/** The options of `writ policy explain`. */
export interface ExplainFlags extends CheckFlags {
  readonly policy?: string;
  readonly tools?: string;
  readonly agent?: string;
}

/** A call of a run with its decision, and that of another policy if one was given. */
interface ExplainedCall {
  readonly callId: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly decision: Decision;
  readonly would?: Decision;
}

/**
 * `writ policy explain <run>`: prints each call of a run with its decision and the reason; with `--policy` also the decision of another policy.
 *
 * @throws WritError `option-invalid`, `run-missing`, `journal-mismatch`, and the errors of reading agents, policies and tools
 */
export async function explainRun(run: string, flags: ExplainFlags): Promise<ExitCode> {
  const { policy, tools, json = false } = flags;
  const events = existsSync(run) ? eventsOf(run) : await factsOf(run, flags);
  const simulated =
    policy === undefined
      ? []
      : (await readPolicy(policy)).simulate(
          events,
          tools === undefined ? {} : { tools: await describedTools(tools) },
        );
  const calls = decisionsIn(events, new Map(simulated.map(({ was, would }) => [was, would])));
  if (json) await processOutput.answer(jsonLine({ type: "policy-explain", calls }));
  else await processOutput.answer(calls.map(callText).join("") || "no call was decided in this run\n");
  return exitCodes.answered;
}

/** The events in a file, one per line. Lines without an event are ignored, as is the result at the end. */
function eventsOf(path: string): readonly RecordedEvent[] {
  const events = readText(path).split("\n").map(parseJson);
  const known = events.flatMap((line) => (line.ok && isEvent(line.value) ? [line.value] : []));
  if (known.length > 0) return known;
  const advice =
    "It has no events. `writ run <agent> --output-format stream-json > run.jsonl` writes such a file.";
  throw new WritError("option-invalid", { option: "<run>", value: path, advice });
}

function isEvent(value: unknown): value is JsonObject & RecordedEvent {
  return isJsonObject(value) && typeof value["type"] === "string" && typeof value["runId"] === "string";
}

async function factsOf(id: string, flags: ExplainFlags): Promise<readonly AgentEvent[]> {
  if (flags.agent === undefined) {
    const advice = "There is no such file. For a durable run give its agent too: --agent <file>.";
    throw new WritError("option-invalid", { option: "<run>", value: id, advice });
  }
  const agent = await loadAgent(flags.agent);
  await using store = await knownStore(flags);
  return await recordedFacts(id, { store, agents: [agent], host: nodeHost, ...acceptedParts(flags) });
}

async function describedTools(path: string): Promise<readonly DescribedTool[]> {
  const { tools } = await readTools(path);
  return tools.map(({ name, schema, said }) => ({
    ...(said && asTool(said)),
    name,
    input: toSchema(schema, { name, role: "input" }),
  }));
}

/** The decisions of a run, each with that of another policy. Calls of runs inside have none, because they can have the same ids. */
function decisionsIn(
  events: readonly RecordedEvent[],
  others: ReadonlyMap<Decision, Decision>,
): readonly ExplainedCall[] {
  return events.flatMap((event): readonly ExplainedCall[] => {
    if (!isDecided(event)) return [];
    const { callId, name, arguments: args, decision } = event;
    const would = others.get(decision);
    return [{ callId, tool: name, arguments: args, decision, ...(would === undefined ? {} : { would }) }];
  });
}

/** True for an event that has a decision in full. The values of a file are only shown; events that lack them are ignored. */
function isDecided(event: RecordedEvent): event is Extract<AgentEvent, { readonly type: "call-decided" }> {
  return event.type === "call-decided" && fits(decided, event);
}

const decided = object({
  callId: string,
  name: string,
  decision: object({
    verdict: oneOf("allow", "ask", "deny"),
    rule: string,
    reason: string,
    evidence: optional(object({ label: shapeOf("a label", isLabel) })),
  }),
});

function callText({ tool, arguments: args, decision, would }: ExplainedCall, index: number): string {
  const lines = [
    `${index + 1} ${oneLine(tool)} ${oneLine(JSON.stringify(args) ?? "", 500)}`,
    ...explain(decision, "people").split("\n"),
    ...(would === undefined
      ? []
      : [
          "with this policy:",
          ...explain(would, "people")
            .split("\n")
            .map((line) => `  ${line}`),
        ]),
  ];
  const [first = "", ...others] = lines;
  return `${[first, ...others.map((line) => `    ${printable(line)}`)].join("\n")}\n`;
}
