import { describe, expect, it } from "vitest";
import { narrow, permits, whyNot } from "../../src/policy/powers.ts";
import {
  type Capability,
  capabilityText,
  env,
  exec,
  fs,
  llm,
  net,
  type Resource,
  resourceText,
  secret,
} from "../../src/tool/capability.ts";
import type { Powers } from "../../src/tool/power-port.ts";
import { randomFrom } from "../random.ts";

/** How many cases: `WRIT_POWER_CASES=1000000` tries more. */
const cases = Number(process.env["WRIT_POWER_CASES"] ?? 100_000);
const seed = Number(process.env["WRIT_POWER_SEED"] ?? 20_251);

const random = randomFrom(seed);
const below = (end: number): number => Math.floor(random() * end);
const one = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;
const some = <Value>(make: () => Value, most: number): Value[] =>
  Array.from({ length: below(most + 1) }, make);

/** Few names, each with neighbours that differ by a letter, a dot or a part: most pairs are near misses. */
const hosts = [
  "x.com",
  "api.x.com",
  "evilapi.x.com",
  "a.api.x.com",
  "evilx.com",
  "x.com.evil.com",
  "x.co",
  "127.0.0.1",
  "[::1]",
  "8.8.8.8",
  "localhost",
];
const suffixes = ["x.com", "api.x.com", "com.evil.com", "evil.com"];
const ports = [443, 80, 8443];
const folders = ["data", "data2", "dat", "a", "b", "proc", "..data", "data."];
const names = ["APP_KEY", "APP_", "APP", "APP_KEY2", "XAPP_KEY", "app_key"];
const programs = ["git", "gitx", "/usr/bin/git", "/usr/bin/gitx", "/bin/git"];

const path = (): string => `/${some(() => one(folders), 3).join("/")}`;

function capability(): Capability {
  const kind = below(8);
  if (kind < 2) {
    const host = one([one(hosts), one(hosts), `*.${one(suffixes)}`, "*"]);
    return net(`${one(["", "", "https://", "http://"])}${host}${one(["", "", `:${one(ports)}`])}`);
  }
  if (kind === 2) return fs.read(`${path()}${one(["", "/", "/**"])}`);
  if (kind === 3) return fs.write(path());
  if (kind === 4) return env(one([one(names), "APP_*", "APP*"]));
  if (kind === 5) return secret(one(names));
  return kind === 6 ? exec(one(programs)) : llm;
}

function resource(): Resource {
  const kind = below(8);
  if (kind < 2)
    return { kind: "net", protocol: one(["https:", "https:", "http:"]), host: one(hosts), port: one(ports) };
  if (kind === 2 || kind === 3) return { kind: kind === 2 ? "fs.read" : "fs.write", path: path() };
  if (kind === 4 || kind === 5) return { kind: kind === 4 ? "env" : "secret", name: one(names) };
  return kind === 6 ? { kind: "exec", program: one(programs) } : { kind: "llm" };
}

/** A capability made from what is asked for: mostly one that covers it, sometimes one beside it. */
function related(asked: Resource): Capability {
  if (asked.kind === "net") {
    const host = one([asked.host, asked.host, `*.${one(suffixes)}`, "*"]);
    return net(`${asked.protocol}//${host}:${one([asked.port, asked.port, one(ports)])}`);
  }
  if (asked.kind === "fs.read" || asked.kind === "fs.write") {
    const parts = asked.path.split("/");
    const root = parts.slice(0, 1 + below(parts.length)).join("/");
    return (asked.kind === "fs.read" ? fs.read : fs.write)(`${root}${one(["/", "/", "/x", "/**"])}`);
  }
  if (asked.kind === "env") return env(one([asked.name, `${asked.name.slice(0, 3)}*`]));
  if (asked.kind === "secret") return secret(asked.name);
  return asked.kind === "exec" ? exec(asked.program) : llm;
}

/** What coverage means, written down once more and in another way: by lists of labels, of parts and of letters. */
function oracle({ kind, scope }: Capability, resource: Resource): boolean {
  if (kind !== resource.kind) return false;
  if (resource.kind === "llm") return true;
  if (resource.kind === "net") return netOracle(scope, resource);
  if ("path" in resource) {
    const [root, target] = [scope, resource.path].map((text) =>
      text.split("/").filter((part) => part !== ""),
    );
    const isInside = (root ?? []).every((part, index) => target?.[index] === part);
    return isInside && (target?.[0] !== "proc" || root?.[0] === "proc");
  }
  if (resource.kind === "exec") return resource.program === scope;
  if (resource.kind === "secret" || !scope.endsWith("*")) return resource.name === scope;
  const letters = scope.slice(0, -1).split("");
  return letters.every((letter, index) => resource.name[index] === letter);
}

function netOracle(scope: string, { protocol, host, port }: Extract<Resource, { kind: "net" }>): boolean {
  const isPlain = scope.startsWith("http://");
  const rest = isPlain ? scope.slice(7) : scope;
  const written = /:(\d+)$/.exec(rest)?.[1];
  const pattern = written === undefined ? rest : rest.slice(0, -written.length - 1);
  if ((isPlain ? "http:" : "https:") !== protocol) return false;
  if (Number(written ?? (isPlain ? 80 : 443)) !== port) return false;
  if (pattern === "*") return !["127.0.0.1", "[::1]", "localhost"].includes(host);
  const wanted = pattern.split(".").toReversed();
  const labels = host.split(".").toReversed();
  if (wanted.at(-1) !== "*") return pattern === host;
  return (
    labels.length >= wanted.length && wanted.slice(0, -1).every((label, index) => labels[index] === label)
  );
}

const told = (powers: Powers, resource: Resource): string =>
  `seed ${seed}: ${resourceText(resource)} by ${JSON.stringify(powers.map((list) => list.map(capabilityText)))}`;

describe(`powers, ${cases} random cases`, () => {
  it("allows exactly what is declared and granted, and nesting only shrinks [Y11, Y12, Y3.1]", () => {
    let allowed = 0;
    for (let index = 0; index < cases; index += 1) {
      const asked = resource();
      const list = (): Capability[] => [...some(capability, 6), ...some(() => related(asked), 1)];
      const granted = list();
      const declared = list();
      const covered = [granted, declared].map((list) => list.some((entry) => oracle(entry, asked)));
      const powers: Powers = [granted, declared];
      const isAllowed = permits(powers, asked);
      if (isAllowed) allowed += 1;
      if (isAllowed !== (covered[0] === true && covered[1] === true)) expect.fail(told(powers, asked));
      if ((whyNot(powers, asked) === undefined) !== isAllowed) expect.fail(told(powers, asked));
      // a run inside: nothing that was forbidden becomes allowed, and what is allowed is what its own list covers too
      const inner = list();
      const nested = narrow(powers, inner);
      const isInner = permits(nested, asked);
      const expected = isAllowed && inner.some((entry) => oracle(entry, asked));
      if (isInner !== expected) expect.fail(told(nested, asked));
    }
    // The cases are worth something only when both answers are frequent.
    expect(allowed).toBeGreaterThan(cases / 20);
    expect(allowed).toBeLessThan(cases / 2);
  });
});
