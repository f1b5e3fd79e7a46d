import { checkShape, closed } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { withoutSecrets } from "../../run/secrets.ts";
import { endBy, failed } from "../../run/end.ts";
import { type Frame, Framed, keepBeginning } from "../../run/frame.ts";
import type { Finished } from "../../run/finished.ts";
import type { End } from "../../run/end.ts";
import { contentText, type UserMessage, userMessage } from "../../message/message.ts";
import { addAnswer, addSaid, emptyTranscript, type ReadyTranscript } from "../../message/transcript.ts";
import { type Budget, type Limits, limitsOf } from "../../policy/account/budget.ts";
import { checkName, type Tool } from "../../tool/tool.ts";
import { type Json, toJson } from "../../util/json.ts";
import { anything, optional, record, string } from "../../util/shape.ts";
import { agentsOption } from "../agents-option.ts";
import { MadeValue, questionJson, readQuestion } from "../question.ts";
import { agentAsTool, type AsToolOptions, checkAsTool } from "../as-tool.ts";
import { type About, type Begun, frameOf, type Runnable, runnable, type RunFrame } from "../runnable.ts";
import type { RunOptions } from "../run-options.ts";
import { type CompositeRun, compositeRun } from "./composite-run.ts";
import { Unanswered } from "./course.ts";
import type { Member } from "./members.ts";

/** The bounds of a run of a composition. All runs in it share them, in addition to their own. */
export type CompositeBudget = Pick<Budget, "toolCalls" | "durationMs" | "tokens" | "costUsd">;

/** The parts of a composition that an author may change. */
export interface CompositeChanges {
  /** The name in events and errors, and of the tool made from it. Default: from its parts, such as `pipe(research, write)`. */
  readonly name?: string;
  readonly description?: string;
  /** The bounds of the composition. Default: those of the agents in it, and of the run around it. */
  readonly budget?: CompositeBudget;
}

/** A composition of agents: run, watched and cancelled like one. */
export interface Composite<Input = never, Output = unknown> extends Runnable<Input, Output> {
  /**
   * The composition as a tool of an agent: a run inside the agent's, which shares its bounds and may do no more than it may.
   *
   * @throws WritError `name-invalid` without a name that can be called, `tool-unknown`, `definition-invalid`
   */
  asTool(options?: AsToolOptions): Tool;
  /** The same composition with another name, description or budget. @throws WritError `name-invalid`, `budget-invalid` */
  with(changes: CompositeChanges): Composite<Input, Output>;
}

/** The members of a composition and its course. */
export interface Composition {
  readonly name: string;
  readonly members: readonly [Member, ...Member[]];
  readonly input: About["input"];
  readonly outputs: About["outputs"];
  /** True if the author's functions in it get the run, and may run other agents in it. */
  readonly hasOthers?: boolean;
  /** The way from the input to the output. */
  readonly course: (input: unknown, run: CompositeRun) => Promise<unknown>;
}

/** Makes a composition from its course. The host of its first agent times and names its runs. */
export function composite<Input, Output>(
  composition: Composition,
  changes: CompositeChanges = {},
): Composite<Input, Output> {
  const { members, input, outputs, hasOthers } = composition;
  const { name = composition.name, description = "", budget = {} } = changes;
  if (changes.name !== undefined) checkName(name, "A composition");
  const [first] = members;
  const { host } = first.about;
  const tools = members.flatMap(({ about }) => about.tools);
  const grants = members.flatMap(({ about }) => about.grants ?? []);
  const limits = boundsOf(budget, name);
  const beside = { enforces: false, ...(hasOthers === true ? { hasOthers } : {}) }; // its functions run in this process
  const inside = members.flatMap(({ about }) => (about.inside ?? []).map((each) => ({ ...each, ...beside })));
  const base = runnable<Input, Output>({
    name,
    description,
    about: { host, input, outputs, tools, grants, inside, keepsNoConversation: true },
    begin: async (given, options, watched) =>
      begin({ composition, name, limits, tools: new Set(tools) }, { given, options, watched }),
  });
  function asTool(options: AsToolOptions = {}): Tool {
    checkAsTool(options, name);
    if (input !== "various")
      return agentAsTool(base, { input, skills: [{ tools }], outputs, grants, ...options });
    const reason = "its agents take different things, so that no tool can say what it takes.";
    throw new WritError("definition-invalid", { where: `asTool() of ${name}`, reason });
  }
  const withChanges = (more: CompositeChanges): Composite<Input, Output> => {
    checkShape(`with() of "${name}", which is a composition of agents`, more, shape);
    return composite(composition, { ...changes, ...more, budget: { ...budget, ...more.budget } });
  };
  return Object.freeze(Object.assign(base, { asTool, with: withChanges }));
}

const shape = closed({ name: anything, description: optional(string), budget: optional(record) });

const bounds: ReadonlySet<string> = new Set<keyof CompositeBudget>([
  "toolCalls",
  "durationMs",
  "tokens",
  "costUsd",
]);

function boundsOf(budget: CompositeBudget, name: string): Limits {
  const limits = limitsOf(budget, name);
  const other = Object.entries(budget).find(([field]) => !bounds.has(field));
  if (other !== undefined)
    throw new WritError("budget-invalid", {
      name,
      field: other[0],
      value: String(other[1]),
      advice: "A composition has no such bound: give it to its agents.",
    });
  const { toolCalls = Infinity, durationMs = Infinity } = budget;
  return { ...limits, toolCalls, durationMs };
}

interface Named {
  readonly composition: Composition;
  readonly name: string;
  readonly limits: Limits;
  /** The names of the tools of its agents. */
  readonly tools: ReadonlySet<string>;
}

interface Given {
  readonly given: unknown;
  readonly options: RunOptions;
  readonly watched: boolean;
}

function begin({ composition, name, limits, tools }: Named, { given, options, watched }: Given): Begun {
  checkOptions(name, options);
  const [{ about }] = composition.members;
  const base = frameOf(name, options, { host: about.host, watched, input: given, tools });
  const isMade = given instanceof MadeValue;
  const value: unknown = isMade ? given.value : given;
  const asked = composition.input === undefined && !isMade ? readQuestion(value, name) : undefined;
  const json = toJson(asked === undefined ? value : asked.text);
  if (!json.ok) throw new WritError("input-invalid", { name, issues: json.reason });
  const input = withoutSecrets(json.value, about.host);
  const question = withoutSecrets(asked?.message, about.host) ?? userMessage(contentText(input));
  const handed = asked === undefined ? value : questionJson(asked);
  const framed = new Framed({ ...base, agent: name, input, durationMs: limits.durationMs }, (inside) =>
    carryOut(
      { composition, name, limits, tools, base, options, given: handed, isMade, input, question },
      inside,
    ),
  );
  return { runId: base.runId, framed };
}

/** Refuses options that belong to a single agent. @throws WritError `run-option-unusable` */
function checkOptions(name: string, options: RunOptions): void {
  const given: RunOptions = Object(options); // null is reported where the run begins
  for (const option of ["skill", "session"] as const)
    if (given[option] !== undefined) throw agentsOption(name, option);
}

interface Asked extends Named {
  readonly base: RunFrame;
  readonly options: RunOptions;
  readonly given: unknown;
  readonly isMade: boolean;
  readonly input: Json;
  readonly question: UserMessage;
}

/** Carries out a composition. Its conversation has two messages, question and output; the runs inside have their own. */
async function carryOut({ composition, given, question, ...rest }: Asked, inside: Frame): Promise<Finished> {
  const transcript = addSaid(emptyTranscript(), question);
  const run = compositeRun({ ...rest, transcript }, inside);
  try {
    await keepBeginning(rest.base.journal);
    const output = await composition.course(given, run);
    const end = answered(output, rest.name);
    return { ...run.soFar(), end, transcript: withAnswer(transcript, end) };
  } catch (error) {
    const { stop } = inside;
    const end =
      error instanceof Unanswered && stop.reason === undefined
        ? error.end
        : endBy(error, { gate: { agent: rest.name }, stop });
    return { ...run.soFar(), end, transcript };
  }
}

function answered(output: unknown, name: string): End {
  const json = toJson(output);
  if (json.ok) return { outcome: { type: "answered", content: json.value, finishReason: "stop" }, output };
  const error = new WritError("run-broken", { name, reason: `its output is not JSON: ${json.reason}` });
  return { outcome: failed(error), error };
}

function withAnswer(transcript: ReadyTranscript, { outcome }: End): ReadyTranscript {
  if (outcome.type !== "answered") return transcript;
  const text = contentText(outcome.content);
  const reply = {
    role: "assistant",
    parts: [{ type: "text", text: text === "" ? "(empty)" : text }],
  } as const;
  return addAnswer(transcript, reply);
}
