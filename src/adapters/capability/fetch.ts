import { closed } from "../../error/check-shape.ts";
import type { Fetch, FetchOptions } from "../../tool/handles.ts";
import { anything, optional, record, refined, string } from "../../util/shape.ts";
import { firstHop, type Hop, shown } from "./fetch-hop.ts";
import { checkOptions, handleFailed, type Lifetime, ownSignal, signalIn } from "./lifetime.ts";
import type { Lookup } from "./vetted-lookup.ts";

const defaultMaxBytes = 10_000_000;

/** The network handle of one call. HTTP code is loaded at its first use. */
export function makeFetch(lifetime: Lifetime, lookup: Lookup): Fetch {
  return (address, options = {}) =>
    lifetime.run(
      "fetch",
      async (signal) => {
        checkOptions("fetch", options, optionsShape);
        const hop = firstHop(address, options, lifetime);
        const maxBytes = checkedBytes(options, hop);
        const { follow } = await import("./fetch-follow.ts");
        return follow(hop, { lifetime, lookup, maxBytes, signal });
      },
      signalIn(options),
    );
}

const optionsShape = closed({
  method: optional(string),
  headers: optional(
    refined(record, "must be a plain object of names and values", (headers) => !(Symbol.iterator in headers)),
  ),
  body: anything,
  maxBytes: anything,
  signal: ownSignal,
});

function checkedBytes({ maxBytes = defaultMaxBytes }: FetchOptions, { url }: Hop): number {
  if (typeof maxBytes === "number" && maxBytes > 0) return maxBytes;
  throw handleFailed(shown(url), "`maxBytes` must be a positive number.");
}
