import { agentShape } from "../agent/agent-shape.ts";
import { agentsOption } from "../agent/agents-option.ts";
import { checkAlone, readInput } from "../agent/around-run.ts";
import { unknownSkill } from "../agent/choose-skill.ts";
import { checkRunTools } from "../agent/check-definition.ts";
import { aboutOf, type Runnable } from "../agent/runnable.ts";
import { closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { RunOptions } from "../agent/run-options.ts";
import type { Host } from "../journal/host.ts";
import { handedOver } from "../run/secrets.ts";
import type { Capability } from "../tool/capability.ts";
import { type Json, toJson, wholeJson } from "../util/json.ts";
import { sameJson } from "../util/same-json.ts";
import { filled, fits, kindOf, list, oneOf, optional, record, type Shape, string } from "../util/shape.ts";
import { type CallerTool, withCallerTools } from "./caller-tools.ts";
import type { DurableOptions } from "./durable-options.ts";
import { keepsConversation } from "./run-of.ts";
import { protocol } from "./protocol.ts";
import type { NewRun, StoredRun } from "./run-store.ts";

/** Options of a run that is started: plain data, because another process may carry it out. */
export interface StartOptions {
  /** Any text that is unique among runs. Default: a new id. */
  readonly id?: string;
  /** The id of the session that the run belongs to. */
  readonly session?: string;
  /**
   * The fate of questions that other runs of the session wait for. `keep` (default): they stand, this run goes on beside those runs, and the session is told of
   * them when they have ended. `after`: this run begins when the earlier runs of the session have ended, and its model is told what they did.
   * `withdraw`: they are answered with no, because the user has said something else; questions that name who may answer stand.
   */
  readonly whenWaiting?: "keep" | "after" | "withdraw";
  /** The skill to use, instead of choosing one. */
  readonly skill?: string;
  /** Instructions for the model after the agent's own, in this run only. */
  readonly instructions?: string;
  /**
   * The wish of the user, in the user's own words, if the input holds more than that. Default for a run that a call starts: those of the run around the
   * call, because a model may have written the input.
   */
  readonly intent?: string;
  /** The only tools of the skill that this run may call. */
  readonly tools?: readonly string[];
  /** The most capabilities that this run may use, whatever the agent grants. */
  readonly ceiling?: readonly Capability[];
  /** Tools added to the agent's own, whose calls wait for a signal from the caller who began the run. */
  readonly callerTools?: readonly CallerTool[];
}

/** The options of a run that is begun. */
export const startShape: Shape<unknown> = closed({
  id: optional(filled),
  session: optional(filled),
  whenWaiting: optional(oneOf("keep", "after", "withdraw")),
  skill: optional(string),
  instructions: optional(string),
  intent: optional(string),
  tools: optional(list(string, "a list of names")),
  ceiling: optional(list(record, "a list of capabilities")),
  callerTools: optional(list(record, "a list of tools as data")),
});

interface WantedRun<Input> {
  readonly input: Input;
  readonly options: StartOptions & { readonly id: string };
}

/** A run as its caller wants it begun, with the sessions kept here. @throws WritError `input-invalid`, `definition-invalid`, `tool-unknown`, `skill-unknown` */
export async function newRunOf<Input>(
  agent: Runnable<Input>,
  { input: given, options }: WantedRun<Input>,
  { sessions, host = {} }: Pick<DurableOptions, "sessions"> & { readonly host?: Pick<Host, "powers"> } = {},
): Promise<NewRun> {
  checkOptions(agent, options);
  const { name } = agent;
  const { id, session } = options;
  const about = aboutOf(agent);
  const schema = about?.input;
  const asked = schema === "various" ? undefined : (await readInput(given, { name, schema })).asked;
  const isInSession = session !== undefined && sessions?.(session) !== undefined && keepsConversation(agent);
  if (asked !== undefined && isInSession) checkAlone(asked, options, name);
  const input = plain(given, name);
  const kept = toJson(keptOptions(options, host));
  if (!kept.ok) throw new WritError("input-invalid", { name, issues: kept.reason });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the JSON of an object is one
  const handed = handedOver({ input, options: kept.value as NewRun["options"] }, host);
  const run = { id, agent: name, ...handed, protocol };
  return session === undefined ? run : { ...run, session };
}

/** The options that the worker of the run has to know. */
function keptOptions(
  { id: _id, session: _session, whenWaiting, intent, ...others }: StartOptions,
  { powers }: Pick<Host, "powers">,
): StartOptions & Pick<RunOptions, "label"> {
  const around = powers?.current()?.from;
  const said = intent ?? around?.intent.text;
  return {
    ...others,
    ...(said === undefined ? {} : { intent: said }),
    ...(around === undefined ? {} : { label: around.label }),
    ...(whenWaiting === "after" ? { whenWaiting } : {}),
  };
}

/** @throws WritError `definition-invalid`, `tool-unknown`, `skill-unknown`, `run-option-unusable` */
function checkOptions(agent: Runnable, options: StartOptions): void {
  if (!fits(agentShape, agent)) {
    const reason = `its first argument must be an agent, got ${kindOf(agent)}.`;
    throw new WritError("definition-invalid", { where: "start()", reason });
  }
  const about = aboutOf(agent);
  const { callerTools = [], skill } = options;
  if (callerTools.length > 0) withCallerTools(agent, callerTools); // throws if they are wrong
  if (about === undefined) return;
  const callers = callerTools.map(({ name }) => name);
  checkRunTools(options, agent.name, new Set([...about.tools, ...callers]));
  if (skill === undefined) return;
  if (about.keepsNoConversation === true) throw agentsOption(agent.name, "skill");
  if (about.skills?.includes(skill) === false) throw unknownSkill(agent, skill, about.skills);
}

/** The input as another process will read it. */
function plain(given: unknown, name: string): Json {
  const json = wholeJson(given);
  if (!json.ok) throw new WritError("input-invalid", { name, issues: json.reason });
  return json.value;
}

const parts = ["agent", "input", "session", "options"] as const;

/** The run stored under an id, if it is the wanted one. A call that starts it again may have read more since. @throws WritError `run-differs` */
export function sameRun(wanted: NewRun, stored: StoredRun): StoredRun {
  const [one, other] = [withoutLabel(wanted), withoutLabel(stored)];
  const part = parts.find((each) => !sameJson(one[each] ?? null, other[each] ?? null));
  if (part === undefined) return stored;
  throw new WritError("run-differs", { id: wanted.id, part });
}

function withoutLabel({ options: { label: _label, ...options }, ...run }: NewRun): NewRun {
  return { ...run, options };
}
