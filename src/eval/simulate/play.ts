import type { Agent } from "../../agent/agent.ts";
import { mortalRuns } from "../../durable/memory-runs.ts";
import type { NewRun } from "../../durable/run-store.ts";
import { inMemorySessions } from "../../session/in-memory-sessions.ts";
import { session, type SessionHandle } from "../../session/session.ts";
import type { SessionStore } from "../../session/session-store.ts";
import type { Happening } from "./happening.ts";
import { Cluster, type Machines } from "./cluster.ts";
import { DurableRun } from "./durable-run.ts";
import type { Machine } from "./machine.ts";
import { PlainRun } from "./plain-run.ts";
import { type Chooser, pick } from "./schedule.ts";
import type { RunAsked, SimulatedRun } from "./simulated-run.ts";
import { never, World } from "./world.ts";

/** The things that all schedules of one simulation share. */
export interface Stage extends Machines {
  readonly inputs: readonly unknown[];
  /** The same inputs, in the form of a store of runs. */
  readonly stored: readonly NewRun[];
  readonly agents: ReadonlyMap<Machine, Agent>;
  /** The skills from which one is chosen for each input, if the agent has several and does not choose itself. */
  readonly skills: readonly (readonly string[])[];
}

/** A schedule that was played. */
export interface Played {
  readonly world: World;
  readonly runs: readonly SimulatedRun[];
  readonly cluster: Cluster | undefined;
  /** The session of the conversation on a machine; undefined if there is only one input. */
  readonly handleOn: ((machine: Machine) => SessionHandle) | undefined;
}

/** Plays one schedule to its end, and then lets everything happen that is left. `watch` is called for each happening. */
export async function play(
  stage: Stage,
  chooser: Chooser,
  watch?: (happening: Happening) => void,
): Promise<Played> {
  const world = new World(chooser, watch);
  for (const machine of [stage.desk, stage.changedDesk, ...stage.machines, ...stage.changed])
    machine?.begin(world);
  const store = world.isDurable ? mortalRuns(() => world.now, watchOf(watch)) : undefined;
  const cluster = store && new Cluster(world, store, stage);
  const sessions = stage.inputs.length > 1 ? inMemorySessions() : undefined;
  const stores = new Map<Machine, SessionStore>();
  const handleOn = (machine: Machine): SessionHandle => {
    const known = stores.get(machine) ?? storeOn(sessions ?? inMemorySessions(), machine);
    stores.set(machine, known);
    return session(known, "conversation");
  };
  const runs: SimulatedRun[] = [];
  const onMoment: World["onMoment"] = ({ does }) => {
    if (does === "hands-over") cluster?.handOver();
    else runs.findLast(({ isDone }) => !isDone)?.stop();
  };
  world.onMoment = onMoment;
  for (const place of stage.inputs.keys()) {
    const before = runs.at(-1);
    if (before !== undefined) {
      if (comesEarly(world, place + 1)) world.early.add(`run-${place + 1}`);
      else await ended(before, world);
    }
    runs.push(begin(stage, { world, place, cluster, handleOn: sessions && handleOn }));
  }
  for (const run of runs) await ended(run, world);
  await world.drain();
  for (const run of runs) await run.lookAgain?.();
  return { world, runs, cluster, handleOn: sessions && handleOn };
}

/** The watcher of a store: undefined without `watch`, at no cost. */
function watchOf(watch: World["watch"]): Parameters<typeof mortalRuns>[1] {
  return watch && ((runId, change) => watch({ type: "stored", runId, change }));
}

function comesEarly(world: World, number: number): boolean {
  return (
    world.choose({ kind: "input", at: `input ${number}` }, () => ({ does: "comes-early" })) !== undefined
  );
}

async function ended(run: SimulatedRun, world: World): Promise<void> {
  if (await world.drive(() => run.isDone)) return;
  world.note(`${run.id} never ends`);
}

interface Beginning {
  readonly world: World;
  readonly place: number;
  readonly cluster: Cluster | undefined;
  readonly handleOn: ((machine: Machine) => SessionHandle) | undefined;
}

function begin(stage: Stage, { world, place, cluster, handleOn }: Beginning): SimulatedRun {
  const id = `run-${place + 1}`;
  const stored = stage.stored[place];
  const skills = stage.skills[place];
  const skill = skills && chosenSkill(skills, world);
  const asked: RunAsked = {
    id,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was checked against the agent's schema
    input: stage.inputs[place] as never,
    agentOn: (machine) => {
      const agent = stage.agents.get(machine);
      if (agent === undefined) throw new Error("every machine has its agent");
      return agent;
    },
    ...(handleOn === undefined ? {} : { session: handleOn }),
    ...(skill === undefined ? {} : { skill }),
  };
  world.note(`${id} begins`);
  if (cluster === undefined || stored === undefined) return new PlainRun(asked, stage.machines[0]);
  const run = new DurableRun(
    asked,
    cluster,
    skill === undefined ? stored : { ...stored, options: { skill } },
  );
  cluster.carried.push(run);
  return run;
}

/** Chooses the skill by the name of its input: the schedule decides which one. */
function chosenSkill(skills: readonly string[], world: World): string | undefined {
  const number = world.count("skill");
  const chosen = world.choose({ kind: "model", at: `skill ${number}` }, (random) => {
    const name = pick(random, skills);
    return name === undefined ? undefined : { does: "proposes", calls: [{ name, arguments: {} }] };
  });
  return chosen?.calls?.[0]?.name ?? skills[0];
}

/** The store of sessions for a process; it does not answer a dead process. */
function storeOn(store: SessionStore, { process }: Machine): SessionStore {
  const alive = <Value>(work: () => Promise<Value>): Promise<Value> => (process.isAlive ? work() : never());
  const { claims: _claims, ...methods } = store; // claims of dead processes would stay: here each machine has one line
  return {
    ...methods,
    create: (...given) => alive(() => store.create(...given)),
    read: (...given) => alive(() => store.read(...given)),
    append: (...given) => alive(() => store.append(...given)),
    update: (...given) => alive(() => store.update(...given)),
  };
}
