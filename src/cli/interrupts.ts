import { exitCodes } from "./exit-code.ts";
import type { Output } from "./output.ts";

/** Ctrl-C as a signal for what goes on. */
export interface Interrupts {
  readonly signal: AbortSignal;
  readonly stopListening: () => void;
}

/** Listens for Ctrl-C: the first one aborts the signal, a second one ends the process at once. */
export function listenForInterrupts(output: Output): Interrupts {
  const controller = new AbortController();
  const onInterrupt = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    output.progress(`${output.style("yellow", "Stopping. Press Ctrl-C again to exit at once.")}\n`);
    controller.abort(new Error("it was interrupted from the keyboard"));
  };
  process.on("SIGINT", onInterrupt);
  return { signal: controller.signal, stopListening: () => process.off("SIGINT", onInterrupt) };
}
