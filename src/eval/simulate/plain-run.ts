import type { RunResult } from "../../agent/runnable.ts";
import type { Approval } from "../../run/approval.ts";
import type { ApprovalRequest } from "../../policy/rules/approval-request.ts";
import type { SignalWait } from "../../tool/waits.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import type { Machine } from "./machine.ts";
import type { RunAsked, SimulatedRun } from "./simulated-run.ts";
import { drawAnswer, drawSignal, signalValue } from "./person.ts";
import { never } from "./world.ts";

/** A run that lives in one process, and ends with it. */
export class PlainRun implements SimulatedRun {
  readonly id: string;
  machine: Machine;
  isDone = false;
  result: RunResult<unknown> | undefined;
  thrown: unknown;
  private readonly stopping = new AbortController();

  constructor(asked: RunAsked, machine: Machine) {
    this.id = asked.id;
    this.machine = machine;
    machine.world.watch?.({ type: "takes", runId: this.id, machine: machine.number });
    void this.carryOut(asked);
  }

  stop(): void {
    this.machine.world.note(`${this.id} is stopped`);
    this.machine.world.stopped(this.id);
    this.machine.world.watch?.({ type: "hears-stop", runId: this.id });
    this.stopping.abort("the caller stopped it");
  }

  handOver(): void {
    // No other process can go on with a run without a journal.
  }

  private async carryOut({ id, input, session, skill, agentOn }: RunAsked): Promise<void> {
    const { machine } = this;
    const handle = session?.(machine);
    try {
      this.result = await agentOn(machine).run(input, {
        runId: id,
        signal: this.stopping.signal,
        approve: (request) => approve(id, request, machine),
        onWait: (wait) => send(wait, machine),
        ...(handle === undefined ? {} : { session: handle }),
        ...(skill === undefined ? {} : { skill }),
      });
      machine.world.note(`${id} ends: ${JSON.stringify(this.result.outcome)}`);
    } catch (error) {
      this.thrown = error;
      machine.world.note(`${id} throws ${String(error)}`);
    }
    this.isDone = true;
  }
}

async function approve(
  runId: string,
  request: ApprovalRequest,
  machine: Machine,
): Promise<boolean | Approval> {
  const { world } = machine;
  const at = `person ${world.count("person")}`;
  const { callId, tool, arguments: args } = request;
  world.note(`${at} is asked about ${tool} ${JSON.stringify(args)}`);
  const deviation = world.choose({ kind: "person", at }, (random) => drawAnswer(random, request, false));
  if (deviation?.does === "keeps-silent") await never();
  await machine.sleep(1000 + (deviation?.ms ?? 0));
  const isYes = deviation?.does !== "refuses";
  world.answers.push({
    runId,
    callId,
    tool,
    question: `${request.agent} ${callId}`,
    isYes,
    isOther: false,
    asked: args,
    edited: deviation?.arguments,
    isTaken: true,
  });
  world.watch?.({ type: "answers", callId, isYes });
  world.note(`${at} says ${isYes ? "yes" : "no"}`);
  if (!isYes) return { approved: false, reason: "the person said no" };
  return edited(deviation?.arguments) ?? true;
}

/** Sends the signal that a tool waits for. */
async function send({ name, tool, schema }: SignalWait, machine: Machine): Promise<Json> {
  const { world } = machine;
  const at = `person ${world.count("person")}`;
  world.note(`${at} is asked for the signal ${name} of ${tool}`);
  const deviation = world.choose({ kind: "person", at }, drawSignal);
  if (deviation?.does === "keeps-silent") await never();
  await machine.sleep(1000 + (deviation?.ms ?? 0));
  const value = signalValue(schema, world);
  world.note(`the signal ${name} ${JSON.stringify(value)} is sent`);
  return value;
}

function edited(args: JsonObject | undefined): Approval | undefined {
  return args === undefined ? undefined : { approved: true, arguments: args };
}
