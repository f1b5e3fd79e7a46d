/** A scope in its canonical spelling, or the reason why the text is not one. */
export type ScopeReading =
  | { readonly ok: true; readonly scope: string }
  | { readonly ok: false; readonly reason: string };

export function readScope(scope: string): ScopeReading {
  return { ok: true, scope };
}

export function noScope(reason: string): ScopeReading {
  return { ok: false, reason };
}
