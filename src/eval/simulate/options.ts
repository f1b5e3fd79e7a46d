import { type RecordPart, recordParts } from "../../journal/parts.ts";
import type { Agent } from "../../agent/agent.ts";
import type { Question } from "../../agent/definition.ts";
import { checkShape, closed, fromOne } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import {
  anything,
  boolean,
  callable,
  either,
  fits,
  jsonObject,
  list,
  map,
  number,
  oneOf,
  optional,
  record,
  refined,
  type Shape,
  string,
} from "../../util/shape.ts";
import { allFaults } from "./draw.ts";
import { runtimeInvariants } from "./invariants.ts";
import { checkedElsewhere } from "./known-names.ts";
import { type DeviationName, deviations, needDurable, type Schedule } from "./schedule.ts";
import type { TestSource } from "./scripted-test.ts";
import type { ScriptReply } from "./stand-in-model.ts";
import type { StandIn } from "./stand-in-tool.ts";
import type { Invariant } from "./view.ts";

/** Options of {@link simulate}. */
export interface SimulationOptions<State = undefined> {
  /** The seed of the first schedule; each later schedule uses the next. Default 1. */
  readonly seed?: number;
  /** The number of schedules. It stops at the first that fails. Default 1 000. */
  readonly schedules?: number;
  /** The user's messages: several are a conversation in one session. Default: one, "Do it." */
  readonly inputs?: readonly Question[];
  /**
   * Replies of the model in a quiet schedule, in order, after each input ({@link recordedScript} makes them of a run). After the last, and without a script,
   * the model answers at once. A call of a tool that is not there, on purpose, is `no_such_tool`.
   */
  readonly script?: readonly ScriptReply[];
  /** Makes the simulated world, new for each schedule, for stand-ins of tools and for invariants. */
  readonly state?: () => State;
  /**
   * The stand-ins of tools, by name: a function that acts and returns in place of the tool, or `own` for the tool's own code. Default: `own` for tools
   * that declare the effect `none`; all others return a text, or a value that their output schema takes.
   */
  readonly tools?: Readonly<Record<string, StandIn<State> | "own">>;
  /** Invariants of your own, by name. */
  readonly invariants?: Readonly<Record<string, Invariant<State>>>;
  /** The agent after a deploy: a process that goes on with a run may have it. */
  readonly redeploy?: Agent;
  /** The parts in which that agent may differ from the records, as `accept` of `durableRuns()`. Default none: the runs of the agent before it fail. */
  readonly accept?: readonly RecordPart[];
  /** The only deviations that may happen. Default: all. */
  readonly faults?: readonly DeviationName[];
  /** Makes about three of ten schedules durable. `false`: none. Default true. */
  readonly durable?: boolean;
  /**
   * Plays only this schedule, as a printed test does. It fails if one of its deviations does not happen, because its point is not reached or nothing of its
   * kind can happen there.
   */
  readonly schedule?: Schedule;
  /** The module of printed tests. */
  readonly test?: TestSource;
}

const calls = list(
  closed({
    name: string,
    arguments: refined(anything, "must be given: {} for none", (args) => args !== undefined),
  }),
  "a list of calls",
);
const deviation = refined(
  closed({
    at: string,
    does: oneOf(...allFaults),
    calls: optional(calls),
    arguments: optional(jsonObject),
    ms: optional(refined(number, "must be 0 or above", (ms) => ms >= 0)),
  }),
  "must have what it says: `calls` to propose, cut or double, `arguments` to edit, `ms` to be late",
  ({ does, ...given }: { readonly does?: unknown }) => {
    const field = typeof does === "string" && Object.hasOwn(needed, does) ? needed[does] : undefined;
    return field === undefined || Object.hasOwn(given, field);
  },
);
/** The field that a deviation needs: without it, the test of a schedule would test nothing. */
const needed: Readonly<Record<string, string>> = {
  proposes: "calls",
  "is-cut": "calls",
  doubles: "calls",
  edits: "arguments",
  "is-late": "ms",
  "answers-late": "ms",
};
const spoken = closed({ calls });
const reply: Shape<unknown> = {
  wanted: "a text or an object",
  misfit: (value) => (fits(record, value) ? spoken.misfit(value) : either(string, spoken).misfit(value)),
};

const exported = refined(string, "must be the name of an export", (name) =>
  /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name),
);

const optionsShape = closed({
  seed: optional(refined(number, "must be a whole number", Number.isSafeInteger)),
  schedules: optional(fromOne),
  inputs: optional(
    refined(list(anything, "a list of inputs"), "must not be empty", ({ length }) => length > 0),
  ),
  script: optional(list(reply, "a list of replies")),
  state: optional(callable),
  tools: optional(map(either(callable, oneOf("own")))),
  invariants: optional(map(callable)),
  redeploy: optional(callable),
  accept: optional(list(oneOf(...recordParts))),
  faults: optional(list(oneOf(...allFaults))),
  durable: optional(boolean),
  schedule: optional(
    closed({ durable: optional(boolean), deviations: list(deviation, "a list of deviations") }),
  ),
  test: optional(
    closed({
      from: optional(string),
      agent: optional(exported),
      options: optional(exported),
      runner: optional(oneOf("vitest", "node")),
    }),
  ),
});

/** @throws WritError `definition-invalid` */
export function checkSimulate<State>(agent: string, options: SimulationOptions<State>): void {
  const where = `simulate() of "${agent}"`;
  checkShape(where, options, optionsShape);
  const [reason] = faultsIn(agent, options);
  if (reason !== undefined) throw new WritError("definition-invalid", { where, reason });
}

/** The reasons for which options of the right shapes would change nothing, or would say something else than is meant. */
function faultsIn<State>(agent: string, options: SimulationOptions<State>): readonly string[] {
  const { redeploy, accept = [], invariants = {}, faults = [] } = options;
  const stranger =
    redeploy !== undefined && redeploy.name !== agent
      ? `\`redeploy\` is the agent "${redeploy.name}", and only an agent of the same name goes on with a run.`
      : undefined;
  const idle =
    redeploy === undefined && accept.length > 0
      ? "`accept` is about the agent in `redeploy`, and there is none. Pass the agent after the deploy, or leave `accept` out."
      : undefined;
  const taken = Object.keys(invariants)
    .filter((name) => ownNames.has(name))
    .map(
      (name) =>
        `\`invariants\` has "${name}", which is the name of one of the runtime's own. Give it another name: a failure says which of the two did not hold.`,
    );
  const absent = faults.flatMap((fault) => {
    const wants = missingFor(fault, options);
    return wants === undefined
      ? []
      : [`\`faults\` has "${fault}", which happens in no schedule: it wants ${wants}.`];
  });
  return [stranger, idle, ...taken, ...absent].filter((each) => each !== undefined);
}

/** The names of the runtime's own invariants. */
const ownNames: ReadonlySet<string> = new Set([
  ...Object.keys(runtimeInvariants),
  ...Object.values(checkedElsewhere),
]);

/** The deviations after which runs go on in another process. */
const losses: ReadonlySet<DeviationName> = new Set([...deviations.step, "hands-over"]);

/** The thing that a deviation needs and the options lack: without it, schedules would test nothing. */
function missingFor<State>(
  fault: DeviationName,
  { durable = true, redeploy, inputs = [], faults = [] }: SimulationOptions<State>,
): string | undefined {
  if (needDurable.has(fault) && !durable) return "durable runs, and `durable` is false";
  if (fault === "comes-early") return inputs.length > 1 ? undefined : "several `inputs`";
  if (fault !== "redeploys") return undefined;
  if (redeploy === undefined) return "the agent to deploy, in `redeploy`";
  return faults.some((each) => losses.has(each))
    ? undefined
    : `a fault that ends a process: ${[...losses].join(", ")}`;
}
