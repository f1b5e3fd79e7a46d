import { checkArguments, checkShape, closed } from "../../error/check-shape.ts";
import { asTool as annotatedAs } from "../rules/annotate.ts";
import type { Fact } from "../../event/event.ts";
import { joinLabels, type Label } from "../../message/label.ts";
import { type Message, type ReplyMessage, userMessage } from "../../message/message.ts";
import { namesIn } from "../../schema/property-names.ts";
import { parsedCall } from "../../tool/default-values.ts";
import type { Tool } from "../../tool/tool.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { Json } from "../../util/json.ts";
import { list, object, optional, shapeOf, string } from "../../util/shape.ts";
import type { AllowList } from "../allow-list.ts";
import type { CallRequest, Decision, Policy } from "../decision.ts";
import { type Intent, noIntent } from "../knowledge/intent.ts";
import { knowing, labelOfArguments, learn, type Learned, learnIntent } from "../knowledge/learned.ts";
import { resultLabel, shownForm } from "../knowledge/result-label.ts";
import type { Annotation } from "../rules/rule.ts";

/** An event of a run, live or recorded: from `stream`, or kept from it. */
export interface RecordedEvent {
  readonly type: string;
  readonly runId?: string;
}

/** A tool, with its own declarations. */
export type DescribedTool = Pick<Tool, "name"> &
  Partial<
    Pick<
      Tool,
      | "input"
      | "effect"
      | "parameters"
      | "trusted"
      | "resolves"
      | "secrecy"
      | "kind"
      | "origin"
      | "hasOwnSchema"
    >
  >;

/** Facts that the events of a run do not have. */
export interface SimulateOptions {
  /** The tools of the agent: their effects, their arguments, and whether they are trusted. Left out, every effect is undeclared. */
  readonly tools?: readonly DescribedTool[];
  /** The user's words, if they were not the input of the run. */
  readonly intent?: string;
}

/** A call of the run, and a policy's decision about it. */
export interface SimulatedCall {
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly arguments: Json;
  /** The decision of the run. */
  readonly was: Decision;
  /** The decision of this policy. */
  readonly would: Decision;
  /** True if the verdicts differ. */
  readonly differs: boolean;
}

/** The policy that is tried on a run. */
export interface Simulated {
  readonly policy: Policy;
  readonly tools: Readonly<Record<string, Annotation>>;
  readonly constants: readonly string[];
}

const recorded = shapeOf(
  "the events of a run, in a list",
  (value) => typeof value === "object" && value !== null && Symbol.iterator in value,
);
const anEvent = object({ type: string });
const shape = closed({
  tools: optional(list(object({ name: string }), "a list of tools")),
  intent: optional(string),
});

/**
 * Decides again about each call that the policy of a run decided, with the run's knowledge at that time. Each call is
 * judged as it was made: what the model would have done after another decision is unknown. Runs inside the
 * run are separate runs and left out, and so are calls that no policy was asked about (allow-list,
 * arguments, hooks, constraints), and plans that were judged by their acts. No call counts as planned.
 */
export function simulateRun(
  simulated: Simulated,
  run: Iterable<RecordedEvent>,
  options: SimulateOptions,
): readonly SimulatedCall[] {
  checkArguments("simulate()", { run, options }, { run: recorded, options: shape });
  const scene = sceneOf(simulated, options);
  const judged: SimulatedCall[] = [];
  let runId: string | undefined;
  for (const event of run) {
    checkShape("An event of simulate()", event, anEvent);
    runId ??= event.runId;
    if (event.runId !== runId) continue;
    noteAgreed(scene, event);
    if (is(event, "run-start")) begin(scene, options.intent ?? wordsOf(event.input));
    if (is(event, "message-end") && event.message !== undefined) nextTurn(scene, event.message);
    if (is(event, "tool-end") || is(event, "knowledge-used")) scene.pending.push(resultMessage(scene, event));
    if (is(event, "call-decided")) judged.push(...judge(scene, event));
    if (is(event, "approval-answer") && event.approved && event.edited === undefined)
      count(scene, scene.asked.get(event.callId)); // an edited call is decided about again
  }
  return judged;
}

/** A fact of a run. Recorded facts are taken to be of their type, unchecked. */
type Told<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

function is<Type extends Fact["type"]>(event: RecordedEvent, type: Type): event is Told<Type> {
  return event.type === type;
}

/** The knowledge at some point of the run. */
interface Scene extends Simulated {
  readonly listed: ReadonlyMap<string, DescribedTool>;
  intent: Intent;
  learned: Learned;
  /** The messages of the current turn: the model has not seen its results. */
  pending: Message[];
  readonly ran: Map<string, number>;
  readonly asked: Map<string, string>;
  /** The call that the policy asks about, by the last event. */
  asking: string | undefined;
  readonly called: Set<string>;
}

function sceneOf(simulated: Simulated, { tools = [] }: SimulateOptions): Scene {
  const intent: Intent = { ...noIntent("simulate"), constants: simulated.constants };
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  const annotated = Object.entries(simulated.tools).map(([name, annotation]) => {
    return [name, { ...named.get(name), ...annotatedAs(annotation), name }] as const;
  });
  const listed = new Map<string, DescribedTool>([...named, ...annotated]);
  return {
    ...simulated,
    listed,
    intent,
    learned: learnIntent(intent, asAllowList({ listed })),
    pending: [],
    ran: new Map(),
    asked: new Map(),
    asking: undefined,
    called: new Set(),
  };
}

function wordsOf(input: Json): string {
  return typeof input === "string" ? input : canonicalJson(input);
}

function begin(scene: Scene, text: string): void {
  scene.intent = { ...scene.intent, text };
  scene.learned = learnIntent(scene.intent, asAllowList(scene));
  scene.pending = [userMessage(text)];
}

function nextTurn(scene: Scene, reply: ReplyMessage): void {
  scene.learned = learn(scene.learned, scene.pending, asAllowList(scene));
  scene.pending = [reply];
}

/** The result of a call, labelled by this policy's annotation, or else by the record. */
function resultMessage(
  { listed, tools, learned, called }: Scene,
  { callId, name, arguments: args, result }: Told<"tool-end" | "knowledge-used">,
): Message {
  called.add(`tool/${name}`);
  const tool = listed.get(name);
  const { trusted, secrecy } = (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? {};
  const isOfTool = result.status === "ok" || result.status === "error"; // otherwise the runtime wrote it
  const said = isOfTool && (trusted !== undefined || secrecy !== undefined);
  const own = shownForm(asTool(tool, name), result);
  const label = said ? resultLabel(own, labelOfArguments(learned, args, tool)) : result.label;
  return { role: "tool", callId, name, ...result, ...(label === undefined ? {} : { label }) };
}

/** The listed tools as an allow-list. Only their declarations are read: none of them is called. */
function asAllowList({ listed }: Pick<Scene, "listed">): AllowList {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what else a tool has is not looked at
  return { skill: "simulate", tools: listed as ReadonlyMap<string, Tool> };
}

function asTool(tool: DescribedTool | undefined, name: string): Tool {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what else a tool has is not looked at
  return { effect: "undeclared", ...tool, name } as Tool;
}

/** Rules that decided before any policy was asked, or in place of one. */
const otherRules: ReadonlySet<string> = new Set([
  "allow-list",
  "arguments",
  "hook",
  "hook-failed",
  "max-calls",
  "only-after",
  "plan",
  "read-on",
  "repeats",
]);

function judge(scene: Scene, event: Told<"call-decided">): readonly SimulatedCall[] {
  const { turn, callId, name, arguments: args, decision: was } = event;
  if (otherRules.has(was.rule)) return [];
  const would = scene.policy(requestOf(scene, event));
  if (was.verdict === "allow") count(scene, name);
  if (was.verdict === "ask") {
    scene.asked.set(callId, name);
    scene.asking = callId;
  }
  return [{ turn, callId, tool: name, arguments: args, was, would, differs: was.verdict !== would.verdict }];
}

function requestOf(
  scene: Scene,
  { turn, callId, name, arguments: args, decision }: Told<"call-decided">,
): CallRequest {
  const {
    effect = "undeclared",
    parameters = {},
    kind,
    input,
    origin,
    hasOwnSchema,
  } = scene.listed.get(name) ?? {};
  const learned = { ...scene.learned, label: withOthers(scene, decision.evidence?.label) };
  const calls = (tool: string): number => scene.ran.get(tool) ?? 0;
  return {
    agent: scene.intent.agent,
    skill: scene.intent.skill,
    turn,
    callId,
    tool: name,
    effect,
    parameters,
    ...(input === undefined
      ? { arguments: args }
      : { ...namesIn(input.jsonSchema), ...parsedCall({ input, origin, hasOwnSchema }, args) }), // no event has what the tool got
    ...(kind === undefined ? {} : { kind }),
    knows: { ...knowing(scene.intent, learned), calls },
  };
}

/** The label, joined with sources from before the run, which only the recorded label has. */
function withOthers({ learned, called }: Scene, recorded: Label | undefined): Label {
  const sources = recorded?.sources.filter((source) => !called.has(source)) ?? [];
  return recorded === undefined || sources.length === 0
    ? learned.label
    : joinLabels(learned.label, { ...recorded, sources });
}

function count({ ran }: Scene, tool: string | undefined): void {
  if (tool !== undefined) ran.set(tool, (ran.get(tool) ?? 0) + 1);
}

/** Counts a call that the policy asked about without a question to a person, who had agreed to it before. */
function noteAgreed(scene: Scene, event: RecordedEvent): void {
  const { asking, asked } = scene;
  scene.asking = undefined;
  if (asking === undefined) return;
  const isQuestion = is(event, "approval-request") || is(event, "approval-answer");
  if (!isQuestion || event.callId !== asking) count(scene, asked.get(asking));
}
