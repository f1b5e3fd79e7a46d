import { fitsOpen } from "../policy/rules/judge-plan.ts";
import type { Label } from "../message/label.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { isJsonObject, type Json, parseJson } from "../util/json.ts";
import type { Ready } from "./call.ts";

/** An approval for the rest of a run, as the ledger keeps it: the hash of a call, or the hash of a set with the names of its open arguments. */
export function approvedAs(fate: Ready, hash: string, free: readonly string[] = []): string {
  if (free.length === 0) return hash;
  const names = [...new Set(free)].toSorted();
  return `${setHash(fate, names)} ${JSON.stringify(names)}`;
}

/** True if a person approved exactly this call for the rest of the run, or a set that it is in. */
export function isApproved(approved: readonly string[], fate: Ready, hash: string): boolean {
  return approved.some((entry) => entry === hash || isIn(entry, fate));
}

function isIn(entry: string, fate: Ready): boolean {
  const [, digest, list = ""] = /^(\S+) (.+)$/s.exec(entry) ?? [];
  const names = parseJson(list);
  if (digest === undefined || !names.ok || !Array.isArray(names.value)) return false;
  const free = names.value.map(String);
  return free.every((name) => fitsOpen(fate.request, name)) && setHash(fate, free) === digest;
}

/**
 * The hash of all calls that differ from one in open arguments only. It changes once the run has read more that is not for everybody: a model may put
 * that into the open arguments.
 */
function setHash({ at, call, request }: Ready, free: readonly string[]): string {
  const { arguments: args, knows } = request;
  const bound = isJsonObject(args)
    ? Object.fromEntries(Object.entries(args).filter(([name]) => !free.includes(name)))
    : args;
  const { digest } = at.batch.run.host;
  return digest(`${call.name} ${canonicalJson({ bound, free, secrecy: readersOf(knows.label) })}`);
}

function readersOf({ secrecy }: Label): Json {
  return typeof secrecy === "string" ? secrecy : [...secrecy.readers];
}
