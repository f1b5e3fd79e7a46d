import type { Socket } from "node:net";
import { messageOf } from "../../error/writ-error.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../util/json.ts";
import { atProgramEnd } from "../at-program-end.ts";
import { pipeOf } from "../start-program.ts";
import { encodeFrame, type Frame, frameReader } from "./child/frames.ts";
import { instantFd, pipeFd, type ToCell } from "./child/messages.ts";
import { launch, type Launched, type LaunchOptions } from "./launch.ts";

/** A fault of a cell, not of the work that it did. */
export class CellError extends Error {
  override readonly name: string = "CellError";
}

/** The bounds of what a cell sends in one call. */
const limits = {
  frameBytes: 32_000_000,
  instantBytes: 1_000_000,
  callBytes: 128_000_000,
  messages: 20_000,
  errorBytes: 16_000_000,
};

/** The receivers of a cell's messages. */
export interface LinkListeners {
  readonly onMessage: (message: JsonObject, bytes: Uint8Array) => void;
  /** Receives messages whose answer the cell blocks for. */
  readonly onInstant: (message: JsonObject, bytes: Uint8Array) => void;
  /** Called once, when the process has ended for any reason. */
  readonly onEnd: (error: CellError) => void;
}

/** The process of a cell, with its pipes. */
export interface Link {
  /** The address of the module for the process. */
  readonly module: string;
  readonly ended: () => CellError | undefined;
  send(message: ToCell, bytes?: Uint8Array): void;
  sendInstantly(message: ToCell): void;
  /** Ends the process at once. */
  end(reason: string): void;
  /** Restarts the count of what it sends. */
  renew(): void;
  /** With true, the process keeps the program running. */
  hold(isHeld: boolean): void;
}

/**
 * Starts a process and listens to it. Its messages are bounded in length, depth and number; anything beyond a bound, or that is not a message, ends it.
 */
export function openLink(options: LaunchOptions, { onMessage, onInstant, onEnd }: LinkListeners): Link {
  const { process: child, module } = launched(options);
  const [errors, pipe, instant] = [pipeOf(child, 2), pipeOf(child, pipeFd), pipeOf(child, instantFd)];
  const streams = [errors, pipe, instant];
  let ended: CellError | undefined;
  let used = { bytes: 0, messages: 0, errorBytes: 0 };
  let words = "";

  function end(reason: string): void {
    if (ended !== undefined) return;
    ended = new CellError(reason, words === "" ? undefined : { cause: new Error(words) });
    child.kill("SIGKILL");
    for (const stream of streams) stream.destroy();
    onEnd(ended);
  }

  function read({ text, bytes }: Frame, listener: LinkListeners["onMessage"]): void {
    used.messages += 1;
    used.bytes += text.length + bytes.length;
    if (used.messages > limits.messages || used.bytes > limits.callBytes)
      return end("it sent more than a call may");
    if (ended !== undefined) return;
    const parsed = parseJson(text);
    if (parsed.ok && isJsonObject(parsed.value)) listener(parsed.value, bytes);
    else end(`it wrote what is no message: ${parsed.ok ? "no object" : parsed.reason}`);
  }

  function write(stream: Socket, message: ToCell, bytes?: Uint8Array): void {
    if (ended !== undefined) return;
    stream.write(encodeFrame(message, bytes));
    if (stream.writableLength > 4 * limits.frameBytes) end("it does not read what it asked for");
  }

  child.once(
    "exit",
    atProgramEnd(() => child.kill("SIGKILL")),
  );
  child.on("error", (error) => end(`it cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    // Its last messages may still be on their way.
    setTimeout(() => end(describeEnd(code, signal, words)), 20);
  });
  errors.setEncoding("utf8").on("data", (chunk: string) => {
    words = (words + chunk).slice(-4_000);
    used.errorBytes += chunk.length;
    if (used.errorBytes > limits.errorBytes) end("it printed without end");
  });
  for (const stream of streams) stream.on("error", () => undefined); // its end is reported by `exit`
  const endAbove = (maxBytes: number) => (bytes: number) =>
    end(`it wrote a message of ${bytes} bytes: ${maxBytes} at most go to the program`);
  const onFrame = (frame: Frame): void => read(frame, onMessage);
  const { frameBytes, instantBytes } = limits;
  const onTooLong = endAbove(frameBytes);
  pipe.on("data", frameReader({ maxBytes: frameBytes, onFrame, onTooLong }));
  const onInstantFrame = (frame: Frame): void => read(frame, onInstant);
  const onInstantTooLong = endAbove(instantBytes);
  const instantly = { maxBytes: instantBytes, onFrame: onInstantFrame, onTooLong: onInstantTooLong };
  instant.on("data", frameReader(instantly));

  return {
    module,
    ended: () => ended,
    send: (message, bytes) => write(pipe, message, bytes),
    sendInstantly: (message) => write(instant, message),
    end,
    renew() {
      used = { bytes: 0, messages: 0, errorBytes: 0 };
    },
    hold(isHeld) {
      for (const each of [child, ...streams])
        if (isHeld) each.ref();
        else each.unref();
    },
  };
}

function launched(options: LaunchOptions): Launched {
  try {
    return launch(options);
  } catch (cause) {
    throw new CellError(`it cannot be started: ${messageOf(cause)}`, { cause });
  }
}

/** The reason for the process's end. Its own output is only searched for messages about memory. */
function describeEnd(code: number | null, signal: string | null, words: string): string {
  if (/out of memory|Reached heap limit|bad_alloc|ERR_MEMORY_ALLOCATION/i.test(words))
    return "it used more memory than it may";
  return signal === null ? `its process ended with exit code ${code}` : `its process was ended by ${signal}`;
}
