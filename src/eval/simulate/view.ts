import { type Fact, isFact, type RunEvent } from "../../event/event.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { MadeCall } from "../../message/made-calls.ts";
import type { Json } from "../../util/json.ts";
import type { Evidence, Told } from "./evidence.ts";

/** Something that a tool did to the simulated world: once for each time that it happened, whatever the model was told of it. */
export interface SimulatedEffect {
  readonly tool: string;
  readonly arguments: Json;
  readonly callId: string;
  readonly runId: string;
  /** Milliseconds since the simulation began. */
  readonly atMs: number;
}

/** One run of a simulation, as invariants see it. */
export interface SimulatedOutcome {
  readonly runId: string;
  /** Undefined for a run that threw, or never ended. */
  readonly outcome: Outcome | undefined;
  readonly text: string;
  readonly calls: readonly MadeCall[];
  readonly facts: readonly Fact[];
  /** The ids of the calls to which a person agreed. */
  readonly agreed: readonly string[];
  /** The ids of the calls that stand-ins of tools were asked to carry out, whatever was told of them. */
  readonly begun: readonly string[];
}

/** All that an invariant of the author's own looks at, after a schedule was played to its end. */
export interface SimulationView<State = undefined> extends Omit<SimulatedOutcome, "runId"> {
  /** What tools with the effects `write` and `irreversible`, and undeclared ones, did. */
  readonly effects: readonly SimulatedEffect[];
  /** The simulated world, as the stand-ins of tools left it. */
  readonly state: State;
  /** Each run, where there are several inputs. `calls` and `facts` are those of all of them, the outcome that of the last. */
  readonly runs: readonly SimulatedOutcome[];
}

/** Says what is wrong: a sentence, or false. True, undefined and no sentence say that it holds. */
export type Invariant<State = undefined> = (
  view: SimulationView<State>,
) => boolean | string | undefined | void;

/** The view of what a schedule left. */
export function viewOf<State>({ told, world, subject }: Evidence, state: State): SimulationView<State> {
  const agreed = world.answers.flatMap(({ callId, isYes, isTaken }) => (isYes && isTaken ? [callId] : []));
  const begun = world.executions.map(({ callId }) => callId);
  const known = { agreed, begun };
  const runs = told.map((each) => outcomeOf(each, known));
  const last = runs.at(-1);
  const changes = ({ tool }: { readonly tool: string }): boolean => {
    const effect = subject.tools.get(tool)?.effect;
    return effect !== "none" && effect !== "read";
  };
  return {
    outcome: last?.outcome,
    text: last?.text ?? "",
    ...known,
    get calls() {
      return runs.flatMap(({ calls }) => calls);
    },
    get facts() {
      return runs.flatMap(({ facts }) => facts);
    },
    effects: world.executions
      .filter((one) => one.tookEffect && changes(one))
      .map(({ tool, arguments: args, callId, runId, atMs }) => ({
        tool,
        arguments: args,
        callId,
        runId,
        atMs,
      })),
    state,
    runs,
  };
}

function outcomeOf(
  { run, outcome, facts }: Told,
  known: Pick<SimulatedOutcome, "agreed" | "begun">,
): SimulatedOutcome {
  const { id, result } = run;
  return {
    runId: id,
    outcome,
    text: result?.text ?? "",
    ...known,
    get calls() {
      return result?.calls ?? [];
    },
    get facts() {
      return facts.flatMap((event: RunEvent) => (isFact(event) ? [event] : []));
    },
  };
}
