import type { Label } from "../message/label.ts";
import type { Capability, CapabilityKind, Resource } from "./capability.ts";
import type { Handles } from "./handles.ts";

/** Lists of capabilities, from the outermost: a resource may be used when each list has a capability that covers it. */
export type Powers = readonly (readonly Capability[])[];

/** The place of a run among those that run inside each other. */
export interface Level {
  /** 0 for a run that nothing is around. */
  readonly depth: number;
  /** The depth that the runs around it allow. */
  readonly maxDepth: number;
}

/** The call that code runs in, as the runs see it that the code begins: they are asked by the model that made the call, and for nothing else. */
export interface CallAround extends Level {
  readonly intent: { readonly text: string; readonly constants: readonly string[]; readonly hash: string };
  /** Of what the code hands over now: what the model had seen, what the tool says of its own data, and what runs inside the call have seen so far. */
  readonly label: Label;
  /** Told what a run inside has seen. */
  readonly saw: (label: Label) => void;
}

/**
 * The powers of code that runs inside a tool, and the call of that tool. It goes with the work across
 * `await`.
 */
export interface PowerScope {
  readonly tool: string;
  readonly callId: string;
  /** The grants of every run around the call, and what the tool declared. */
  readonly powers: Powers;
  /** The call itself; undefined for a function that a program calls by itself. */
  readonly from?: CallAround;
  /**
   * True while the call and all calls around it go on. Code begun afterwards has no powers. Default: for
   * ever.
   */
  readonly isOpen?: () => boolean;
  /** The sessions that runs around this code have to themselves, by the ids of their visits. */
  readonly sessions?: readonly string[];
  /** True while a handle itself is at work, or code of the author that is no tool: the guard of tests looks away. */
  readonly isHandle?: boolean;
}

/** The scope and the kinds by which handles are opened. */
export interface HandleRequest {
  readonly scope: PowerScope;
  /** The kinds that the tool declared: other handles are not made. */
  readonly kinds: ReadonlySet<CapabilityKind>;
  /** Judges a canonical resource, records the look, and throws when it may not be used. @throws WritError `capability-denied` */
  readonly use: (resource: Resource) => void;
  readonly signal: AbortSignal;
}

/** Handles that are open as long as their call. */
export interface OpenHandles {
  readonly handles: Partial<Omit<Handles, "llm">>;
  /** Ends what is under way; every later use throws `capability-closed`. */
  readonly close: () => void;
}

/** The machine's side of capabilities: where handles come from, and who runs inside what. */
export interface PowerPort {
  open(request: HandleRequest): OpenHandles;
  /** Runs work inside a scope: {@link current} gives it to all that the work calls, also after `await`, and to nothing else. */
  inside<Value>(scope: PowerScope, work: () => Value): Value;
  /** The scope of the tool call that this code runs in; undefined outside of all tools. */
  current(): PowerScope | undefined;
  /** A text without the values of secrets that were used in this process, however they are encoded. */
  scrub(text: string): string;
  /** True once a secret was used in this process. */
  readonly holdsSecrets: boolean;
}
