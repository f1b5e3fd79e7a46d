import { AsyncLocalStorage } from "node:async_hooks";
import type { PowerScope } from "../../tool/power-port.ts";

const scopes = new AsyncLocalStorage<PowerScope>();

/** Runs work inside a scope, which goes with it across `await`, timers and callbacks. */
export function inside<Value>(scope: PowerScope, work: () => Value): Value {
  return scopes.run(scope, work);
}

/** The scope that this code runs in. */
export function current(): PowerScope | undefined {
  return scopes.getStore();
}
