import { type Capability, covers, readCapability, type Resource } from "../../tool/capability.ts";
import { assertNever } from "../../util/assert-never.ts";
import { placeOf } from "../../tool/net-scope.ts";

/** A name that nobody grants or needs by itself: it stands for all that a `*` stands for. */
const anyName = "writ-any-name";

/** True when one capability is enough for everything that another one is. */
export function contains(wide: Capability, narrow: Capability): boolean {
  if (wide.kind !== narrow.kind) return false;
  if (wide.scope === narrow.scope) return true;
  const sample = sampleOf(narrow);
  return sample !== undefined && covers(wide, sample);
}

/** True when two capabilities have anything in common. */
export function overlaps(one: Capability, other: Capability): boolean {
  return contains(one, other) || contains(other, one);
}

/** Reads a capability as manifests have it, `net(api.weather.com)`; undefined for what is none. */
export function readText(text: string): Capability | undefined {
  const [, kind = text, scope = ""] = /^([a-z.]+)\((.*)\)$/s.exec(text) ?? [];
  try {
    return readCapability({ kind, scope });
  } catch {
    return undefined;
  }
}

/** One thing that stands for all that a capability is enough for. */
function sampleOf({ kind, scope }: Capability): Resource | undefined {
  const named = scope.replaceAll("*", kind === "env" ? "WRIT_ANY_NAME" : anyName);
  switch (kind) {
    case "net": {
      const place = URL.canParse(address(named)) ? placeOf(new URL(address(named))) : "";
      return typeof place === "string" ? undefined : { kind, ...place };
    }
    case "fs.read":
    case "fs.write":
      return { kind, path: scope };
    case "env":
    case "secret":
      return { kind, name: named };
    case "exec":
      return { kind, program: scope };
    case "llm":
      return { kind };
    default:
      return assertNever(kind);
  }
}

function address(scope: string): string {
  return scope.includes("://") ? scope : `https://${scope}`;
}
