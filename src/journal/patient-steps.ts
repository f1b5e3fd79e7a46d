import { interrupt } from "../util/interrupt.ts";
import { mapped } from "../util/mapped.ts";
import type { Host } from "./host.ts";
import { type Journal, type Step, withWork } from "./journal.ts";
import { patienceMs, silenceOf } from "./patience.ts";

type Watched = <Result>(step: Step<Result>) => Step<Result>;

/**
 * The steps of a run that may have to end before its journal answers. Once the run is to end and no work of a step goes on, the journal has so long to keep the
 * record: a store that hangs would otherwise hold the run beyond its time. What the journal keeps later stands in it all the same.
 */
export class PatientSteps implements Pick<Journal, "step" | "all"> {
  private readonly journal: Pick<Journal, "step" | "all">;
  private readonly host: Pick<Host, "timer">;
  private readonly ending = interrupt<true>();

  constructor(journal: Pick<Journal, "step" | "all">, host: Pick<Host, "timer">) {
    this.journal = journal;
    this.host = host;
  }

  /** The run is to end: from here on its journal has only so long. */
  hurry(): void {
    this.ending.stop(true);
  }

  step<Result>(step: Step<Result>): Promise<Result> {
    return this.wait((watched) => this.journal.step(watched(step)));
  }

  all<Result>(steps: readonly Step<Result>[]): Promise<Result[]> {
    return this.wait((watched) => this.journal.all(mapped(steps, watched)));
  }

  private wait<Value>(record: (watched: Watched) => Promise<Value>): Promise<Value> {
    const { ending, host } = this;
    let atWork = 0;
    let stopTimer: (() => void) | undefined;
    return new Promise((resolve, reject) => {
      let isKept = false;
      const giveUp = (): void => reject(silenceOf("its journal"));
      const arm = (): void => {
        stopTimer?.();
        const isOwed = ending.reason !== undefined && atWork === 0 && !isKept;
        stopTimer = isOwed ? host.timer(patienceMs, giveUp) : undefined;
      };
      const worked = (): void => {
        atWork -= 1;
        arm();
      };
      const watched: Watched = (step) =>
        withWork(step, (work) => {
          atWork += 1;
          stopTimer?.();
          const working = work();
          working.then(worked, worked);
          return working;
        });
      const recording = record(watched);
      const forget = ending.onStop(arm);
      const leave = (): void => {
        isKept = true;
        forget();
        stopTimer?.();
      };
      recording.then(
        (value) => {
          leave();
          resolve(value);
        },
        (error: Error) => {
          leave();
          reject(error);
        },
      );
    });
  }
}
