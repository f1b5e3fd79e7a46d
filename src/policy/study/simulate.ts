import { checkArguments, checkShape, closed } from "../../error/check-shape.ts";
import { asTool as annotatedAs } from "../rules/annotate.ts";
import type { Fact } from "../../event/event.ts";
import { joinLabels, type Label } from "../../message/label.ts";
import { type Message, type ReplyMessage, userMessage } from "../../message/message.ts";
import { namesIn } from "../../schema/property-names.ts";
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

/** An event of a run, live or recorded: what `stream` gives, or what was kept of it. */
export interface RecordedEvent {
  readonly type: string;
  readonly runId?: string;
}

/** A tool as it describes itself. */
export type DescribedTool = Pick<Tool, "name"> &
  Partial<
    Pick<Tool, "input" | "effect" | "parameters" | "trusted" | "resolves" | "secrecy" | "kind" | "origin">
  >;

/** Facts that the events of a run do not tell. */
export interface SimulateOptions {
  /** The tools of the agent: what they do, what their arguments are, which are trusted. Left out, every effect is undeclared. */
  readonly tools?: readonly DescribedTool[];
  /** The user's words, where they were not the input of the run. */
  readonly intent?: string;
}

/** A call of the run, and what a policy says of it. */
export interface SimulatedCall {
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly arguments: Json;
  /** The decision of the run. */
  readonly was: Decision;
  /** The decision of this policy. */
  readonly would: Decision;
  /** True if the verdict is another one. */
  readonly differs: boolean;
}

/** The policy that is tried out on a run. */
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
 * Decides anew about each call that the policy of a run decided, given what the run knew then. Each call is
 * judged as it was made: what the model would have done after another decision, nobody knows. Runs inside the
 * run are runs of their own and left out, and so are calls that no policy was asked about (allow-list,
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
      count(scene, scene.asked.get(event.callId)); // what was edited is decided about anew
  }
  return judged;
}

/** A fact as runs tell it. What was recorded is taken for what its type says: nothing of it is checked. */
type Told<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

function is<Type extends Fact["type"]>(event: RecordedEvent, type: Type): event is Told<Type> {
  return event.type === type;
}

/** The knowledge at some moment of the run. */
interface Scene extends Simulated {
  readonly listed: ReadonlyMap<string, DescribedTool>;
  intent: Intent;
  learned: Learned;
  /** The messages of the turn that goes on: the model has not seen their results. */
  pending: Message[];
  readonly ran: Map<string, number>;
  readonly asked: Map<string, string>;
  /** The call about which the last event said that the policy asks. */
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

/** The result of a call, with the label of this policy's annotation, else that of the record. */
function resultMessage(
  { listed, tools, learned, called }: Scene,
  { callId, name, arguments: args, result }: Told<"tool-end" | "knowledge-used">,
): Message {
  called.add(`tool/${name}`);
  const tool = listed.get(name);
  const { trusted, secrecy } = (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? {};
  const isOfTool = result.status === "ok" || result.status === "error"; // else the runtime said it
  const said = isOfTool && (trusted !== undefined || secrecy !== undefined);
  const own = shownForm(asTool(tool, name), result);
  const label = said
    ? resultLabel(own, labelOfArguments(learned, args, tool?.input?.jsonSchema))
    : result.label;
  return { role: "tool", callId, name, ...result, ...(label === undefined ? {} : { label }) };
}

/** Only what these tools say of themselves is ever read: none of them is called. */
function asAllowList({ listed }: Pick<Scene, "listed">): AllowList {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what else a tool has is not looked at
  return { skill: "simulate", tools: listed as ReadonlyMap<string, Tool> };
}

function asTool(tool: DescribedTool | undefined, name: string): Tool {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what else a tool has is not looked at
  return { effect: "undeclared", ...tool, name } as Tool;
}

/** Decided before any policy was asked, or in place of one. */
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
  const { effect = "undeclared", parameters = {}, kind, input } = scene.listed.get(name) ?? {};
  const learned = { ...scene.learned, label: withOthers(scene, decision.evidence?.label) };
  const calls = (tool: string): number => scene.ran.get(tool) ?? 0;
  return {
    agent: scene.intent.agent,
    skill: scene.intent.skill,
    turn,
    callId,
    tool: name,
    effect,
    arguments: args,
    parameters,
    ...(input === undefined ? {} : namesIn(input.jsonSchema)),
    ...(kind === undefined ? {} : { kind }),
    knows: { ...knowing(scene.intent, learned), calls },
  };
}

/** The label, joined with sources from before the run, which stand in the recorded label alone. */
function withOthers({ learned, called }: Scene, recorded: Label | undefined): Label {
  const sources = recorded?.sources.filter((source) => !called.has(source)) ?? [];
  return recorded === undefined || sources.length === 0
    ? learned.label
    : joinLabels(learned.label, { ...recorded, sources });
}

function count({ ran }: Scene, tool: string | undefined): void {
  if (tool !== undefined) ran.set(tool, (ran.get(tool) ?? 0) + 1);
}

/** Counts a call that the policy asked about, where nobody was asked then: a person had agreed to it before. */
function noteAgreed(scene: Scene, event: RecordedEvent): void {
  const { asking, asked } = scene;
  scene.asking = undefined;
  if (asking === undefined) return;
  const isQuestion = is(event, "approval-request") || is(event, "approval-answer");
  if (!isQuestion || event.callId !== asking) count(scene, asked.get(asking));
}
