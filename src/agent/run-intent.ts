import { WritError } from "../error/writ-error.ts";
import type { Gate, PlannedGate } from "../run/gate.ts";
import { withoutSecrets } from "../run/secrets.ts";
import type { Checkpoint } from "../run/checkpoint.ts";
import { joinLabels, type Label, trustedLabel, untrustedFrom } from "../message/label.ts";
import { contentText, labelOf, type Message, type UserMessage, userMessage } from "../message/message.ts";
import { heldTo } from "../policy/rules/annotate.ts";
import {
  changedParts,
  type Digest,
  type HeldTo,
  type Intent,
  type IntentParts,
  makeIntent,
  rehashed,
} from "../policy/knowledge/intent.ts";
import { policyIdentity } from "../policy/rules/identity.ts";
import { capabilityText } from "../tool/capability.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { type Json, jsonOrNull } from "../util/json.ts";
import { lazy, remembered } from "../util/remembered.ts";
import type { ReadQuestion } from "./question.ts";
import type { AgenticPlan } from "./plan-skill.ts";
import type { AgentPlan } from "./plan.ts";
import type { RunFrame } from "./runnable.ts";
import type { RunOptions } from "./run-options.ts";

export interface Declaring {
  readonly plan: AgentPlan;
  readonly skill: AgenticPlan;
  readonly base: RunFrame;
  readonly options: RunOptions;
  readonly input: Json;
  readonly asked?: ReadQuestion;
  /** The intent of the previous run of its session. */
  readonly previous?: string;
  readonly from?: Checkpoint;
}

/**
 * Declares the intent of a run: the words of the user, or the words that the caller named as the user's. A run inside
 * another one has that run's intent, whatever its input, because a model wrote that.
 *
 * @throws WritError `intent-redeclared`
 */
export function declareIntent(declaring: Declaring): Intent {
  const { plan, skill, base, options, previous, from } = declaring;
  const { around, host } = base;
  const { constants } = skill.gate.own;
  const linked = around?.intent.hash ?? previous ?? from?.intent.previous;
  const parts: IntentParts = {
    text: wantedText(declaring),
    constants: [...(around?.intent.constants ?? []), ...constants],
    agent: plan.name,
    skill: skill.name,
    held: identityOf(plan)(skill)(host.digest),
    previous: linked,
  };
  const intent = makeIntent(parts, host.digest);
  if (from === undefined || intent.hash === from.intent.hash) return intent;
  checkUnchanged(intent, from, options);
  return makeIntent({ ...parts, previous: from.intent.hash }, host.digest);
}

/** @throws WritError `intent-redeclared` */
function wantedText({ base, options, input, asked, from }: Declaring): string {
  const { around, runId, host } = base;
  if (options.intent !== undefined && (around !== undefined || from !== undefined))
    throw new WritError("intent-redeclared", { runId });
  return (
    around?.intent.text ??
    (options.intent === undefined ? undefined : withoutSecrets(options.intent, host)) ??
    from?.intent.text ??
    asked?.said ??
    contentText(input)
  );
}

/** True if a kept intent still has the hash that was made of it. */
export function isWhole(intent: Intent, digest: Digest): boolean {
  return rehashed(intent, digest).hash === intent.hash;
}

/** Checks that an intent is unchanged. A met bound may be raised; any other change must be declared. @throws WritError `intent-changed` */
function checkUnchanged(
  intent: Intent,
  { intent: was, status }: Checkpoint,
  { accept = [] }: RunOptions,
): void {
  const isBound = status === "suspended" || status === "exhausted";
  const meant = new Set<string>(isBound ? [...accept, "limits"] : accept);
  const changed = changedParts(was, intent).filter((part) => !meant.has(part));
  if (changed.length === 0) return;
  throw new WritError("intent-changed", {
    changed: changed.join(" and "),
    accept: changed.map((part) => `"${part}"`).join(", "),
  });
}

/** The hashes of what binds a run of a skill, made on first use. Depends on: the agent's limits and grants; the skill's gate; the digest of the host. */
const identityOf = remembered(({ limits, grants }: AgentPlan) =>
  remembered(({ gate: { policy, allowed } }: AgenticPlan) => {
    // Sorted by name: a server may list its tools in another order each time.
    const tools = (): readonly object[] =>
      [...allowed.tools.values()]
        .map(({ input, output, needs = [], ...tool }) => ({
          name: tool.name,
          description: tool.description,
          schema: input.jsonSchema,
          output: output?.jsonSchema,
          effect: tool.effect,
          needs: needs.map(capabilityText),
          parameters: tool.parameters,
          trusted: tool.trusted,
          resolves: tool.resolves,
          secrecy: tool.secrecy,
          constraints: tool.constraints,
          origin: tool.origin,
        }))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return remembered((digest: Digest): HeldTo => ({
      policy: lazy(() => digest(policyIdentity(policy))),
      tools: lazy(() =>
        digest(canonicalJson(jsonOrNull({ tools: tools(), grants: grants.map(capabilityText) }))),
      ),
      limits: lazy(() => digest(canonicalJson(jsonOrNull(limits)))),
    }));
  }),
);

/** The gate of one run. */
export function gateOf(
  { own, agent, allowed, policy }: PlannedGate,
  { parent }: RunFrame,
  { intent, powers }: Pick<Gate, "intent" | "powers">,
): Gate {
  if (parent === undefined) return { agent, allowed, policy, intent, powers, said: own.said };
  const said = [...(parent.said ?? []), ...own.said];
  const narrowed = heldTo(allowed, parent.said);
  return { agent, allowed: narrowed, policy, intent, powers, said, outer: parent.policy };
}

/**
 * The question as a message to the model. Its label says whether a model wrote it, and whether the caller named
 * the user's words separately.
 */
export function askedMessage({ input, asked, base }: Questioned, options: RunOptions): UserMessage {
  const message = asked?.message ?? userMessage(contentText(input));
  const own = inputLabel(base, options);
  const label = message.label === undefined ? own : joinLabels(message.label, own);
  return label === trustedLabel ? message : { ...message, label };
}

/**
 * The messages before a question. They are no better than the input that they came in: a tool may hand over what it fetched, and a caller may name the user's
 * words separately. In an input that is trusted and public they stay as they are.
 */
export function saidBefore(
  { before }: ReadQuestion,
  { base, options }: Pick<Declaring, "base" | "options">,
): readonly Message[] {
  const own = inputLabel(base, options);
  if (own.integrity === "trusted" && own.secrecy === "public") return before;
  return before.map((message) =>
    message.role === "system" ? message : { ...message, label: joinLabels(labelOf(message), own) },
  );
}

interface Questioned {
  readonly input: Json;
  readonly asked?: ReadQuestion;
  readonly base: RunFrame;
}

/**
 * The label of a run's input: from the user, from the run around it, or, if the caller named the user's words
 * separately, from the caller; joined with the label that the caller gives it.
 */
export function inputLabel({ parent, around }: RunFrame, { intent, label }: RunOptions): Label {
  const outer = { ...trustedLabel, sources: [`agent/${parent?.agent ?? "around"}`] };
  const plain = intent === undefined ? trustedLabel : untrustedFrom("input");
  const own = around === undefined ? plain : joinLabels(around.label, outer);
  return label === undefined ? own : joinLabels(own, label);
}
