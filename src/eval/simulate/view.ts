import type { Fact } from "../../event/event.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { MadeCall } from "../../message/made-calls.ts";
import type { Json } from "../../util/json.ts";
import { isPlanned } from "./agreed-plans.ts";
import { type Evidence, type Told, toolOf } from "./evidence.ts";
import type { Execution } from "./execution.ts";
import type { Machine } from "./machine.ts";
import { insideRun, type SimulatedInside } from "./inside-run.ts";

/** An effect of a tool on the simulated world: one for each time that it happened, whatever the model was told. */
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
  /** The ids of the calls that a person agreed to, one by one or in a plan. */
  readonly agreed: readonly string[];
  /** The ids of the calls that stand-ins of tools were asked to carry out, whatever was told of them. */
  readonly begun: readonly string[];
  /** The runs inside its calls, at any depth. A run that began again is here once, as it was last told. */
  readonly inside: readonly SimulatedInside[];
}

/** Everything that an invariant of the author's own can check, after a schedule was played to its end. */
export interface SimulationView<State = undefined> extends Omit<SimulatedOutcome, "runId"> {
  /** The effects of tools with the effects `write` and `irreversible`, and of undeclared ones. */
  readonly effects: readonly SimulatedEffect[];
  /** The simulated world after the stand-ins of tools. */
  readonly state: State;
  /** Each run, if there are several inputs. `calls` and `facts` are those of all runs, and the outcome is that of the last. */
  readonly runs: readonly SimulatedOutcome[];
}

/** Returns what is wrong: a sentence, or false. True, undefined and an empty sentence mean that it holds. */
export type Invariant<State = undefined> = (
  view: SimulationView<State>,
) => boolean | string | undefined | void;

/** The view of a schedule after it was played. */
export function viewOf<State>(
  { told, world, subject, cluster }: Evidence,
  state: State,
): SimulationView<State> {
  const agreed = [
    ...world.answers.filter(({ isYes, isTaken }) => isYes && isTaken),
    ...world.executions.filter((one) => isPlanned(one, { world, subject })),
  ];
  const knownOf = (isOfRun: (runId: string) => boolean): Known => ({
    agreed: agreed.flatMap(({ runId, callId }) => (isOfRun(runId) ? [callId] : [])),
    begun: world.executions.flatMap(({ runId, callId }) => (isOfRun(runId) ? [callId] : [])),
  });
  const changes = (execution: Execution): boolean => {
    const effect = toolOf(subject, execution)?.effect;
    return effect !== "none" && effect !== "read";
  };
  const effects = world.executions
    .filter((one) => one.tookEffect && changes(one))
    .map(({ tool, arguments: args, callId, runId, atMs }) => ({
      tool,
      arguments: args,
      callId,
      runId,
      atMs,
    }));
  const runs = told.map((each) => {
    const { id } = each.run;
    // two runs may have calls of one id, if the model gave none
    return new OutcomeOfRun(
      each,
      knownOf((runId) => runId === id || runId.startsWith(`${id}/`)),
      cluster?.all ?? [each.run.machine],
    );
  });
  return new ViewOfRuns(runs, { ...knownOf(() => true), effects, state });
}

type Known = Pick<SimulatedOutcome, "agreed" | "begun">;

/** The outcome of one run. A class, like the view, because most invariants look at neither calls nor facts. */
class OutcomeOfRun implements SimulatedOutcome {
  readonly runId: string;
  readonly outcome: SimulatedOutcome["outcome"];
  readonly text: string;
  readonly agreed: SimulatedOutcome["agreed"];
  readonly begun: SimulatedOutcome["begun"];
  readonly #told: Told;
  readonly #machines: readonly Machine[];

  constructor(told: Told, { agreed, begun }: Known, machines: readonly Machine[]) {
    const { id, result } = told.run;
    this.runId = id;
    this.outcome = told.outcome;
    this.text = result?.text ?? "";
    this.agreed = agreed;
    this.begun = begun;
    this.#told = told;
    this.#machines = machines;
  }

  get calls(): SimulatedOutcome["calls"] {
    return this.#told.run.result?.calls ?? [];
  }

  get facts(): SimulatedOutcome["facts"] {
    return this.#told.facts;
  }

  get inside(): SimulatedOutcome["inside"] {
    return insideRun(this.#told.run.id, this.#machines);
  }
}

class ViewOfRuns<State> implements SimulationView<State> {
  readonly outcome: SimulationView["outcome"];
  readonly text: string;
  readonly agreed: SimulationView["agreed"];
  readonly begun: SimulationView["begun"];
  readonly effects: SimulationView["effects"];
  readonly state: State;
  readonly runs: SimulationView["runs"];

  constructor(
    runs: SimulationView["runs"],
    { agreed, begun, effects, state }: Known & Pick<SimulationView<State>, "effects" | "state">,
  ) {
    const last = runs.at(-1);
    this.outcome = last?.outcome;
    this.text = last?.text ?? "";
    this.agreed = agreed;
    this.begun = begun;
    this.effects = effects;
    this.state = state;
    this.runs = runs;
  }

  get calls(): SimulationView["calls"] {
    return this.runs.flatMap(({ calls }) => calls);
  }

  get facts(): SimulationView["facts"] {
    return this.runs.flatMap(({ facts }) => facts);
  }

  get inside(): SimulationView["inside"] {
    return this.runs.flatMap(({ inside }) => inside);
  }
}
