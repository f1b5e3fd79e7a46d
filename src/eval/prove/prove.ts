import { agentShape } from "../../agent/agent-shape.ts";
import { checkArguments, closed } from "../../error/check-shape.ts";
import { anything, list, optional, string } from "../../util/shape.ts";
import type { Agent } from "../../agent/agent.ts";
import { isWritError, messageOf } from "../../error/writ-error.ts";
import type { Tool } from "../../tool/tool.ts";
import { type Decided, decideBound, decidePowers, spenderOf } from "./bounds.ts";
import { checkNames } from "./names.ts";
import { proposed } from "./propose.ts";
import { played, type Scene, scenesOf } from "./scene.ts";
import { type AgentSource, powersScript, sceneScript, spendingScript, usualSource } from "./script.ts";
import { checkSentences, type Sentence, sentenceText } from "./sentence.ts";
import { type ProvenAgent, subjectOf } from "./subject.ts";
import { type CallSentence, isAboutCalls, type Suspect, suspectsOf } from "./suspects.ts";

/** A sentence with its verdict. */
export interface ProvenSentence {
  readonly sentence: Sentence;
  /** The sentence in words. */
  readonly text: string;
  /** `proved`: no output of a model breaks it, as long as the assumptions hold. `broken`: a run was found that breaks it. `undecided`: neither. */
  readonly verdict: "proved" | "broken" | "undecided";
  readonly because: string;
  /** A program that plays the run that broke it, and exits with 1. */
  readonly script?: string;
  /** The events of that run, one per line. */
  readonly trace?: string;
}

/** The verdicts about every run of an agent. */
export interface GuaranteeSheet {
  readonly agent: string;
  readonly sentences: readonly ProvenSentence[];
  /** The facts about the agent's code that the proofs take for granted. */
  readonly assumptions: readonly string[];
}

/** Options of {@link prove}. */
export interface ProveOptions {
  /** The sentences. Default: those that are proposed for such an agent. */
  readonly sentences?: readonly Sentence[];
  /** The lines of a script that import the agent as `agent`. Default: the default export of `./agent.ts`. */
  readonly source?: AgentSource;
}

const optionsShape = closed({
  sentences: anything,
  source: optional(closed({ lines: list(string, "a list of lines") })),
});

/**
 * Decides sentences about every run of an agent, whatever its model says, from its skills, policy, labels, constraints and budgets. Experimental. It asks no
 * model and runs no tool of the agent, except those that only compute. For each sentence that it calls broken it has played a run that breaks it; a sentence
 * that it can neither prove nor break stays undecided.
 *
 * @throws WritError `definition-invalid`, `tool-unknown`, `capability-invalid` for sentences that do not apply to this agent
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { fakeTool, prove } from "writ/testing";
 *
 * const clerk = agent({ name: "clerk", model: () => "", tools: [fakeTool("refund", "done", { effect: "irreversible" })] });
 * const { sentences } = await prove(clerk, { sentences: [{ type: "bound", of: "turns", most: 8 }] });
 * console.log(sentences[0]?.verdict); // "proved"
 * ```
 */
export async function prove(agent: Agent, options: ProveOptions = {}): Promise<GuaranteeSheet> {
  checkArguments("prove()", { agent, options }, { agent: agentShape, options: optionsShape });
  const subject = subjectOf(agent);
  const { sentences = proposed(subject), source = usualSource } = options;
  checkSentences(`prove() of "${agent.name}"`, sentences);
  for (const sentence of sentences) checkNames(sentence, subject);
  const decided: ProvenSentence[] = [];
  for (const sentence of sentences) decided.push(await decide(sentence, subject, source));
  return { agent: subject.name, sentences: decided, assumptions: assumptionsOf(subject) };
}

async function decide(
  sentence: Sentence,
  subject: ProvenAgent,
  source: AgentSource,
): Promise<ProvenSentence> {
  const { scene, ...found } = await decidedBy(sentence, subject);
  const known = { sentence, text: sentenceText(sentence), ...found };
  if (found.verdict !== "broken") return known;
  if (scene !== undefined) return { ...known, script: sceneScript(sentence, scene, source) };
  if (sentence.type === "bound")
    return { ...known, script: spendingScript(sentence, source, spenderOf(subject)) };
  if (sentence.type === "powers") return { ...known, script: powersScript(sentence, found.because, source) };
  throw new Error("a sentence about calls is broken by a scene");
}

function decidedBy(sentence: Sentence, subject: ProvenAgent): Promise<Decided> | Decided {
  if (isAboutCalls(sentence)) return decideCalls(sentence, subject);
  return sentence.type === "bound" ? decideBound(sentence, subject) : decidePowers(sentence, subject);
}

async function decideCalls(sentence: CallSentence, subject: ProvenAgent): Promise<Decided> {
  const suspects = suspectsOf(sentence, subject);
  const [opaque] = subject.opaque;
  if (suspects.length === 0 && opaque !== undefined)
    return { verdict: "undecided", because: `nobody can look into what runs behind ${opaque}` };
  if (suspects.length === 0)
    return { verdict: "proved", because: "no call that breaks it passes skills, constraints and policy" };
  try {
    for (const { scene, suspect } of someScenes(suspects, subject)) {
      const trace = await played(scene, sentence, subject);
      if (trace !== undefined) return { verdict: "broken", because: reasonOf(suspect), scene, trace };
    }
  } catch (error) {
    if (!isWritError(error)) throw error;
    return {
      verdict: "undecided",
      because: `${reasonFor(suspects)}, and no run can be played: ${messageOf(error)}`,
    };
  }
  return { verdict: "undecided", because: `${reasonFor(suspects)}, and no run was found that shows it` };
}

/** The most scenes that are played for a sentence. */
const mostScenes = 48;

interface SuspectScene {
  readonly scene: Scene;
  readonly suspect: Suspect;
}

function* someScenes(suspects: readonly Suspect[], subject: ProvenAgent): Generator<SuspectScene> {
  const runs = suspects.filter(({ state, way }) => state.path !== undefined && !way.isInside);
  const some = runs.toSorted((one, other) => weightOf(one) - weightOf(other));
  const scenes = some.map((suspect) => ({ suspect, scenes: scenesOf(suspect, subject) }));
  let played = 0;
  // one scene of each suspect in turn: another suspect may show what the first cannot
  for (let left = scenes; left.length > 0 && played < mostScenes;) {
    const next: typeof scenes = [];
    for (const each of left) {
      const scene = each.scenes.next();
      if (scene.done === true) continue;
      next.push(each);
      if (played < mostScenes) yield { scene: scene.value, suspect: each.suspect };
      played += 1;
    }
    left = next;
  }
}

/** The weight by which suspects are sorted: short paths first, and those that an author's code decides last. */
function weightOf({ state, opaque }: Suspect): number {
  return (state.path?.length ?? 0) + (opaque === undefined ? 0 : 100);
}

function reasonFor(suspects: readonly Suspect[]): string {
  return reasonOf(suspects.find(({ opaque }) => opaque === undefined) ?? suspects[0]);
}

function reasonOf(suspect: Suspect | undefined): string {
  if (suspect === undefined) return "";
  const { way, calls, opaque, state } = suspect;
  const [first] = calls;
  const { tool, at } = first ?? {};
  const times = calls.length > 1 ? ` ${calls.length} times` : "";
  const value = at === undefined ? "" : ` with ${at.place.path} ${JSON.stringify(at.value)}`;
  const when = state.label.integrity === "trusted" ? "before words of strangers" : "after words of strangers";
  const told = `in the skill ${way.skill}, ${tool?.name ?? "a tool"} may run${times}${value} ${when}`;
  return opaque === undefined ? told : `${opaque}, so that ${told}`;
}

/** The facts that the proofs take for granted. */
function assumptionsOf({ definition, ways }: ProvenAgent): readonly string[] {
  const { hooks = [], executor, skills = [] } = definition;
  const isPlain = skills.some(({ type }) => type === "plain");
  const has = (is: (tool: Tool) => boolean): boolean =>
    ways.some(({ tools }) => [...tools.values()].some(is));
  return [
    "tools do what they declare and no more: their effects, needs, schemas and readers are true",
    "no result is labelled better than its tool declares",
    "what the caller gives as input, or as `intent`, is the user's own words",
    "a run has the agent's own tools, and none that its caller brings (`callerTools`)",
    ...(has(({ trusted }) => trusted === true)
      ? ["nobody else writes into the results of tools that are `trusted`"]
      : []),
    ...(hooks.length > 0 ? ["what hooks say and give is the author's own"] : []),
    ...(has(({ recover }) => recover !== undefined)
      ? ["recoveries have nothing asked that calls tools: agents that mend are not looked into"]
      : []),
    ...(executor === undefined ? [] : ["the executor runs the calls that it is given, and no others"]),
    ...(isPlain ? ["plain skills are functions of the author's: they are not looked into"] : []),
    "a sentence is about one run: what was read in earlier runs of its session counts by its label",
  ];
}
