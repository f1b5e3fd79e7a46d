import { exitCodes } from "./exit-code.ts";
import type { Output } from "./output.ts";
import { onUnread } from "../adapters/own-output.ts";

/** The signal that ends a run, after Ctrl-C or a signal from outside the process. */
export interface Interrupts {
  readonly signal: AbortSignal;
  readonly stopListening: () => void;
}

/** The signals that end a command: Ctrl-C, a request from outside the process, and a closed terminal. */
const endSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

// Depends on: the signals that this process was sent.
let isToEnd = false;

/** True if this process was told to end, and not just, as by Ctrl-C, to stop its current work. */
export const toldToEndAll = (): boolean => isToEnd;

/**
 * Listens for signals that end a process: the first one aborts the current work, so that nothing is left running, and a second one ends the process at once.
 */
export function listenForInterrupts(output: Output): Interrupts {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    isToEnd ||= name !== "SIGINT";
    if (controller.signal.aborted) return endAtOnce(name);
    const again = name === "SIGINT" ? " Press Ctrl-C again to exit at once." : "";
    output.progress(`${output.style("yellow", `Stopping.${again}`)}\n`);
    const reason =
      name === "SIGINT" ? "it was interrupted from the keyboard" : `it was told to end (${name})`;
    controller.abort(new Error(reason));
  };
  for (const name of endSignals) process.on(name, onSignal);
  return {
    signal: controller.signal,
    stopListening() {
      for (const name of endSignals) process.off(name, onSignal);
    },
  };
}

/** Resolves at the first signal that ends a command, and when nobody reads its output any more. A second signal ends the process at once. */
export function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    onUnread(resolve);
    for (const signal of endSignals) {
      let wasSent = false; // not a listener added at the first signal: Deno calls it for that one too
      process.on(signal, () => {
        if (wasSent) return endAtOnce(signal);
        wasSent = true;
        resolve();
      });
    }
  });
}

/** Ends the process at a second signal. A second SIGHUP is ignored: for one closed terminal, both the system and the shell may send it. */
function endAtOnce(name: NodeJS.Signals): void {
  if (name !== "SIGHUP") process.exit(exitCodes.interrupted);
}
