import { memoryRuns, type RunStore } from "../../src/durable.ts";
import type { StoreUnderTest } from "./run-store.ts";

const places = new Map<string, RunStore>();

/** Stores in memory: all who open an address have the same one. */
export const memoryUnderTest: StoreUnderTest = {
  openRuns: async (address) => Object.assign(places.get(address) ?? memoryRuns(), { close: () => undefined }),
  place() {
    const address = String(places.size);
    places.set(address, memoryRuns());
    return Promise.resolve({ address, remove: () => undefined });
  },
};
