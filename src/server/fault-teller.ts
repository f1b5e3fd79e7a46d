import type { Host } from "../journal/host.ts";

/** Makes what tells an author of a fault of the server. An observer changes nothing, whether it throws at once or later. */
export function faultTeller(
  onError: ((error: unknown) => unknown) | undefined,
  host: Host,
): (error: unknown) => void {
  const warn = (error: unknown): void =>
    host.warn?.({ code: "WRIT_SERVER_FAILED", text: String(error), isDeprecation: false });
  const tell = async (error: unknown): Promise<unknown> => (onError ?? warn)(error);
  return (error) => void tell(error).catch(() => undefined);
}
