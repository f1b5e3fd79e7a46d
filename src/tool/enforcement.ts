/**
 * The enforcement of a declaration on code. `isolated`: another process, or another heap, that cannot reach more.
 * `mediated`: every access through its handles is checked; code of this process that bypasses them is not
 * restricted. `remote`: it runs elsewhere, and nothing can be enforced here. `none`: nothing is checked.
 */
export type EnforcementLevel = "isolated" | "mediated" | "remote" | "none";

/** The enforcement of a tool on this machine, as found by trying. */
export interface Enforcement {
  readonly level: EnforcementLevel;
  /** `linux-bwrap`, `quickjs`, `handles`, `mcp`, `in process`. */
  readonly mechanism: string;
  readonly platform: string;
  /** The attempts made inside the isolator before its first use, each with whether it was stopped. */
  readonly probes: readonly Probe[];
  /** The author's reason for running untrusted code without isolation; part of every trace. */
  readonly unenforced?: string;
}

/** One thing that isolated code must not be able to do. */
export interface Probe {
  readonly name: string;
  readonly held: boolean;
}
