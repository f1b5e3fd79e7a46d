import { Writable } from "node:stream";

type Write = typeof process.stdout.write;

// Register: the way to write to standard output while it is taken, and the number of those who took it.
let own: Write | undefined;
let takers = 0;

/**
 * Takes standard output for `writeOut` and `ownOutput` alone: a reader of JSON, or a client of a protocol, expects nothing else there. Anything that tools
 * and programs write to it goes to standard error, where people read it. The returned function gives it back.
 */
export function takeOutput(): () => void {
  takers += 1;
  if (own === undefined) {
    own = process.stdout.write.bind(process.stdout);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the streams take the same arguments
    process.stdout.write = ((...given: Parameters<Write>) => writeBeside(given)) as Write;
  }
  let isTaken = true;
  return () => {
    if (!isTaken) return;
    isTaken = false;
    takers -= 1;
    if (takers > 0 || own === undefined) return;
    process.stdout.write = own;
    own = undefined;
  };
}

/** Writes to standard error. A stream that is piped to standard output goes on once that one has room again. */
function writeBeside(given: Parameters<Write>): boolean {
  const { stderr } = process;
  const hasRoom = stderr.write(...given);
  if (!hasRoom && !stderr.listeners("drain").includes(tellRoom)) stderr.once("drain", tellRoom);
  return hasRoom;
}

const tellRoom = (): void => void process.stdout.emit("drain");

/** Writes to standard output, also while it is taken. False if its reader is slow. */
export function writeOut(text: string | Uint8Array, done?: (error?: Error | null) => void): boolean {
  return own === undefined ? process.stdout.write(text, undefined, done) : own(text, undefined, done);
}

/** Standard output as a stream of its own, also while it is taken. */
export function ownOutput(): Writable {
  return new Writable({ write: (chunk: Uint8Array, _encoding, done) => void writeOut(chunk, done) });
}

// Depends on: the command. Without a reader it has nothing to do, except a command that carries out runs which others began.
let whenUnread = (): void => process.exit();

/** Ends the command if the reader of its output has gone. */
export const endUnread = (): void => whenUnread();

/** Sets another function to call in this case. */
export function onUnread(act: () => void): void {
  whenUnread = act;
}
