/** Reads a header by its name in lower case. */
export type HeaderOf = (name: string) => string | null | undefined;

/** How many milliseconds a provider asks to be left alone: seconds, or the time at which it may be asked again. Undefined when it does not say. */
export function retryAfterMs(headerOf: HeaderOf): number | undefined {
  const exact = headerOf("retry-after-ms")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(exact)) return Number(exact);
  const said = headerOf("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(said)) return Number(said) * 1000;
  const at = Date.parse(said);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
