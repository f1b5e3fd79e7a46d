import { isAddress, isLoopback, isPublicAddress } from "../../tool/address.ts";
import { resourceText } from "../../tool/capability.ts";
import type { NetPlace } from "../../tool/net-scope.ts";
import { asHandleFailed, handleFailed, type Lifetime } from "./lifetime.ts";

/** An address without brackets, and the version of its protocol. */
export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Returns all addresses of a name. */
export type Lookup = (host: string) => Promise<readonly Address[]>;

/** The resolver of the system. IPv4 addresses come first: they are seldom unreachable where IPv6 works. */
export const systemLookup: Lookup = async (host) => {
  const { lookup } = await import("node:dns/promises");
  const found = await lookup(host, { all: true, order: "ipv4first" });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/**
 * The addresses of a place, looked up once. A name that leads to a private address, even by one of several, is allowed only
 * if that address may be used itself; `localhost` may lead only to this machine.
 *
 * @throws WritError `capability-denied`, `handle-failed`
 */
export async function vettedAddresses(
  place: NetPlace,
  lifetime: Pick<Lifetime, "use">,
  lookup: Lookup,
): Promise<readonly Address[]> {
  const { host } = place;
  const resource = resourceText({ kind: "net", ...place });
  if (isAddress(host)) return [addressOf(host)];
  const found = await lookup(host).catch((error: unknown) => {
    throw asHandleFailed(resource, error);
  });
  if (found.length === 0) throw handleFailed(resource, "the name has no address.");
  for (const { address } of found) {
    if (!isAddress(address)) throw handleFailed(resource, "the name leads to something that is no address.");
    if (host === "localhost") {
      if (!isLoopback(address)) throw handleFailed(resource, "localhost leads to another machine.");
    } else if (!isPublicAddress(address)) {
      lifetime.use({ kind: "net", ...place, host: literalOf(address) });
    }
  }
  return found;
}

function addressOf(host: string): Address {
  return host.startsWith("[") ? { address: host.slice(1, -1), family: 6 } : { address: host, family: 4 };
}

function literalOf(address: string): string {
  return address.includes(":") ? (URL.parse(`http://[${address}]/`)?.hostname ?? address) : address;
}
