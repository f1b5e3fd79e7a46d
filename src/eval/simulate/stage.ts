import type { Agent } from "../../agent/agent.ts";
import type { AnyDefinition } from "../../agent/definition.ts";
import { newRunOf } from "../../durable/new-run.ts";
import { WritError } from "../../error/writ-error.ts";
import type { ModelRequest } from "../../model/model.ts";
import { limitsOf } from "../../policy/account/budget.ts";
import type { Subject } from "./evidence.ts";
import { Machine } from "./machine.ts";
import type { SimulateOptions } from "./options.ts";
import type { Stage } from "./play.ts";
import { definitionOf, standInAgent, type StandIns, toolsOf } from "./stand-in-agent.ts";
import { transcriptFaults } from "./transcript-faults.ts";

/** The processes that one schedule may have, one after another. */
const mostProcesses = 5;

/** The stage of a simulation: its machines, an agent for each, and what is known of the agent. */
export interface Setting<State> {
  readonly stage: Stage;
  readonly subject: Subject;
  /** The simulated world of the schedule that is played. */
  readonly state: { now: State | undefined };
}

/** Makes the stage of a simulation. @throws WritError `definition-invalid`, `input-invalid`, `tool-unknown`, and what `agent()` throws */
export async function settingOf<State>(
  agent: Agent,
  options: SimulateOptions<State>,
): Promise<Setting<State>> {
  const {
    inputs = ["Do it."],
    script = [],
    tools: standIns = {},
    redeploy,
    schedule,
    durable = true,
  } = options;
  const definition = definitionOf(agent);
  const known = toolsOf(definition);
  checkNames(standIns, new Set(known.keys()), definition.name);
  const state: { now: State | undefined } = { now: undefined };
  const parts: StandIns = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each is given the state of this simulation
    standIns: standIns as StandIns["standIns"],
    state: () => state.now,
    script,
    listed: new Map(),
    onRequest: checkRequest,
  };
  const agents = new Map<Machine, Agent>();
  const machineWith = (given: AnyDefinition, number: number): Machine => {
    const machine = new Machine(number);
    agents.set(machine, standInAgent(given, parts, machine));
    return machine;
  };
  const isDurable = schedule === undefined ? durable : schedule.durable === true;
  const more = Array.from({ length: isDurable ? mostProcesses - 1 : 0 }, (_, place) => place + 2);
  const machines: Stage["machines"] = [
    machineWith(definition, 1),
    ...more.map((number) => machineWith(definition, number)),
  ];
  const desk = isDurable ? machineWith(definition, 0) : machines[0];
  const later = redeploy === undefined || !isDurable ? undefined : definitionOf(redeploy);
  const changed = later === undefined ? [] : [1, ...more].map((number) => machineWith(later, number));
  const session = inputs.length > 1 ? { session: "conversation" } : {};
  const stored = await Promise.all(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is held against the agent's schema there
    inputs.map((input, place) => newRunOf(agent, input as never, { id: `run-${place + 1}`, ...session })),
  );
  const { name, budget = {}, skills = [], selectSkill } = definition;
  const choosing = skills.length > 1 && selectSkill === undefined ? skills.map((skill) => skill.name) : [];
  return {
    stage: { inputs, stored, desk, machines, changed, agents, skills: choosing },
    subject: {
      name,
      limits: limitsOf(budget, name),
      tools: known,
      listed: parts.listed,
      isRedeployed: redeploy !== undefined,
    },
    state,
  };
}

function checkRequest({ world }: Machine, { messages }: ModelRequest, agent: string): void {
  for (const fault of transcriptFaults(messages))
    world.fault("the transcript is valid", `a request of ${agent}: ${fault}`);
}

/** @throws WritError `definition-invalid` for a stand-in of a tool that there is not */
function checkNames(standIns: object, known: ReadonlySet<string>, agent: string): void {
  const unknown = Object.keys(standIns).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const reason = `\`tools\` has "${unknown}", and the agent has ${[...known].join(", ") || "no tools"}.`;
  throw new WritError("definition-invalid", { where: `simulate() of "${agent}"`, reason });
}
