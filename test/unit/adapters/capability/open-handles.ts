import { nodePowers } from "../../../../src/adapters/capability/node-powers.ts";
import { WritError } from "../../../../src/error/writ-error.ts";
import { whyNot } from "../../../../src/policy/powers.ts";
import { type Capability, resourceText } from "../../../../src/tool/capability.ts";
import type { Handles } from "../../../../src/tool/handles.ts";
import type { PowerPort, PowerScope } from "../../../../src/tool/power-port.ts";

/** Handles of a call that was never made, with a look at what was judged. */
export interface Opened extends Handles {
  readonly looks: string[];
  readonly scope: PowerScope;
  readonly close: () => void;
}

export interface OpenOptions {
  /** Default: what is needed. */
  readonly grants?: readonly Capability[];
  readonly signal?: AbortSignal;
  readonly port?: PowerPort;
  readonly tool?: string;
}

/** Opens handles as a run does: what is used must be needed and granted. */
export function openHandles(needs: readonly Capability[], options: OpenOptions = {}): Opened {
  const {
    grants = needs,
    signal = new AbortController().signal,
    port = nodePowers,
    tool = "probe",
  } = options;
  const scope: PowerScope = { tool, callId: "call_1", powers: [grants, needs] };
  const looks: string[] = [];
  const opened = port.open({
    scope,
    kinds: new Set(needs.map(({ kind }) => kind)),
    signal,
    use(resource) {
      const text = resourceText(resource);
      const reason = whyNot(scope.powers, resource);
      looks.push(reason === undefined ? text : `not ${text}`);
      if (reason !== undefined) throw new WritError("capability-denied", { resource: text, reason });
    },
  });
  return { ...(opened.handles as Handles), looks, scope, close: opened.close };
}

/** How something ended: its value, or `code: message` of its error. */
export async function end(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return error instanceof WritError ? `${error.code}: ${error.message}` : error;
  }
}
