import fc from "fast-check";
import { strayReason } from "./build-tools.ts";
import type { Faults } from "./checks.ts";
import { playAgent, shown } from "./play-agent.ts";
import {
  capabilityScene,
  playCapability,
  playPolicy,
  playSchema,
  playTranscript,
  policyScene,
  schemaScene,
  transcriptScene,
} from "./play-data.ts";
import { doorScene, playDoor } from "./play-doors.ts";
import { mcpScene, playMcp } from "./play-mcp.ts";
import { playValidator, slowest, validatorScene } from "./play-validator.ts";
import { playWorld, worldScene } from "./play-world.ts";
import { playResume, playSession, resumeScene, sessionScene } from "./play-later.ts";
import { count, takeBooks, type Tally } from "./record.ts";
import { scene } from "./scene.ts";
import { secretName, secretValue, tick } from "./world.ts";

/** A kind of scene: what is in it, how it is played, and how many of a hundred runs are of it. */
interface Kind {
  readonly share: number;
  readonly check: (
    fuzzing: fc.Parameters<[unknown]>,
    around: (play: () => Promise<Faults>) => Promise<Faults>,
  ) => Promise<fc.RunDetails<[unknown]>>;
}

function kind<Value>(
  share: number,
  scenes: fc.Arbitrary<Value>,
  play: (value: Value) => Promise<Faults>,
): Kind {
  return {
    share,
    check: (parameters, around) =>
      fc.check(
        fc.asyncProperty(scenes, async (value) => {
          const faults = await around(() => play(value));
          if (faults.length > 0) throw new Error(faults.slice(0, 4).join("\n"));
        }),
        parameters as fc.Parameters<[Value]>,
      ) as Promise<fc.RunDetails<[unknown]>>,
  };
}

const kinds: Readonly<Record<string, Kind>> = {
  agent: kind(50, scene, playAgent),
  door: kind(12, doorScene, playDoor),
  resume: kind(8, resumeScene, playResume),
  session: kind(8, sessionScene, playSession),
  policy: kind(7, policyScene, playPolicy),
  capability: kind(5, capabilityScene, playCapability),
  transcript: kind(4, transcriptScene, playTranscript),
  schema: kind(3, schemaScene, playSchema),
  validator: kind(6, validatorScene, playValidator),
  mcp: kind(2, mcpScene, playMcp),
  world: kind(2, worldScene, playWorld),
};

/** The kinds of scenes there are. */
export const kindNames: readonly string[] = Object.keys(kinds);

/** What is run. */
export interface Fuzzing {
  readonly runs: number;
  /** The same seed gives the same scenes. Default: from the clock. */
  readonly seed?: number;
  /** One kind of scenes alone. */
  readonly only?: string;
  /** Faults whose words contain one of these are passed over: to look for others while known ones are mended. */
  readonly ignore?: readonly string[];
  /** The place of one scene under its seed, as a failure names it. */
  readonly path?: string;
  /** Milliseconds of this thread that one call of a validator may take. Default: not looked at. */
  readonly validatorMs?: number;
  readonly onProgress?: (done: number, runs: number) => void;
  /** Told the number of a kind, and that of the scene in it, before it is played. */
  readonly onScene?: (kind: number, scene: number) => void;
}

/** A scene in which an invariant did not hold, made as small as it could be. */
export interface Failure {
  readonly kind: string;
  readonly seed: number;
  readonly path: string;
  readonly faults: string;
  readonly scene: string;
  /** The command that plays it again. */
  readonly command: string;
}

/** What came out. */
export interface Fuzzed {
  readonly runs: number;
  readonly seed: number;
  readonly milliseconds: number;
  readonly byKind: Readonly<Record<string, number>>;
  /** What happened in them. */
  readonly tally: Readonly<Tally>;
  readonly failures: readonly Failure[];
}

/** Longer than any scene may hold up the thread, in milliseconds of its own: on a busy machine a scene waits for others. */
const longestScene = 5000;

/** Plays random scenes of every kind in the real runtime and checks the invariants after each. */
export async function fuzzRuns({
  runs,
  seed = Date.now() % 2 ** 31,
  only,
  path,
  ignore = [],
  validatorMs = Infinity,
  onProgress,
  onScene,
}: Fuzzing): Promise<Fuzzed> {
  const wanted = Object.entries(kinds).filter(([name]) => only === undefined || name === only);
  if (wanted.length === 0) throw new Error(`there is no kind "${only}": ${kindNames.join(", ")}`);
  const shares = wanted.reduce((sum, [, { share }]) => sum + share, 0);
  slowest.ms = validatorMs;
  const began = performance.now();
  const guard = watchProcess();
  const failures: Failure[] = [];
  const byKind: Record<string, number> = {};
  const tally: Tally = {};
  let done = 0;
  let place = { kind: 0, scene: 0 };
  const around = async (play: () => Promise<Faults>): Promise<Faults> => {
    done += 1;
    onScene?.(place.kind, place.scene);
    place = { ...place, scene: place.scene + 1 };
    if (done % 500 === 0) onProgress?.(done, runs);
    const faults = await guard.around(play);
    for (const book of takeBooks()) count(tally, book);
    return faults.filter((fault) => !ignore.some((words) => fault.includes(words)));
  };
  try {
    for (const [name, { share, check }] of wanted) {
      place = { kind: kindNames.indexOf(name), scene: 0 };
      const numRuns = Math.max(1, Math.ceil((runs * share) / shares));
      const details = await check({ numRuns, seed, ...(path === undefined ? {} : { path }) }, around);
      byKind[name] = details.numRuns;
      if (details.failed) failures.push(failureOf(name, details));
    }
  } finally {
    guard.end();
  }
  return { runs: done, seed, milliseconds: performance.now() - began, byKind, tally, failures };
}

function failureOf(
  name: string,
  { seed, counterexamplePath, counterexample, errorInstance }: fc.RunDetails<[unknown]>,
): Failure {
  const path = counterexamplePath ?? "";
  return {
    kind: name,
    seed,
    path,
    faults: errorInstance instanceof Error ? errorInstance.message : shown(errorInstance),
    scene: fc.stringify(counterexample?.[0]),
    command: `npm run fuzz -- --only ${name} --seed ${seed} --path "${path}"`,
  };
}

/** A failure as people read it. */
export function failureText({ kind, faults, scene, command }: Failure): string {
  return `${kind}: ${faults}\n  scene: ${scene}\n  again: ${command}`;
}

interface Guard {
  readonly around: (play: () => Promise<Faults>) => Promise<Faults>;
  readonly end: () => void;
}

const guarded: readonly (readonly [string, object])[] = [
  ["Object.prototype", Object.prototype],
  ["Array.prototype", Array.prototype],
  ["Function.prototype", Function.prototype],
  ["Promise.prototype", Promise.prototype],
  ["String.prototype", String.prototype],
  ["Map.prototype", Map.prototype],
];

/** Looks at what no scene may change: prototypes, rejections that nobody took, the network, the time that it takes. */
function watchProcess(): Guard {
  const before = guarded.map(([, prototype]) => descriptors(prototype));
  const unhandled: unknown[] = [];
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  const listen = (reason: unknown): void => void (isStray(reason) ? 0 : unhandled.push(reason));
  process.on("unhandledRejection", listen);
  const { fetch } = globalThis;
  const fetched: string[] = [];
  globalThis.fetch = (target) => {
    fetched.push(target instanceof Request ? target.url : target.toString());
    return Promise.reject(new Error("no network while scenes are played"));
  };
  const old = process.env[secretName];
  process.env[secretName] = secretValue;
  return {
    async around(play) {
      const began = process.threadCpuUsage();
      const faults = await played(play);
      const { user, system } = process.threadCpuUsage(began);
      const took = (user + system) / 1000;
      await tick();
      if (took > longestScene) faults.push(`the scene took ${Math.round(took)} ms`);
      for (const reason of unhandled.splice(0)) faults.push(`unhandled rejection: ${shown(reason)}`);
      for (const target of fetched.splice(0)) faults.push(`fetched ${target}`);
      guarded.forEach(([name, prototype], index) => {
        if (!sameDescriptors(descriptors(prototype), before[index] ?? new Map()))
          faults.push(`${name} was changed`);
      });
      return faults;
    },
    end() {
      globalThis.fetch = fetch;
      if (old === undefined) delete process.env[secretName];
      else process.env[secretName] = old;
      process.off("unhandledRejection", listen);
      for (const listener of listeners) process.on("unhandledRejection", listener);
    },
  };
}

async function played(play: () => Promise<Faults>): Promise<Faults> {
  try {
    return [...(await play())];
  } catch (error) {
    return [`the scene threw ${shown(error)}`];
  }
}

function isStray(reason: unknown): boolean {
  try {
    return reason instanceof Error && reason.message === strayReason;
  } catch {
    return false;
  }
}

function descriptors(prototype: object): ReadonlyMap<string | symbol, unknown> {
  return new Map(
    Reflect.ownKeys(prototype).map((key) => {
      const found = Object.getOwnPropertyDescriptor(prototype, key) ?? {};
      return [key, Reflect.get(found, "value") ?? Reflect.get(found, "get")];
    }),
  );
}

function sameDescriptors(
  now: ReadonlyMap<string | symbol, unknown>,
  before: ReadonlyMap<string | symbol, unknown>,
): boolean {
  return now.size === before.size && [...now].every(([key, value]) => before.get(key) === value);
}
