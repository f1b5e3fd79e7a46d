/** What a stream throws when its signal is aborted: the reason, or an error that says it. */
export function abortErrorOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error
    ? reason
    : new DOMException(`the request was aborted: ${String(reason)}`, "AbortError");
}
