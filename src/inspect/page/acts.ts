import type { ReplayedRun, TriedCall } from "../view.ts";
import type { Json } from "../../util/json.ts";

/** The answer of a person on the page. */
export interface GivenAnswer {
  readonly key: string;
  readonly hash: string;
  readonly approved: boolean;
  readonly reason?: string;
  readonly arguments?: Json;
  readonly for?: "run";
}

/** The acts of the page on a run. Undefined if there are none, and then `cannot` says why. */
export interface Acts {
  readonly cannot?: string;
  answer(run: string, answer: GivenAnswer): Promise<void>;
  fork(run: string, wanted: object): Promise<void>;
  replay(run: string): Promise<ReplayedRun>;
  policy(agent: string): Promise<{ readonly name: string; readonly policy?: object }>;
  tryPolicy(run: string, policy: unknown): Promise<readonly TriedCall[]>;
}
