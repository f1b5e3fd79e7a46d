import { exitCodes } from "./exit-code.ts";
import type { Output } from "./output.ts";
import { onUnread } from "../adapters/own-output.ts";

/** The signal that ends a run: Ctrl-C gives it, and whoever ends the process from outside. */
export interface Interrupts {
  readonly signal: AbortSignal;
  readonly stopListening: () => void;
}

/** Signals that end a command: Ctrl-C, whoever ends the process from outside, and a terminal that is closed. */
const endSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

// Depends on: the signals that this process was sent.
let isToEnd = false;

/** Tells whether this process was told to end, and not just to stop what goes on, as Ctrl-C does. */
export const toldToEndAll = (): boolean => isToEnd;

/** Listens for signals that end a process: the first one aborts what goes on, so that it leaves nothing running, and a second one ends the process at once. */
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

/** Resolves at the first signal that ends a command, and where nobody reads its output any more. A second signal ends the process at once. */
export function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    onUnread(resolve);
    for (const signal of endSignals)
      process.once(signal, () => {
        process.on(signal, endAtOnce);
        resolve();
      });
  });
}

/** Ends the process at a second signal. A terminal that is closed may send its own twice: the system does, and the shell does. */
function endAtOnce(name: NodeJS.Signals): void {
  if (name !== "SIGHUP") process.exit(exitCodes.interrupted);
}
