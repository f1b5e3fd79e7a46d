import type { Runnable, RunResult } from "../../agent/runnable.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { SessionHandle } from "../../session/session.ts";
import type { Machine } from "./machine.ts";

/** A run that a simulation begins. */
export interface RunAsked {
  readonly id: string;
  readonly input: never;
  readonly skill?: string;
  readonly session?: (machine: Machine) => SessionHandle;
  /** The agent on a machine. */
  readonly agentOn: (machine: Machine) => Runnable;
}

/** A run of a simulation, however it is carried out. */
export interface SimulatedRun {
  readonly id: string;
  /** The machine that carries it out, or carried it out last. */
  readonly machine: Machine;
  readonly isDone: boolean;
  readonly result: RunResult<unknown> | undefined;
  readonly thrown: unknown;
  /** The end of a durable run in its store. */
  readonly end?: Outcome;
  stop(): void;
  handOver(): void;
  /** Reads the end of a durable run again, once nothing happens any more. */
  lookAgain?(): Promise<void>;
}
