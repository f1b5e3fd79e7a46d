import { canonicalJson } from "../../util/canonical-json.ts";
import type { Json } from "../../util/json.ts";
import { lazy } from "../../util/lazy.ts";

/**
 * What a run is for, said once before it begins and frozen: the user's words, the author's constants, and what the run is held to. No output of a
 * model or a tool can change it; a later message of the user begins another run with another intent, which names this one as `previous`.
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

/** What an intent is made of; the hash is made of all of it. */
export type IntentParts = Omit<Intent, "hash">;

/** SHA-256 of a text, in hexadecimal: the machine's. */
export type Digest = (text: string) => string;

/** Freezes an intent. Its hashes are made when something first looks at them: a run that nobody watches or keeps needs none. */
export function makeIntent(parts: IntentParts, digest: Digest): Intent {
  const { text, agent, skill, previous } = parts;
  const constants = Object.freeze([...parts.constants]);
  const hash = lazy(() => {
    const { policy, tools, limits } = parts;
    return digest(canonicalJson({ text, agent, skill, policy, tools, limits, constants: [...constants] }));
  });
  return Object.freeze({
    text,
    agent,
    skill,
    get policy() {
      return parts.policy;
    },
    get tools() {
      return parts.tools;
    },
    get limits() {
      return parts.limits;
    },
    constants,
    get hash() {
      return hash();
    },
    ...(previous === undefined ? {} : { previous }),
  });
}

/** The parts of an intent that are no run's: what is called directly by a program has none. */
export function noIntent(agent: string): Intent {
  return { text: "", constants: [], agent, skill: agent, policy: "", tools: "", limits: "", hash: "" };
}

/** What of an intent is another than it was: a run that goes on must be the run that began. */
export function changedParts(was: Intent, is: Intent): readonly IntentPart[] {
  return intentParts.filter((part) => canonicalJson(asJson(was[part])) !== canonicalJson(asJson(is[part])));
}

/** A part of an intent that can differ when a run goes on. */
export type IntentPart = (typeof intentParts)[number];

export const intentParts = ["text", "constants", "agent", "skill", "policy", "tools", "limits"] as const;

function asJson(part: string | readonly string[]): Json {
  return typeof part === "string" ? part : [...part];
}
