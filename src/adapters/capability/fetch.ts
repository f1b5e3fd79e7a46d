import type { Fetch, FetchOptions } from "../../tool/handles.ts";
import { firstHop, type Hop, shown } from "./fetch-hop.ts";
import { handleFailed, type Lifetime } from "./lifetime.ts";
import type { Lookup } from "./vetted-lookup.ts";

const defaultMaxBytes = 10_000_000;

/** The network handle of one call. HTTP code is loaded at its first use. */
export function makeFetch(lifetime: Lifetime, lookup: Lookup): Fetch {
  return (address, options = {}) =>
    lifetime.run(
      "fetch",
      async (signal) => {
        const hop = firstHop(address, options, lifetime);
        const maxBytes = checkedBytes(options, hop);
        const { follow } = await import("./fetch-follow.ts");
        return follow(hop, { lifetime, lookup, maxBytes, signal });
      },
      options.signal,
    );
}

function checkedBytes({ maxBytes = defaultMaxBytes }: FetchOptions, { url }: Hop): number {
  if (typeof maxBytes === "number" && maxBytes > 0) return maxBytes;
  throw handleFailed(shown(url), "`maxBytes` must be a positive number.");
}
