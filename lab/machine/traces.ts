/** Plays agents in schedules of a simulated world, and checks the happenings against the table. */
import { allFaults, Drawing } from "../../src/eval/simulate/draw.ts";
import type { Happening } from "../../src/eval/simulate/happening.ts";
import { play } from "../../src/eval/simulate/play.ts";
import { known, type Schedule } from "../../src/eval/simulate/schedule.ts";
import type { SimulatedRun } from "../../src/eval/simulate/simulated-run.ts";
import { settingOf } from "../../src/eval/simulate/stage.ts";
import { cases } from "../../test/simulate/agents.ts";
import { messageOf } from "../../src/error/writ-error.ts";
import { follow } from "./follow.ts";
import type { TracedTools } from "./trace.ts";

/** The happenings of one schedule. */
export interface Trace {
  readonly agent: string;
  /** Of the schedule that is not drawn: the first seed. */
  readonly seed: number;
  readonly happenings: readonly Happening[];
  readonly runs: readonly SimulatedRun[];
  readonly tools: TracedTools;
  /** The deviations of the schedule, by their kind. */
  readonly deviations: readonly string[];
}

/** Traces to draw, from one seed on. */
export interface Drawn {
  readonly traces: number;
  readonly seed: number;
}

/** Schedules that are not drawn, each the first of its agent, for rare transitions: a lookup of a call that another process began. */
const fixed: Readonly<Record<string, Schedule>> = {
  recovering: {
    durable: true,
    deviations: [
      { at: "model 1", does: "proposes", calls: [{ name: "wire", arguments: { order: "A2" } }] },
      { at: "step 5", does: "stalls" },
      {
        at: "model 2",
        does: "proposes",
        calls: [
          { name: "wire", arguments: { order: "A1" } },
          { name: "wire", arguments: { order: "A1" } },
        ],
      },
      { at: "person 2", does: "answers-late", ms: 60_000 },
      { at: "step 18", does: "dies-after" },
      { at: "step 23", does: "dies-before" },
    ],
  },
};

/**
 * Plays so many schedules, shared by the agents of the simulator's tests; but for those with a script, whose reply after one that broke off takes over
 * what that has begun: in the table a call is carried out under its own id, and once by a process. So without `mending` too, which runs a tool that failed again.
 */
export async function* drawnTraces({ traces, seed }: Drawn): AsyncGenerator<Trace> {
  const agents = Object.entries(cases).filter(
    ([name, { options }]) => options.script === undefined && name !== "mending",
  );
  for (const [index, [name, { agent, options }]] of agents.entries()) {
    const { stage, subject } = await settingOf(agent, options);
    const share = Math.floor(traces / agents.length) + (index < traces % agents.length ? 1 : 0);
    for (let place = 0; place < share; place += 1) {
      const happenings: Happening[] = [];
      const drawing = new Drawing(seed + place, { faults: allFaults, durable: true });
      const schedule = place === 0 ? fixed[name] : undefined;
      const chooser = schedule === undefined ? drawing : known(schedule);
      const { runs } = await play(stage, chooser, (happening) => happenings.push(happening));
      const deviations = (schedule ?? drawing.schedule).deviations.map(({ does }) => does);
      yield { agent: name, seed: seed + place, happenings, runs, tools: subject, deviations };
      if (place % 64 === 63) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** The results of some traces. */
export interface Traced {
  readonly traces: number;
  /** The moves that were taken, by the name of their transition. */
  readonly moves: Readonly<Record<string, number>>;
  /** The deviations in them, by their kind. */
  readonly deviations: Readonly<Record<string, number>>;
  /** The agent, the seed and the first happening that the table refuses. */
  readonly refused?: { readonly agent: string; readonly seed: number; readonly why: string };
}

/** Checks traces against the table. Ends at the first that is refused. */
export async function traced(drawn: Drawn): Promise<Traced> {
  const moves: Record<string, number> = {};
  const deviations: Record<string, number> = {};
  let traces = 0;
  for await (const trace of drawnTraces(drawn)) {
    const { agent, seed, happenings, runs, tools } = trace;
    traces += 1;
    for (const does of trace.deviations) add(deviations, does);
    try {
      for (const move of follow(happenings, runs, tools)) add(moves, move.split(" ", 1)[0] ?? "");
    } catch (error) {
      return { traces, moves, deviations, refused: { agent, seed, why: messageOf(error) } };
    }
  }
  return { traces, moves, deviations };
}

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
