import { agentShape } from "../../agent/agent-shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import type { Agent } from "../../agent/agent.ts";
import type { Fact } from "../../event/event.ts";
import { noIntent } from "../../policy/knowledge/intent.ts";
import { sightOf } from "../../policy/rules/condition/sight.ts";
import type { Leaf } from "../../policy/rules/condition/values.ts";
import { rulePolicyOf } from "../../policy/rules/identity.ts";
import { valuesIn } from "../../policy/values/bound-values.ts";
import { namesIn } from "../../schema/property-names.ts";
import { statedDefaultsOf } from "../../tool/default-values.ts";
import type { Tool } from "../../tool/tool.ts";
import { assertNever } from "../../util/assert-never.ts";
import { sameJson } from "../../util/same-json.ts";
import { lateRequest } from "../simulate/budget-faults.ts";
import type { Invariant, SimulatedOutcome } from "../simulate/view.ts";
import { lookedAt } from "./looked-at.ts";
import { checkNames } from "./names.ts";
import { anyType, authored, countedIn, isAtHost, strangersIn } from "./places.ts";
import { listedIn } from "./schema-places.ts";
import {
  type ApartSentence,
  type AtMostSentence,
  type BoundSentence,
  checkSentences,
  type GivenSentence,
  type NeverSentence,
  type Sentence,
  sentenceText,
} from "./sentence.ts";
import { isMeant, sourcesOf } from "./suspects.ts";
import { type ProvenAgent, subjectOf, type Way } from "./subject.ts";

/**
 * Makes invariants of sentences for `simulate()`, named by their words: a run that breaks one is a counterexample. Sentences about capabilities are
 * left out, because stand-ins of tools do not use capabilities.
 *
 * @throws WritError `definition-invalid`, `tool-unknown` for sentences that do not apply to this agent
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { fakeTool, sentenceInvariants, simulate } from "writ/testing";
 *
 * const refund = fakeTool("refund", "done", { effect: "irreversible" });
 * const clerk = agent({ name: "clerk", model: () => "", tools: [refund] });
 * const invariants = sentenceInvariants(clerk, [{ type: "never", tools: ["refund"], without: "person" }]);
 * const { failure } = await simulate(clerk, { schedules: 200, invariants });
 * console.log(failure?.invariant); // "No call of refund runs without a person."
 * ```
 */
export function sentenceInvariants(
  agent: Agent,
  sentences: readonly Sentence[],
): Readonly<Record<string, Invariant<unknown>>> {
  checkArguments("sentenceInvariants()", { agent }, { agent: agentShape });
  checkSentences(`sentenceInvariants() of "${agent.name}"`, sentences);
  const subject = subjectOf(agent);
  for (const sentence of sentences) checkNames(sentence, subject);
  return Object.fromEntries(
    sentences.map((sentence) => [sentenceText(sentence), invariantOf(sentence, subject)]),
  );
}

/** A sentence as an invariant. */
export function invariantOf(sentence: Sentence, subject: ProvenAgent): Invariant<unknown> {
  return ({ runs }) => {
    for (const [place, run] of runs.entries()) {
      const said = breachIn(run, sentence, { subject, earlier: runs.slice(0, place) });
      if (said !== undefined) return said;
    }
    return undefined;
  };
}

interface Around {
  readonly subject: ProvenAgent;
  /** The earlier runs of its session: the user's text in them counts as given in this run too. */
  readonly earlier: readonly SimulatedOutcome[];
}

function breachIn(run: SimulatedOutcome, sentence: Sentence, around: Around): string | undefined {
  const { subject } = around;
  switch (sentence.type) {
    case "given":
    case "apart":
      return ranIn(run, sentence, subject)
        .map((call) => strangersOf(call, sentence, { ...around, run }))
        .find((said) => said !== undefined);
    case "never":
      return neverBroken(run, sentence, subject);
    case "at-most":
      return timesBroken(run, sentence, subject);
    case "bound":
      return boundBroken(run, sentence);
    case "powers":
      return undefined;
    default:
      return assertNever(sentence);
  }
}

type Ran = Extract<Fact, { readonly type: "tool-start" | "knowledge-used" }> & {
  readonly tool: Tool;
  readonly way: Way;
};

/** The calls, in the run and in those inside it, that ran after the sources of a sentence were read, of the tools that it is about. */
function ranIn(
  run: SimulatedOutcome,
  sentence: GivenSentence | ApartSentence | NeverSentence | AtMostSentence,
  subject: ProvenAgent,
): readonly Ran[] {
  const sources = sourcesOf(sentence);
  return lookedAt(run, subject, sources).flatMap(({ facts, ways, readIn }) =>
    facts.flatMap((fact) => {
      if (fact.type !== "tool-start" && fact.type !== "knowledge-used") return [];
      if (sources.length > 0 && fact.turn <= readIn) return [];
      return ways.flatMap((way) => {
        const tool = way.tools.get(fact.name);
        if (tool === undefined || !isMeant(sentence, tool)) return [];
        const isCarriedOut = !isStoodIn(tool) || run.begun.includes(fact.callId); // otherwise only its fact was told
        return isCarriedOut ? [{ ...fact, tool, way }] : [];
      });
    }),
  );
}

/** True for tools that every simulation replaces with a stand-in. */
function isStoodIn({ effect, kind, isAgent }: Tool): boolean {
  return effect !== "none" && kind === undefined && isAgent !== true;
}

/** True for a call that a person agreed to. A run that was cut short may not have told it. */
function isAgreed({ agreed }: SimulatedOutcome, { callId }: Ran): boolean {
  return agreed.includes(callId);
}

interface AroundCall extends Around {
  readonly run: SimulatedOutcome;
}

function strangersOf(
  call: Ran,
  sentence: GivenSentence | ApartSentence,
  { run, subject, earlier }: AroundCall,
): string | undefined {
  if (isAgreed(run, call)) return undefined;
  const { tool, way, arguments: args } = call;
  const said = valuesIn([...earlier, run].flatMap((each) => textsOf(each, way, subject)));
  const request = {
    agent: way.agent,
    skill: way.skill,
    turn: 1,
    callId: call.callId,
    tool: tool.name,
    effect: tool.effect,
    kind: tool.kind,
    parameters: tool.parameters ?? {},
    arguments: args,
    ...namesIn(tool.input.jsonSchema),
    defaultsIn: statedDefaultsOf(tool),
    knows: {
      intent: noIntent(way.agent),
      label: { integrity: "untrusted", secrecy: "private", sources: [] },
      isBound: (value, type) => said.has(value, type),
      isFound: () => false,
      isKnownLink: () => false,
      asksFor: () => true,
      calls: () => 0,
    },
  } satisfies Parameters<typeof sightOf>[0];
  const sight = sightOf(request, rulePolicyOf(way.policy)?.tools[tool.name]);
  const own = authored(way.policy, tool.name);
  const isListed = listedIn(tool);
  const hosts = sentence.type === "given" ? (sentence.hosts ?? []) : [];
  const isGiven = (leaf: Leaf): boolean =>
    isListed(leaf.path.replaceAll(/\[\d+\]/g, "")) ||
    own.some((value) => sameJson(value, leaf.value)) ||
    isAtHost(leaf.value, hosts) ||
    anyType.some((type) => sight.isBound(leaf, type) === true);
  const isCounted = sentence.type === "apart" ? () => true : countedIn(sentence.arguments);
  const [leaf] = strangersIn(sight, { isCounted, isGiven });
  return leaf && `${tool.name} ran with ${leaf.path} ${JSON.stringify(leaf.value)}, which nobody gave`;
}

/**
 * The text of user and author: the input of the run that was begun, the constants of the author of its own agent and of agents around it, and what was
 * looked up in a directory of the author's.
 */
function textsOf(run: SimulatedOutcome, { skills }: Way, subject: ProvenAgent): readonly string[] {
  const around = subject.ways.filter((way) => way.skills.every((skill, place) => skills[place] === skill));
  const constants = around.flatMap(({ policy }) => rulePolicyOf(policy)?.constants ?? []);
  const inputs = run.facts.flatMap((fact) => (fact.type === "run-start" ? [fact.input] : []));
  const lookedUp = lookedAt(run, subject, []).flatMap(({ facts, ways }) =>
    facts.flatMap((fact) =>
      fact.type === "tool-end" && ways.some(({ tools }) => tools.get(fact.name)?.resolves === true)
        ? [fact.result.text]
        : [],
    ),
  );
  const words = inputs.map((input) => (typeof input === "string" ? input : JSON.stringify(input)));
  return [...constants, ...words, ...lookedUp];
}

function neverBroken(
  run: SimulatedOutcome,
  sentence: NeverSentence,
  subject: ProvenAgent,
): string | undefined {
  const call = ranIn(run, sentence, subject).find(
    (each) =>
      sentence.skills?.some((name) => each.way.skills.includes(name)) !== false &&
      (sentence.without === undefined || !isAgreed(run, each)),
  );
  return call && `${call.name} ran with ${JSON.stringify(call.arguments)}`;
}

function timesBroken(
  run: SimulatedOutcome,
  sentence: AtMostSentence,
  subject: ProvenAgent,
): string | undefined {
  const calls = ranIn(run, sentence, subject).filter(
    (call) => sentence.without === undefined || !isAgreed(run, call),
  );
  const times = new Set(calls.map(({ callId }) => callId)).size;
  return times > sentence.times
    ? `${times} calls ran: ${calls.map(({ name }) => name).join(", ")}`
    : undefined;
}

function boundBroken(run: SimulatedOutcome, { of, most }: BoundSentence): string | undefined {
  const { facts, inside } = run;
  if (of === "turns") {
    const turns = facts.filter((fact) => fact.type === "turn-start").length;
    return turns > most ? `it had ${turns} turns` : undefined;
  }
  if (of === "toolCalls") {
    const all = [...facts, ...inside.flatMap((each) => each.facts)];
    const calls = all.filter((fact) => fact.type === "tool-end" && fact.result.status !== "skipped").length;
    return calls > most ? `it made ${calls} calls` : undefined;
  }
  const used = lateRequest(run, { of, most });
  return used === undefined ? undefined : `a request was made after ${used} were used`;
}
