import type { Agent } from "../../agent/agent.ts";
import type { AnyDefinition } from "../../agent/definition.ts";
import { newRunOf } from "../../durable/new-run.ts";
import type { ModelRequest } from "../../model/model.ts";
import { limitsOf } from "../../policy/account/budget.ts";
import type { Subject } from "./evidence.ts";
import type { Machines } from "./cluster.ts";
import { checkToolNames } from "./known-names.ts";
import { Machine } from "./machine.ts";
import type { SimulationOptions } from "./options.ts";
import type { Stage } from "./play.ts";
import { definitionOf, standInAgent, type StandIns, toolsOf } from "./stand-in-agent.ts";
import { skillsFor } from "./skills-for.ts";
import { transcriptFaults } from "./transcript-faults.ts";

/** The most processes of one schedule, one after another. */
const mostProcesses = 5;

/** The stage of a simulation: its machines, an agent for each, and the known facts about the agent. */
export interface Setting<State> {
  readonly stage: Stage;
  readonly subject: Subject;
  /** The simulated world of the current schedule. */
  readonly state: { now: State | undefined };
}

/** Makes the stage of a simulation. @throws WritError `definition-invalid`, `input-invalid`, `tool-unknown`, and the errors of `agent()` */
export async function settingOf<State>(
  agent: Agent,
  options: SimulationOptions<State>,
): Promise<Setting<State>> {
  const { inputs = ["Do it."], script = [], tools: standIns = {}, redeploy, accept } = options;
  const definition = definitionOf(agent, "simulate");
  const later = redeploy === undefined ? undefined : definitionOf(redeploy, "simulate");
  const tools = toolsOf(definition);
  const given = { agent: definition.name, standIns, script };
  checkToolNames(
    given,
    new Set([definition, later].flatMap((each) => (each ? [...toolsOf(each).keys()] : []))),
  );
  const state: { now: State | undefined } = { now: undefined };
  const parts: StandIns = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each gets the state of this simulation
    standIns: standIns as StandIns["standIns"],
    state: () => state.now,
    script,
    seen: { listed: new Map(), toolsOf: new Map(), standIns: new Set(), mends: false, recovers: false },
    onRequest: checkRequest,
  };
  const machines = machinesFor(options, (number, isLater) => {
    const machine = new Machine(number);
    const its = isLater ? later : definition;
    return its === undefined ? undefined : { machine, agent: standInAgent(its, parts, machine) };
  });
  const session = inputs.length > 1 ? { session: "conversation" } : {};
  const stored = await Promise.all(
    inputs.map((input, place) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is checked against the agent's schema there
      newRunOf(agent, { input: input as never, options: { id: `run-${place + 1}`, ...session } }),
    ),
  );
  const { skills = [], selectSkill } = definition;
  const choosing = skills.length > 1 && selectSkill === undefined;
  const taking = await Promise.all(inputs.map((input) => skillsFor(definition, input)));
  const subject = {
    ...subjectOf(definition, parts, tools),
    isRedeployed: redeploy !== undefined,
    skipsAfterBlocked: [definition, later].some((each) => each?.endOn?.includes("blocked-call") === true),
  };
  return { stage: { inputs, stored, ...machines, accept, skills: choosing ? taking : [] }, subject, state };
}

interface Made {
  readonly machine: Machine;
  readonly agent: Agent;
}

/** The machines of a simulation, with the agent of each: one machine if no run is durable. */
function machinesFor<State>(
  { schedule, durable = true }: SimulationOptions<State>,
  make: (number: number, isLater: boolean) => Made | undefined,
): Machines & Pick<Stage, "agents"> {
  const isDurable = schedule === undefined ? durable : schedule.durable === true;
  const agents = new Map<Machine, Agent>();
  const machine = (number: number, isLater: boolean): readonly Machine[] => {
    const made = make(number, isLater);
    if (made === undefined) return [];
    agents.set(made.machine, made.agent);
    return [made.machine];
  };
  const numbers = Array.from({ length: isDurable ? mostProcesses : 1 }, (_, place) => place + 1);
  const [first, ...more] = numbers.flatMap((number) => machine(number, false));
  if (first === undefined) throw new Error("a simulation has a machine");
  const [desk = first] = isDurable ? machine(0, false) : [];
  const changed = isDurable ? numbers.flatMap((number) => machine(number, true)) : [];
  const [changedDesk] = isDurable ? machine(0, true) : [];
  return { desk, ...(changedDesk && { changedDesk }), machines: [first, ...more], changed, agents };
}

/** The facts known of an agent before anything is played. */
function subjectOf(
  { name, budget = {}, compaction }: AnyDefinition,
  parts: StandIns,
  tools: Subject["tools"],
): Omit<Subject, "isRedeployed" | "skipsAfterBlocked"> {
  return {
    name,
    limits: limitsOf(budget, name),
    tools,
    ...parts.seen,
    summarises: compaction?.summarise !== undefined,
  };
}

function checkRequest({ world }: Machine, { messages }: ModelRequest, agent: string): void {
  for (const fault of transcriptFaults(messages))
    world.fault("the transcript is valid", `a request of ${agent}: ${fault}`);
}
