import { WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import { surrounded } from "../run/around.ts";
import { isAsked, textOf } from "../message/message.ts";
import type { Transcript } from "../message/transcript.ts";
import { elsewhereText, fieldHere } from "./check-definition.ts";
import { checkRequest } from "./check-request.ts";
import type { AnyDefinition } from "./definition.ts";
import { planAgent, type Wiring } from "./plan.ts";
import { beginCycle } from "./run-agent.ts";
import { type Begun, readerOf, type RunResult } from "./runnable.ts";
import type { RunOptions } from "./run-options.ts";

/** The fields that only agents have: a loop has a transcript, or one skill that asks a model, in their place. */
const agentsAlone = ["instructions", "skills", "selectSkill", "routing", "input"] as const;

/** The definition of a loop: that of an agent with one skill that asks a model. */
export type LoopDefinition = Omit<AnyDefinition, "name" | (typeof agentsAlone)[number]> & {
  /** The name in events and errors. Default `loop`. */
  readonly name?: string;
  /** The conversation, ending with the user's question. Its system message is sent as it is. */
  readonly transcript: Transcript;
};

/** Runs the turn cycle alone, from a transcript. `adapters/engine-doors.ts` makes the one for Node, under the name `loop`. */
export function loopWith(
  definition: LoopDefinition,
  options: RunOptions,
  wiring: Wiring,
): AsyncGenerator<AgentEvent, RunResult<unknown>> {
  return surrounded(
    wiring.host,
    readerOf(() => begin(definition, options, wiring)),
  );
}

/** The parts of an agent and of its runs that a loop lacks, with what to do in place. */
const lacks: Readonly<Record<string, string>> = {
  ...Object.fromEntries(agentsAlone.map((field) => [field, "leave it out"])),
  instructions: "write a system message at the beginning of `transcript`",
  skill: "leave it out",
  session: "go on from the `transcript` of the result",
};

/** The text for a field, by its name here or in another library, that a loop lacks or that stands in the wrong one of its two objects. */
function misplaced(field: string, owner: "agent" | "run", given: object): string | undefined {
  const [here, there] = [
    fieldHere(field, owner, given),
    fieldHere(field, owner === "run" ? "agent" : "run", {}),
  ];
  const place = lacks[/^\w+/.exec(here ?? there ?? "")?.[0] ?? ""];
  if (place !== undefined) return `\`${field}\` is for agents: ${place}.`;
  if (here !== undefined) return here === field ? undefined : elsewhereText(field, owner, given);
  if (there === undefined) return undefined;
  return owner === "run"
    ? `\`${field}\` belongs to the definition: write \`loop({ model, transcript, ${there} })\`.`
    : `\`${field}\` belongs to one run: write \`loop({ model, transcript }, { ${there} })\`.`;
}

/** @throws WritError `definition-invalid` */
function checkPlaces({ transcript: _transcript, ...definition }: LoopDefinition, options: object): void {
  const reason = [
    ...Object.keys(definition).map((field) => misplaced(field, "agent", definition)),
    ...Object.keys(options).map((field) => misplaced(field, "run", options)),
  ].find((text) => text !== undefined);
  if (reason !== undefined) throw new WritError("definition-invalid", { where: "loop()", reason });
}

function begin(given: LoopDefinition, options: RunOptions, wiring: Wiring): Begun {
  checkRequest("loop", given);
  checkPlaces(given, options);
  const { transcript, ...rest } = given;
  const definition: AnyDefinition = { name: "loop", ...rest };
  const { name } = definition;
  const plan = planAgent(definition, wiring);
  const skill = plan.skills.get(name);
  if (skill?.type !== "agentic") throw new WritError("model-missing", { name, skill: name });
  if (transcript.state === "open")
    throw new WritError("transcript-invalid", {
      index: transcript.length - 1,
      reason: "has calls without a result",
    });
  const asked = transcript.messages.findLast(isAsked);
  const input = asked === undefined ? "" : textOf(asked);
  const around = { definition, plan, host: wiring.host };
  return beginCycle(around, { skill, transcript }, { input, options, watched: true });
}
