import { canonicalJson } from "../../util/canonical-json.ts";
import type { Json, JsonObject } from "../../util/json.ts";

/**
 * The purpose of a run, declared once before it begins and frozen: the user's words, the author's constants, and
 * the hashes of what binds the run. No output of a model or a tool can change it. A later message of the
 * user begins another run with another intent, which names this one as `previous`.
 */
export interface Intent {
  /** The user's own words: the only text that values are bound to. */
  readonly text: string;
  /** Values that the author vouches for, such as the user's own address. */
  readonly constants: readonly string[];
  readonly agent: string;
  readonly skill: string;
  /** The hashes of the policy; of the names, descriptions and schemas of all tools that may be called; and of the bounds. */
  readonly policy: string;
  readonly tools: string;
  readonly limits: string;
  /** SHA-256 of all of the above: part of every event, record and checkpoint of the run. */
  readonly hash: string;
  /** The hash of the previous intent: of the last run in a session, or from before an accepted change. */
  readonly previous?: string;
}

/** The hashes of what binds a run, each made on first use. */
export type HeldTo = Readonly<Record<"policy" | "tools" | "limits", () => string>>;

/** The parts of an intent; the hash covers all of them except `previous`. */
export interface IntentParts extends Omit<Intent, "hash" | keyof HeldTo> {
  readonly held: HeldTo;
}

/** SHA-256 of a text, in hexadecimal, by the host. */
export type Digest = (text: string) => string;

/** Freezes an intent. Its hashes are made on first use: a run that is neither watched nor kept needs none. */
export function makeIntent(parts: IntentParts, digest: Digest): Intent {
  return Object.freeze(new FrozenIntent(parts, digest));
}

/** An intent as plain data. */
export function plainIntent(intent: Intent): Intent {
  const { text, constants, agent, skill, policy, tools, limits, hash, previous } = intent;
  const parts = { text, constants, agent, skill, policy, tools, limits, hash };
  return previous === undefined ? parts : { ...parts, previous };
}

/** A class because every run has one: its hashes are behind getters of the prototype, which a spread does not copy. */
class FrozenIntent implements Intent {
  readonly text: string;
  readonly constants: readonly string[];
  readonly agent: string;
  readonly skill: string;
  readonly previous?: string;
  readonly #held: HeldTo;
  readonly #digest: Digest;
  #hash: string | undefined;

  constructor(parts: IntentParts, digest: Digest) {
    const { text, constants, agent, skill, previous, held } = parts;
    this.text = text;
    this.constants = Object.freeze([...constants]);
    this.agent = agent;
    this.skill = skill;
    if (previous !== undefined) this.previous = previous;
    this.#held = held;
    this.#digest = digest;
  }

  get policy(): string {
    return this.#held.policy();
  }

  get tools(): string {
    return this.#held.tools();
  }

  get limits(): string {
    return this.#held.limits();
  }

  get hash(): string {
    return (this.#hash ??= this.#digest(canonicalJson(this.hashed())));
  }

  toJSON(): Intent {
    return plainIntent(this);
  }

  private hashed(): JsonObject {
    const { text, agent, skill, policy, tools, limits, constants } = this;
    return { text, agent, skill, policy, tools, limits, constants: [...constants] };
  }
}

/** The intent in plain data, with a new hash. */
export function rehashed(intent: Omit<Intent, "hash">, digest: Digest): Intent {
  const { policy, tools, limits } = intent;
  return makeIntent(
    { ...intent, held: { policy: () => policy, tools: () => tools, limits: () => limits } },
    digest,
  );
}

/** The parts of an intent outside of a run: a call that a program makes directly has none. */
export function noIntent(agent: string): Intent {
  return { text: "", constants: [], agent, skill: agent, policy: "", tools: "", limits: "", hash: "" };
}

/** The parts in which an intent has changed: a run that goes on must be the run that began. */
export function changedParts(was: Intent, is: Intent): readonly IntentPart[] {
  return intentParts.filter((part) => canonicalJson(asJson(was[part])) !== canonicalJson(asJson(is[part])));
}

/** A part of an intent that can differ when a run goes on. */
export type IntentPart = (typeof intentParts)[number];

export const intentParts = ["text", "constants", "agent", "skill", "policy", "tools", "limits"] as const;

function asJson(part: string | readonly string[]): Json {
  return typeof part === "string" ? part : [...part];
}
