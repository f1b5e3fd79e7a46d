import type { Feature } from "./contract.ts";
import type { Scene } from "./scene.ts";

/** A case of the suite. */
export interface Case {
  /** `area/name`. */
  readonly id: string;
  /** The requirement on a runtime, in one sentence. */
  readonly asks: string;
  /** Why it matters to a user of an agent built on the runtime. */
  readonly why: string;
  readonly needs?: readonly Feature[];
  /** The case may end without a request to the model. Every other case fails where the model was not asked. */
  readonly asksNobody?: true;
  readonly play: (scene: Scene) => Promise<void>;
  /** The work of a process of its own, for cases that kill one. Returns what the process reports. */
  readonly phase?: (scene: Scene, phase: string) => Promise<unknown>;
}
