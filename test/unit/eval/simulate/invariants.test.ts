import { expect, it } from "vitest";
import { type Evidence, evidenceOf } from "../../../../src/eval/simulate/evidence.ts";
import { isFactEvent } from "../../../../src/eval/simulate/inside-run.ts";
import { runtimeInvariants } from "../../../../src/eval/simulate/invariants.ts";
import { play } from "../../../../src/eval/simulate/play.ts";
import { known } from "../../../../src/eval/simulate/schedule.ts";
import { settingOf } from "../../../../src/eval/simulate/stage.ts";
import type { AgentEvent } from "../../../../src/event/event.ts";
import type { Label } from "../../../../src/message/label.ts";
import { clerk } from "./scene.ts";

/** The evidence of a quiet day, in which nothing is wrong. Tests put into it what a broken runtime would leave. */
async function quiet(inputs: readonly string[] = ["one"]): Promise<Evidence> {
  const script = [{ calls: [{ name: "look", arguments: { order: "A1" } }] }, "Done."];
  const { stage, subject } = await settingOf(clerk, { inputs, script });
  return evidenceOf(await play(stage, known({ deviations: [] })), subject);
}

const faultsIn = (evidence: Evidence): readonly string[] =>
  Object.entries(runtimeInvariants).flatMap(([name, holds]) =>
    holds(evidence).map((fault) => `${name}: ${fault}`),
  );

const trusted: Label = { integrity: "trusted", secrecy: "public", sources: [] };
const untrusted: Label = { integrity: "untrusted", secrecy: "private", sources: ["tool/look"] };

it("finds nothing wrong in a quiet day", async () => {
  expect(faultsIn(await quiet())).toEqual([]);
  expect(faultsIn(await quiet(["one", "two"]))).toEqual([]);
});

it("notices a result that is another text than the tool made", async () => {
  const evidence = await quiet();
  const [execution] = evidence.world.executions;
  if (execution === undefined) throw new Error("nothing was called");
  execution.made = "it was never sent";
  expect(faultsIn(evidence)).toEqual([
    expect.stringMatching(/^a result tells what happened: look .* the tool made something else: /),
  ]);
});

it("notices that a policy is told a better label later in a run", async () => {
  const evidence = await quiet();
  const { judgements } = evidence.world;
  const judged = { agent: "clerk", callId: "c9", tool: "look", verdict: "allow", place: judgements.length };
  judgements.push({ ...judged, label: untrusted }, { ...judged, label: trusted });
  expect(faultsIn(evidence)).toEqual([
    expect.stringMatching(/^labels never rise: what the policy was told rose from .*"untrusted".* to /),
  ]);
});

it("notices that a run forgets what the run before it in its session has seen", async () => {
  const evidence = await quiet(["one", "two"]);
  const [first, second] = evidence.told;
  const seen = first?.run.result;
  if (first === undefined || second === undefined || seen === undefined) throw new Error("two runs");
  const told = [{ ...first, run: { ...first.run, result: { ...seen, label: untrusted } } }, second];
  expect(second.run.result?.label).not.toEqual(untrusted);
  expect(faultsIn({ ...evidence, told })).toEqual([
    expect.stringMatching(
      /^labels never rise: run-2: its label .* is better than that of the run before it$/,
    ),
  ]);
});

it("notices facts that are missing or out of order, ends that are told otherwise than kept, and usage that does not add up", async () => {
  const evidence = await quiet();
  const [one] = evidence.told;
  if (one === undefined) throw new Error("one run");
  const withFacts = (facts: readonly AgentEvent[]): Evidence => ({
    ...evidence,
    told: [{ ...one, facts: facts.filter(isFactEvent) }],
  });
  const numbered = (facts: readonly AgentEvent[]): readonly AgentEvent[] =>
    facts.map((fact, index): AgentEvent => Object.assign({}, fact, { seq: index + 1 }));
  const order = (facts: readonly AgentEvent[]): readonly string[] =>
    faultsIn(withFacts(facts)).filter((fault) => fault.startsWith("what is told is in order"));
  expect(order(numbered(one.facts.filter(({ type }) => type !== "tool-end")))).toEqual([
    "what is told is in order: run-1: turn 1 ends without c1_0",
  ]);
  expect(order(one.facts.slice(1)).length).toBe(one.facts.length - 1);
  const twice = one.facts.flatMap((fact): readonly AgentEvent[] =>
    fact.type === "usage-add" ? [fact, fact] : [fact],
  );
  expect(order(numbered(twice))).toEqual([
    expect.stringMatching(/it used \{.*, and what was told adds up to \{/),
  ]);
  const denied = one.facts.map((fact) =>
    fact.type === "tool-end" ? { ...fact, result: { ...fact.result, status: "unknown" as const } } : fact,
  );
  expect(faultsIn(withFacts(denied))).toContain(
    "each call has one result: run-1: c1_0 was told to be unknown, and is ok",
  );
});
