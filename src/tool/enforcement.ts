/**
 * How far code is held to what it declared. `isolated`: another process, or another heap, that cannot reach more. `mediated`: every access
 * through its handles is checked; code of this process that goes around them is not held. `remote`: it runs elsewhere, nothing of it can be
 * enforced here. `none`: nothing is checked.
 */
export type EnforcementLevel = "isolated" | "mediated" | "remote" | "none";

/** What holds for a tool on this machine, as it was found by trying. */
export interface Enforcement {
  readonly level: EnforcementLevel;
  /** `linux-bwrap`, `quickjs`, `handles`, `mcp`, `in process`. */
  readonly mechanism: string;
  readonly platform: string;
  /** What was tried inside the isolator before it was first used, and whether it was held. Empty where there is none. */
  readonly probes: readonly Probe[];
  /** The author's reason for running untrusted code without isolation. In every trace. */
  readonly unenforced?: string;
}

/** One thing that isolated code must not be able to do. */
export interface Probe {
  readonly name: string;
  readonly held: boolean;
}
