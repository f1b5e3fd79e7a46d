import type { Label } from "../message/label.ts";
import type { Capability, CapabilityKind, Resource } from "./capability.ts";
import type { Handles } from "./handles.ts";

/** Lists of capabilities, outermost first: a resource may be used if each list has a capability that covers it. */
export type Powers = readonly (readonly Capability[])[];

/** The place of a run among nested runs. */
export interface Level {
  /** 0 for an outermost run. */
  readonly depth: number;
  /** The depth that the runs around it permit. */
  readonly maxDepth: number;
}

/** The call that code runs in, as seen by the runs that the code begins: the model that made the call asks for them, and for nothing else. */
export interface CallAround extends Level {
  readonly intent: { readonly text: string; readonly constants: readonly string[]; readonly hash: string };
  /** The label of what the code hands over now: of what the model had seen, the tool's own data, and what runs inside the call have seen so far. */
  readonly label: Label;
  /** Receives the label of what a run inside has seen. */
  readonly saw: (label: Label) => void;
}

/**
 * The powers of code that runs inside a tool, and the call of that tool. It follows the work across
 * `await`.
 */
export interface PowerScope {
  readonly tool: string;
  readonly callId: string;
  /** The grants of every run around the call, and the tool's declaration. */
  readonly powers: Powers;
  /** The call itself; undefined for a function that a program calls directly. */
  readonly from?: CallAround;
  /**
   * True while the call and all calls around it go on. Code that starts later has no powers. Default: for
   * ever.
   */
  readonly isOpen?: () => boolean;
  /** The sessions that runs around this code have for themselves, by the ids of their visits. */
  readonly sessions?: readonly string[];
  /** True while a handle, or code of the author outside of tools, is running: the guard in tests ignores it. */
  readonly isHandle?: boolean;
}

/** The scope and the kinds with which handles are opened. */
export interface HandleRequest {
  readonly scope: PowerScope;
  /** The kinds that the tool declared: no other handles are made. */
  readonly kinds: ReadonlySet<CapabilityKind>;
  /** Checks a canonical resource, records the check, and throws if it may not be used. @throws WritError `capability-denied` */
  readonly use: (resource: Resource) => void;
  readonly signal: AbortSignal;
}

/** Handles that are open as long as their call. */
export interface OpenHandles {
  readonly handles: Partial<Omit<Handles, "llm">>;
  /** Ends accesses under way; every later use throws `capability-closed`. */
  readonly close: () => void;
}

/** Runs work in a context, which is kept across `await`, timers and callbacks. */
export type InContext = <Value>(work: () => Value) => Value;

/** The machine's side of capabilities: the source of handles, and the record of which code runs inside which call. */
export interface PowerPort {
  open(request: HandleRequest): OpenHandles;
  /** Runs work inside a scope: {@link current} returns it to all code that the work calls, also after an `await`, and to no other. Without a scope the work is outside of all tools. */
  inside<Value>(scope: PowerScope | undefined, work: () => Value): Value;
  /** The context of this moment, with the values that the program keeps in it, such as the span of its telemetry. */
  context(): InContext;
  /** The scope of the tool call that this code runs in; undefined outside of all tools. */
  current(): PowerScope | undefined;
  /** A text without the values of secrets used in this process, however they are encoded. */
  scrub(text: string): string;
  /** True once a secret was used in this process. */
  readonly holdsSecrets: boolean;
}
