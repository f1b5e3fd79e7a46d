import { type Capability, covers, readCapability, type Resource } from "../../tool/capability.ts";
import { assertNever } from "../../util/assert-never.ts";
import { placeOf } from "../../tool/net-scope.ts";

/** A name that nobody uses: it stands for everything that a `*` covers. */
const anyName = "writ-any-name";

/** True if one capability covers everything that another one covers. */
export function contains(wide: Capability, narrow: Capability): boolean {
  if (wide.kind !== narrow.kind) return false;
  if (wide.scope === narrow.scope) return true;
  const sample = sampleOf(narrow);
  return sample !== undefined && covers(wide, sample);
}

/** True if two capabilities have anything in common. */
export function overlaps(one: Capability, other: Capability): boolean {
  return contains(one, other) || contains(other, one);
}

/** Reads a capability in the form of manifests, `net(api.weather.com)`; undefined if it is not one. */
export function readText(text: string): Capability | undefined {
  const [, kind = text, scope = ""] = /^([a-z.]+)\((.*)\)$/s.exec(text) ?? [];
  try {
    return readCapability({ kind, scope });
  } catch {
    return undefined;
  }
}

/** A sample resource that stands for everything that a capability covers. */
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
