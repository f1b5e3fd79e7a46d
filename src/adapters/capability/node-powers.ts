import { AsyncLocalStorage } from "node:async_hooks";
import type { CapabilityKind } from "../../tool/capability.ts";
import type { Handles } from "../../tool/handles.ts";
import type { HandleRequest, PowerPort } from "../../tool/power-port.ts";
import { makeExec } from "./exec.ts";
import { makeFetch } from "./fetch.ts";
import { type Lifetime, openLifetime, current, inside } from "./lifetime.ts";
import { readFiles } from "./read-files.ts";
import { type FileJudge, fileJudge } from "./real-path.ts";
import { makeSecrets, scrub, toldOfSecrets } from "./secrets.ts";
import { type Lookup, systemLookup } from "./vetted-lookup.ts";
import { writeFiles } from "./write-files.ts";

/** The powers of Node, with the given resolver of names. Tests give another one. */
export function makePowers(lookup: Lookup): PowerPort {
  return toldOfSecrets({
    open(request: HandleRequest) {
      const lifetime = openLifetime(request);
      return { handles: handlesOf(request.kinds, lifetime, lookup), close: () => lifetime.close() };
    },
    inside,
    context: () => AsyncLocalStorage.snapshot(),
    current,
    scrub,
    holdsSecrets: false,
  });
}

/** The capabilities of this machine, on Node. */
export const nodePowers: PowerPort = makePowers(systemLookup);

/** The handles of these kinds, and no others. */
function handlesOf(
  kinds: HandleRequest["kinds"],
  lifetime: Lifetime,
  lookup: Lookup,
): Partial<Omit<Handles, "llm">> {
  const judge = fileJudge(lifetime);
  const has = (kind: CapabilityKind): boolean => kinds.has(kind);
  return Object.freeze({
    ...(has("net") ? { fetch: makeFetch(lifetime, lookup) } : {}),
    ...(has("fs.read") || has("fs.write") ? { fs: filesOf(kinds, lifetime, judge) } : {}),
    ...(has("env") ? { env: makeEnv(lifetime) } : {}),
    ...(has("secret") ? { secret: makeSecrets(lifetime) } : {}),
    ...(has("exec") ? { exec: makeExec(lifetime, judge) } : {}),
  });
}

function filesOf(kinds: HandleRequest["kinds"], lifetime: Lifetime, judge: FileJudge): Handles["fs"] {
  const files = {
    ...(kinds.has("fs.read") ? readFiles(lifetime, judge) : {}),
    ...(kinds.has("fs.write") ? writeFiles(lifetime, judge) : {}),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a half that was not declared is missing by the tool's type too
  return Object.freeze(files) as Handles["fs"];
}

function makeEnv(lifetime: Lifetime): Handles["env"] {
  return (name) =>
    lifetime.runNow("env", () => {
      lifetime.use({ kind: "env", name });
      return Object.hasOwn(process.env, name) ? process.env[name] : undefined;
    });
}
