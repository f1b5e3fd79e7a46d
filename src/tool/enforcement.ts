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

/** A tool that says how its code is enforced. */
interface Enforceable {
  readonly enforcement: (this: { readonly execute: unknown }) => Enforcement | undefined;
}

/**
 * A tool with its enforcement, which holds for the function that executes it: a copy of the tool with another function,
 * `{ ...tool, execute }`, has that function in this process.
 */
export function enforcedTool<Made extends { readonly execute: unknown }>(
  made: Made,
  enforcement: () => Enforcement,
): Made & Enforceable {
  return {
    ...made,
    enforcement() {
      return this.execute === made.execute ? enforcement() : undefined;
    },
  };
}
