import { type Capability, covers, type Resource } from "../tool/capability.ts";
import type { Powers } from "../tool/power-port.ts";

/**
 * True if a resource may be used: every list of the chain has a capability that covers it. An empty chain
 * permits nothing.
 */
export function permits(powers: Powers, resource: Resource): boolean {
  return powers.length > 0 && powers.every((list) => listCovers(list, resource));
}

/** The powers of the runs inside: never more than those around them, and only what their own list has. */
export function narrow(powers: Powers, list: readonly Capability[]): Powers {
  return [...powers, list];
}

/**
 * The reason, in words, why a chain lacks the resource; undefined if it is permitted. The last list is the tool's declaration, the one before it
 * the grants of its agent or caller; earlier lists belong to calls and runs around it and to the command line. The text does not say what lists have: a model
 * may read it.
 */
export function whyNot(powers: Powers, resource: Resource): string | undefined {
  if (powers.length === 0) return "Nothing is granted here.";
  const lacking = powers.findLastIndex((list) => !listCovers(list, resource));
  if (lacking === -1) return undefined;
  if (lacking === powers.length - 1) return "The tool did not declare it.";
  if (lacking === powers.length - 2) return "It was not granted.";
  return "What is around it (a call, a run, or the command line) does not grant it.";
}

function listCovers(list: readonly Capability[], resource: Resource): boolean {
  return list.some((capability) => covers(capability, resource));
}
