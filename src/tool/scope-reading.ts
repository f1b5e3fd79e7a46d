/** A scope in its one canonical spelling, or why the text is none. */
export type ScopeReading =
  | { readonly ok: true; readonly scope: string }
  | { readonly ok: false; readonly reason: string };

export function readScope(scope: string): ScopeReading {
  return { ok: true, scope };
}

export function noScope(reason: string): ScopeReading {
  return { ok: false, reason };
}
