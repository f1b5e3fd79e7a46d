/** The folder of this package's own code, also where it was bundled: what is called there is not where an author wrote something. Empty in a
 * CommonJS bundle, where code has no address: no places are told there. */
const own = URL.canParse("..", import.meta.url) ? new URL("..", import.meta.url).href : "";
/** The frames that are looked through for one of an author. */
const frames = 5;

interface Written {
  /** The frames of the call. Made into text when somebody asks: until then it costs a microsecond or two. */
  readonly at: { readonly stack?: string };
  /** The text of which the thing was made, where it was. */
  readonly text?: string;
}

// Register: where authors wrote rules and policies, for people who look for them.
const known = new WeakMap<object, Written>();

/** Remembers the place in an author's code from which a function was called that made something. Nothing where the engine cannot tell. */
export function noteWritten(thing: object, by: (...given: never[]) => unknown, text?: string): void {
  if (!("captureStackTrace" in Error)) return;
  const at: { stack?: string } = {};
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = frames;
    Error.captureStackTrace(at, by);
    known.set(thing, text === undefined ? { at } : { at, text });
  } catch {
    // a program that froze `Error` is told no places
  } finally {
    restore(stackTraceLimit);
  }
}

function restore(limit: number): void {
  try {
    Error.stackTraceLimit = limit;
  } catch {
    // it could not be changed either
  }
}

/** A thing that was made of another one stands where that does. */
export function sameWritten(thing: object, as: object): void {
  const written = known.get(as);
  if (written !== undefined) known.set(thing, written);
}

/** A place in an author's code. */
export interface WrittenAt {
  /** A path or an address. */
  readonly file: string;
  readonly line: number;
}

/** The place where an author wrote a thing; undefined where that is not known. */
export function writtenAt(thing: object): WrittenAt | undefined {
  const { at } = known.get(thing) ?? {};
  for (const frame of (at?.stack ?? "").split("\n")) {
    const [, file = "", line = ""] =
      /(?:\(|at )((?:file:\/\/|\/|[A-Za-z]:[\\/]).+?):(\d+):\d+\)?$/.exec(frame) ?? [];
    const isOwn = file.startsWith(own) || `file://${file}`.startsWith(own);
    if (file !== "" && !isOwn) return { file: file.replace(/\?.*$/, ""), line: Number(line) };
  }
  return undefined;
}

/** The text of which a thing was made; undefined where it was not. */
export function writtenIn(thing: object): string | undefined {
  return known.get(thing)?.text;
}
