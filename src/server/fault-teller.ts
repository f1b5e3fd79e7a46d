import type { Host } from "../journal/host.ts";

/** Makes what tells an author of a fault of the server. An observer changes nothing, whether it throws at once or later. */
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
      // whoever is told has a fault of its own
    }
  };
  return (fault) => void tell(fault);
}
