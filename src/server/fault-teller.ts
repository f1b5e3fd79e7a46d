import type { Host } from "../journal/host.ts";

/** Makes the function that reports a fault of the server to its author. An observer that throws, at once or later, changes nothing. */
export function faultTeller(
  onError: ((fault: unknown) => unknown) | undefined,
  host: Host,
): (fault: unknown) => void {
  const warn = (fault: unknown): void =>
    host.warn?.({ code: "WRIT_SERVER_FAILED", text: String(fault), isDeprecation: false });
  const tell = async (fault: unknown): Promise<void> => {
    try {
      await (onError ?? warn)(fault);
    } catch {
      // the observer has a fault of its own
    }
  };
  return (fault) => void tell(fault);
}
