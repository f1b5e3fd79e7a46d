/**
 * The hold of a declaration on code. `isolated`: another process, or another heap, that cannot reach more.
 * `mediated`: every access through its handles is checked; code of this process that goes around them is not
 * held. `remote`: it runs elsewhere, nothing of it can be enforced here. `none`: nothing is checked.
 */
export type EnforcementLevel = "isolated" | "mediated" | "remote" | "none";

/** The enforcement of a tool on this machine, as it was found by trying. */
export interface Enforcement {
  readonly level: EnforcementLevel;
  /** `linux-bwrap`, `quickjs`, `handles`, `mcp`, `in process`. */
  readonly mechanism: string;
  readonly platform: string;
  /** Attempts inside the isolator before it was first used, and whether each was held. */
  readonly probes: readonly Probe[];
  /** The author's reason for running untrusted code without isolation. In every trace. */
  readonly unenforced?: string;
}

/** One thing that isolated code must not be able to do. */
export interface Probe {
  readonly name: string;
  readonly held: boolean;
}
