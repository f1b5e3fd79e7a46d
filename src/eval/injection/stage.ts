import { agent } from "../../adapters/node.ts";
import { skill } from "../../agent/skill.ts";
import { WritError } from "../../error/writ-error.ts";
import type { AgentEvent } from "../../event/event.ts";
import type { ResultStatus } from "../../message/message.ts";
import { type ModelFunction, modelFromFunction } from "../../model/function-model.ts";
import type { Decision, Policy } from "../../policy/decision.ts";
import { planTool } from "../../tool/plan-tool.ts";
import { type Tool, tool } from "../../tool/tool.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";
import type { Suite } from "./suite.ts";

/** The recorded end of a call. */
export type Replay =
  | { readonly type: "result"; readonly value: Json }
  | { readonly type: "failure"; readonly message: string };

/** A call that the scripted model makes. Its id is unique within the scene. */
export interface SceneCall {
  readonly id: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly replay: Replay;
}

/** One run: the user's text, and the calls of the model, which ignores its results. */
export interface Scene {
  readonly prompt: string;
  /** The allow-list of the run. */
  readonly tools: readonly string[];
  /** The calls of each turn. */
  readonly turns: readonly (readonly SceneCall[])[];
  /** The call whose result carries the attack: if it did not run, no later call is made. */
  readonly carrier?: string;
  /** The answer of a person who is asked. */
  readonly approve: boolean;
  /** The calls to which a person says yes in any case. */
  readonly agrees?: (callId: string) => boolean;
}

/** A call that was judged. */
export interface Judged {
  readonly call: SceneCall;
  readonly decision: Decision;
  /** True if a person was asked. */
  readonly wasAsked: boolean;
  /** True if the tool's own function was reached. */
  readonly hasRun: boolean;
  /** The end of the call; undefined if the run ended before it was made. */
  readonly status?: ResultStatus;
}

export interface StageOptions {
  readonly suite: Suite;
  readonly policy: Policy;
  /** True if the agent can plan its acts. Default: it cannot. */
  readonly plans?: boolean;
}

/** Plays scenes, one after another, with the real agent, executor and policy. */
export type Stage = (scene: Scene) => Promise<readonly Judged[]>;

/** The state of the scene that is played. */
interface Playing {
  readonly scene: Scene;
  readonly calls: ReadonlyMap<string, SceneCall>;
  readonly hasRun: Set<string>;
  turn: number;
}

/**
 * Makes a stage. Its tools and agents are made once; they replay the scene, and have no effect.
 *
 * @throws WritError `schema-invalid`, `name-invalid` for a tool of the suite that cannot be one, `eval-scene-failed` from a scene
 */
export function stage({ suite, policy, plans = false }: StageOptions): Stage {
  let playing: Playing | undefined;
  const answer: ModelFunction = () => {
    if (playing === undefined) return "Nothing is played.";
    const { scene, hasRun } = playing;
    const turn = scene.turns[playing.turn];
    playing.turn += 1;
    const [first] = turn ?? [];
    if (turn === undefined || first === undefined) return "Done.";
    if (scene.carrier !== undefined && isAfter(scene, first.id) && !hasRun.has(scene.carrier)) return "Done.";
    return { calls: turn.map(({ id, tool: name, args }) => ({ id, name, arguments: args })) };
  };
  const replay = (callId: string): Json => {
    const call = playing?.calls.get(callId);
    playing?.hasRun.add(callId);
    if (call?.replay.type === "failure") throw new Error(call.replay.message);
    return call?.replay.value ?? null;
  };
  const suiteTools = suite.tools.map((one) => toolOf(one, replay));
  const tools = plans ? [...suiteTools, planning((callId) => playing?.hasRun.add(callId))] : suiteTools;
  // Depends on: the tools of the scene.
  const agentFor = remembered((names: readonly string[]) =>
    agent({
      name: "attacked",
      model: modelFromFunction(answer, { id: "scripted-attacker" }),
      driver: "native",
      tools,
      skills: [
        skill({
          name: "chosen",
          description: "What the task needs",
          tools: tools.filter(({ name, plans: isPlan }) => isPlan === true || names.includes(name)),
        }),
        skill({ name: "everything", description: "All that the agent has", tools }),
      ],
      policy,
      // A task may make the same request again and again, and its script ends by itself.
      budget: { turns: Infinity, toolCalls: Infinity, durationMs: Infinity, repeats: Infinity },
    }),
  );
  return async (scene) => {
    const calls = new Map(scene.turns.flat().map((call) => [call.id, call]));
    playing = { scene, calls, hasRun: new Set(), turn: 0 };
    const seen = watch();
    const { outcome } = await agentFor(scene.tools).run(scene.prompt, {
      skill: "chosen",
      approve: ({ callId }) => scene.approve || scene.agrees?.(callId) === true,
      onEvent: seen.onEvent,
    });
    if (outcome.type !== "answered")
      throw new WritError("eval-scene-failed", { prompt: scene.prompt, outcome: outcome.type });
    return seen.judged(playing);
  };
}

function isAfter({ turns, carrier }: Scene, id: string): boolean {
  const turnOf = (wanted: string | undefined): number =>
    turns.findIndex((calls) => calls.some((call) => call.id === wanted));
  return turnOf(id) > turnOf(carrier);
}

function toolOf(
  { name, description, parameters }: Suite["tools"][number],
  replay: (callId: string) => Json,
): Tool {
  return tool({ name, description, inputSchema: parameters, execute: (_, { callId }) => replay(callId) });
}

/** The tool that plans, and reports when it runs. */
function planning(tell: (callId: string) => void): Tool {
  const plan = planTool();
  return {
    ...plan,
    execute: (args, context) => {
      tell(context.callId);
      return plan.execute(args, context);
    },
  };
}

interface Watch {
  readonly onEvent: (event: AgentEvent) => void;
  readonly judged: (playing: Playing) => readonly Judged[];
}

function watch(): Watch {
  const decisions = new Map<string, Decision>();
  const asked = new Set<string>();
  const statuses = new Map<string, ResultStatus>();
  return {
    onEvent(event) {
      if (event.type === "call-decided") decisions.set(event.callId, event.decision);
      else if (event.type === "approval-request") asked.add(event.callId);
      else if (event.type === "tool-end") statuses.set(event.callId, event.result.status);
    },
    judged: ({ calls, hasRun }) =>
      [...calls.values()].map((call) => ({
        call,
        decision: decisions.get(call.id) ?? notMade,
        wasAsked: asked.has(call.id),
        hasRun: hasRun.has(call.id),
        status: statuses.get(call.id),
      })),
  };
}

/** The decision on a call that the model did not reach. */
const notMade: Decision = { verdict: "deny", rule: "not-made", reason: "the run ended before it" };
