import { WritError } from "../error/writ-error.ts";
import { readOutput } from "../hook/read-output.ts";
import { consult, consultNamed } from "../hook/consult.ts";
import { endBy, refusedBy } from "../run/end.ts";
import type { Finished } from "../run/finished.ts";
import type { Host } from "../journal/host.ts";
import { withoutSecrets } from "../run/secrets.ts";
import type { Frame } from "../run/frame.ts";
import type { End } from "../run/end.ts";
import { describeIssues, type ParseResult, type Schema } from "../schema/schema.ts";
import { untilStopped } from "../util/interrupt.ts";
import { type Json, jsonOrNull, toJson, wholeJson } from "../util/json.ts";
import { after, type Maybe, rescue } from "../util/maybe.ts";
import { MadeValue, type ReadQuestion, questionJson, readQuestion } from "./question.ts";
import type { AgentPlan, ChosenSkill } from "./plan.ts";
import type { PlannedSkill } from "./plan-skill.ts";
import type { RunFrame } from "./runnable.ts";

/** The run that the author's hooks are asked about. */
export interface Around {
  readonly plan: AgentPlan;
  readonly base: RunFrame;
  readonly input: Json;
  /** The parts of the input, or the conversation that it is; undefined for plain text, and for an input that a schema takes. */
  readonly asked?: ReadQuestion;
}

/** The input of a run, read. */
export interface ReadInput extends Pick<Around, "input" | "asked"> {}

/** A run that begins, with the input as its caller passed it. */
interface Beginning extends Around {
  readonly given?: unknown;
  readonly host: Host;
}

/**
 * The input that the author's hooks put in place of the original; undefined if they replaced nothing.
 *
 * @throws WritError `hook-failed`, and `input-invalid` for a hook's invalid replacement
 */
export async function askBeforeRun(
  { plan, base, ...begun }: Beginning,
  inside: Frame,
): Promise<ReadInput | undefined> {
  const at = { agent: plan.name, input: shownInput(begun, plan) };
  const question = { place: "beforeRun" as const, at, turn: 0 };
  const answer = await consult(consulting({ plan, base }, inside), question);
  if (answer.input === undefined) return undefined;
  return readInput(answer.input, { name: plan.name, schema: plan.input });
}

/** The input as hooks see it: their replacement is read like the caller's input, so a schema that changes values would change a parsed value once more. */
function shownInput(
  { input, asked, given, host }: Omit<Beginning, "plan" | "base">,
  { input: schema }: AgentPlan,
): Json {
  if (asked !== undefined) return questionJson(asked);
  const json = schema === undefined ? undefined : toJson(given);
  return json?.ok === true ? withoutSecrets(json.value, host) : input;
}

/** The skill after the author's hooks were asked, or the end that they chose. @throws WritError `hook-failed`, `skill-unknown` */
export async function askBeforeSkill(
  { skill, fact }: ChosenSkill,
  { plan, base, input }: Around,
  inside: Frame,
): Promise<ChosenSkill | End> {
  const question = { place: "beforeSkill" as const, at: { skill: skill.name, input }, turn: 0 };
  const answer = await consult(consulting({ plan, base }, inside), question);
  if (answer.deny !== undefined) return refusedBy({ gate: { agent: plan.name } }, answer.deny);
  if (answer.skill === undefined || answer.skill === skill.name) return { skill, fact };
  const other = plan.skills.get(answer.skill);
  if (other !== undefined)
    return { skill: other, fact: { type: "skill-chosen", skill: other.name, by: "hook" } };
  const skills = [...plan.skills.keys()].join(", ");
  throw new WritError("skill-unknown", { name: plan.name, skill: answer.skill, skills });
}

/** The end after the author's hooks were asked. A run that was stopped or broke asks no hooks any more. */
export function askAfterRun(
  finished: Finished,
  { plan, base, skill }: Omit<Around, "input"> & { readonly skill?: PlannedSkill },
  inside: Frame,
): Maybe<Finished> {
  const { end, usage, ledger } = finished;
  if (plan.hooks.afterRun === undefined || inside.stop.reason !== undefined || end.throws === true)
    return finished;
  const at = { outcome: end.outcome, output: jsonOrNull(end.output), usage };
  return finishing(finished, { plan, inside }, async () => {
    const question = { place: "afterRun" as const, at, turn: ledger.turns };
    const { answer, by } = await consultNamed(consulting({ plan, base }, inside), question);
    const { output: content } = answer;
    if (content === undefined || end.outcome.type !== "answered") return finished;
    const about = { hook: by["output"] ?? "", place: "afterRun", field: "output" } as const;
    const read = await untilStopped(readOutput(content, skill?.output, about), inside.stop);
    if (read === "stopped") throw new Error("the run was stopped while its output was read");
    return { ...finished, end: { ...end, output: read.value, outcome: { ...end.outcome, content } } };
  });
}

/** Checks that an input with a conversation comes without a session, which already has the conversation before the run. @throws WritError `input-invalid` */
export function checkAlone(
  { before }: ReadQuestion,
  { session }: { readonly session?: unknown },
  name: string,
): void {
  if (session === undefined || before.length === 0) return;
  const issues = "the session has the messages before; give the last message alone, or no session";
  throw new WritError("input-invalid", { name, issues });
}

/** Does a part of a run. An error ends the run; what was said and spent before stays. */
function finishing(
  before: Omit<Finished, "end">,
  { plan, inside }: { readonly plan: Pick<AgentPlan, "name">; readonly inside: Frame },
  part: () => Maybe<Finished>,
): Maybe<Finished> {
  return rescue(part, (error) => ({
    ...before,
    end: endBy(error, { gate: { agent: plan.name }, stop: inside.stop }),
  }));
}

function consulting(
  { plan, base }: Omit<Around, "input">,
  { stop, tell }: Frame,
): Parameters<typeof consult>[0] {
  return { hooks: plan.hooks, journal: base.journal, stop, tell };
}

/** An input as JSON, as its schema parses it; without a schema, a question in text or parts. @throws WritError `input-invalid` */
export function readInput(given: unknown, { name, schema }: InputTaker): Maybe<ReadInput> {
  const isMade = given instanceof MadeValue;
  const value: unknown = isMade ? given.value : given;
  if (schema !== undefined) return after(schema.parse(value), (parsed) => ({ input: inputOf(parsed, name) }));
  if (isMade) return { input: inputOf({ ok: true, value }, name) };
  if (typeof given === "string") return { input: given, asked: undefined }; // a hook may replace parts with text
  const asked = readQuestion(given, name);
  return { input: asked?.text ?? inputOf({ ok: true, value: given }, name), asked };
}

interface InputTaker {
  readonly name: string;
  readonly schema: Schema | undefined;
}

function inputOf(parsed: ParseResult<unknown>, name: string): Json {
  if (!parsed.ok) throw new WritError("input-invalid", { name, issues: describeIssues(parsed.issues) });
  const json = wholeJson(parsed.value);
  if (!json.ok) throw new WritError("input-invalid", { name, issues: json.reason });
  return json.value;
}

/** Checks that a skill which somebody chose takes the input. @throws WritError `input-invalid` */
export function checkTakes(
  { name, input: schema }: PlannedSkill,
  { input }: Around,
  { stop }: Frame,
): Maybe<void> {
  const reading = readInput(input, { name, schema });
  return after(untilStopped(reading, stop), (read) => {
    if (read === "stopped") throw new Error("the run was stopped while its input was read");
  });
}
