/**
 * A short benchmark for continuous integration: writ and the minimal loop only. It looks at ratios, by the cheapest repetition in processor
 * time, because nothing else holds still on a shared machine. A ratio that is too high is measured again, six times in all, and its median
 * counts: one lucky repetition of the minimal loop must not decide.
 *
 * Fails when a turn at 1 000 turns costs over 2.5 times one at 100; when 10 000 deltas cost over 15 times 1 000, of which calls are read or not; or when a ratio to the
 * minimal loop is over twice the one noted in ratios.json. Run: npm run bench:smoke [-- --note], which notes the ratios of this run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { median } from "./measure.ts";
import { runWorker } from "./run-worker.ts";

const attempts = 6;
const notesFile = new URL("ratios.json", import.meta.url);

interface Place {
  readonly peer: "writ" | "floor";
  readonly name: string;
  readonly size: number;
}

/** `above` over `below` must be at most `limit`. */
interface Check {
  readonly says: string;
  readonly above: Place;
  readonly below: Place;
  readonly limit: number;
  /** The name under which the ratio is noted. */
  readonly note?: string;
}

async function costOf({ peer, name, size }: Place): Promise<number> {
  const key = `${peer} ${name} ${size}`;
  const result = await runWorker(peer, name, size);
  if ("error" in result) throw new Error(`${key}: ${result.error}`);
  const cpu = result.figures[0]?.cpu;
  if (cpu === undefined) throw new Error(`${key} gives no processor time.`);
  return cpu;
}

function place(peer: Place["peer"], name: string, size: number): Place {
  return { peer, name, size };
}

function floorCheck(notes: Readonly<Record<string, number>>, name: string, size: number): Check {
  const note = `${name} ${size}`;
  return {
    says: `${note} to the floor`,
    above: place("writ", name, size),
    below: place("floor", name, size),
    limit: 2 * (notes[note] ?? Infinity),
    note,
  };
}

function checksOf(notes: Readonly<Record<string, number>>): readonly Check[] {
  const flat = (name: string): Check => {
    // Costs are for one delta, so 15 times in all is 1.5 times each. 1.0 to 1.28 were seen, by the machine's day; a cost that is not linear gives about 10.
    return {
      says: `a delta of 10 000 ${name} to one of 1 000`,
      above: place("writ", name, 10_000),
      below: place("writ", name, 1000),
      limit: 1.5,
    };
  };
  return [
    {
      says: "a turn of 1 000 to one of 100",
      above: place("writ", "turns", 1000),
      below: place("writ", "turns", 100),
      // The growing part is garbage collection of what a long run keeps: 1.2 to 1.7 were seen. A cost that is not linear gives about 10.
      limit: 2.5,
    },
    flat("text"),
    flat("arguments"),
    flat("text-calls"),
    flat("text-calls-long"),
    ...(
      [
        ["turns", 100],
        ["stream-turns", 100],
        ["parallel", 1000],
        ["text", 10_000],
        ["objects", 10_000],
        ["arguments", 10_000],
        ["concurrent", 1000],
      ] as const
    ).map(([name, size]) => floorCheck(notes, name, size)),
  ];
}

/** The ratio of each check: the first one within its limit, else the median of all attempts. Places that checks share are measured once an attempt. */
async function ratiosOf(checks: readonly Check[], note: boolean): Promise<ReadonlyMap<Check, number>> {
  const seen = new Map<Check, number[]>(checks.map((check) => [check, []]));
  const isDone = (check: Check): boolean => !note && (seen.get(check)?.at(-1) ?? Infinity) <= check.limit;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const left = checks.filter((check) => !isDone(check));
    const costs = new Map<string, number>();
    for (const where of left.flatMap(({ above, below }) => [above, below])) {
      const key = JSON.stringify(where);
      if (!costs.has(key)) costs.set(key, await costOf(where));
    }
    const cost = (where: Place): number => costs.get(JSON.stringify(where)) ?? Number.NaN;
    for (const check of left) seen.get(check)?.push(cost(check.above) / cost(check.below));
  }
  return new Map(
    checks.map((check) => {
      const ratios = seen.get(check) ?? [];
      return [check, isDone(check) ? (ratios.at(-1) ?? Number.NaN) : median(ratios)];
    }),
  );
}

const { values } = parseArgs({ options: { note: { type: "boolean", default: false } } });
const notes = values.note
  ? {}
  : (JSON.parse(readFileSync(notesFile, "utf8")) as Readonly<Record<string, number>>);
const checks = checksOf(notes);
const ratios = await ratiosOf(checks, values.note);
const failed = checks.filter((check) => !((ratios.get(check) ?? Number.NaN) <= check.limit));
for (const [check, ratio] of ratios) {
  const limit = check.limit === Infinity ? "not noted" : `at most ${check.limit.toFixed(1)}`;
  console.log(`${failed.includes(check) ? "FAIL" : "ok  "} ${check.says}: ${ratio.toFixed(2)} (${limit})`);
}
if (values.note) {
  const noted = [...ratios].flatMap(([{ note }, ratio]) =>
    note === undefined ? [] : [[note, Number(ratio.toFixed(1))] as const],
  );
  writeFileSync(notesFile, `${JSON.stringify(Object.fromEntries(noted), undefined, 2)}\n`);
  console.log("Noted in bench/ratios.json.");
}
if (failed.length > 0) process.exitCode = 1;
