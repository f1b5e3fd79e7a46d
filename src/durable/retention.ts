import type { DurableAround } from "./durable-options.ts";
import { repeatedly } from "./repeatedly.ts";

const dayMs = 86_400_000;
/** The most runs that are erased at a time: other writers wait for less than a tenth of a second. */
const most = 20;
const breathMs = 10;

/** Erases runs that ended long ago, in small portions, repeatedly. Returns a function that stops it. */
export function keepTidy({ store, host, keep = { endedDays: 30 } }: DurableAround): () => void {
  if (keep === false) return () => undefined;
  const { endedDays } = keep;
  return repeatedly(host, async () => {
    const count = await store.erase({ endedBefore: host.now() - endedDays * dayMs, most });
    return count === most ? breathMs : undefined;
  });
}
