import { canonicalJson } from "../../util/canonical-json.ts";
import type { Json, JsonObject } from "../../util/json.ts";

/**
 * The purpose of a run, said once before it begins and frozen: the user's words, the author's constants, and
 * the hashes of what the run is held to. No output of a model or a tool can change it. A later message of the
 * user begins another run with another intent, which names this one as `previous`.
 */
export interface Intent {
  /** The user's own words: the only text that values are bound to. */
  readonly text: string;
  /** Values that the author vouches for, like the user's own address. */
  readonly constants: readonly string[];
  readonly agent: string;
  readonly skill: string;
  /** Hashes of the policy, of the names, descriptions and schemas of all tools that may be called, and of the bounds. */
  readonly policy: string;
  readonly tools: string;
  readonly limits: string;
  /** SHA-256 of all of the above. In every event, record and checkpoint of the run. */
  readonly hash: string;
  /** The hash of the intent of the run before, in a session, or before a change that was accepted. */
  readonly previous?: string;
}

/** The hashes of what a run is held to, each made when something looks at it. */
export type HeldTo = Readonly<Record<"policy" | "tools" | "limits", () => string>>;

/** The parts of an intent; the hash is made of all of them but `previous`. */
export interface IntentParts extends Omit<Intent, "hash" | keyof HeldTo> {
  readonly held: HeldTo;
}

/** SHA-256 of a text, in hexadecimal: the machine's. */
export type Digest = (text: string) => string;

/** Freezes an intent. Its hashes are made when something first looks at them: a run that nobody watches or keeps needs none. */
export function makeIntent(parts: IntentParts, digest: Digest): Intent {
  return Object.freeze(new FrozenIntent(parts, digest));
}

/** An intent as plain data. */
export function plainIntent(intent: Intent): Intent {
  const { text, constants, agent, skill, policy, tools, limits, hash, previous } = intent;
  const parts = { text, constants, agent, skill, policy, tools, limits, hash };
  return previous === undefined ? parts : { ...parts, previous };
}

/** A class, since every run has one: its hashes stay behind getters of the prototype, which a spread does not copy. */
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

/** The intent that plain data says, hashed anew. */
export function rehashed(intent: Omit<Intent, "hash">, digest: Digest): Intent {
  const { policy, tools, limits } = intent;
  return makeIntent(
    { ...intent, held: { policy: () => policy, tools: () => tools, limits: () => limits } },
    digest,
  );
}

/** The parts of an intent that are no run's: what is called directly by a program has none. */
export function noIntent(agent: string): Intent {
  return { text: "", constants: [], agent, skill: agent, policy: "", tools: "", limits: "", hash: "" };
}

/** The parts in which an intent is another than it was: a run that goes on must be the run that began. */
export function changedParts(was: Intent, is: Intent): readonly IntentPart[] {
  return intentParts.filter((part) => canonicalJson(asJson(was[part])) !== canonicalJson(asJson(is[part])));
}

/** A part of an intent that can differ when a run goes on. */
export type IntentPart = (typeof intentParts)[number];

export const intentParts = ["text", "constants", "agent", "skill", "policy", "tools", "limits"] as const;

function asJson(part: string | readonly string[]): Json {
  return typeof part === "string" ? part : [...part];
}
