import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fingerprint } from "../src/util/hash.ts";
import { filesUnder, root } from "./source-files.ts";

/** The verdict on a fault: a test notices it, no test does, or the compiler refuses it. */
export type Verdict = "noticed" | "survived" | "refused";

/** A fault by its name, and the file that it is in. */
export interface Named {
  readonly name: string;
  readonly path: string;
}

interface Kept {
  readonly verdict: Verdict;
  /** The fingerprint of the file of the fault; for a survivor, of all tests too. */
  readonly of: string;
}

/** The verdicts of earlier runs. */
export interface Verdicts {
  /** The verdict on a fault; undefined where the tests must be asked again. */
  readonly of: (fault: Named) => Verdict | undefined;
  readonly keep: (fault: Named, verdict: Verdict) => void;
}

/**
 * The verdicts in coverage/faults.json. A verdict holds while the file of its fault stays the same. That a fault survived holds only while the tests
 * stay the same too, so that a run after a new test asks about the survivors alone. Without the file, all faults are asked about anew.
 */
export function keptVerdicts(): Verdicts {
  const file = join(root, "coverage/faults.json");
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Kept>) : {};
  const textOf = new Map(filesUnder("src", ".ts").map(({ path, text }) => [path, text]));
  const tests = fingerprint(
    filesUnder("test", ".ts")
      .map(({ path, text }) => path + text)
      .join(""),
  );
  const sign = ({ path }: Named, verdict: Verdict): string =>
    fingerprint(textOf.get(path) ?? "") + (verdict === "survived" ? tests : "");
  return {
    of(fault) {
      const known = kept[fault.name];
      return known?.of === sign(fault, known?.verdict ?? "refused") ? known?.verdict : undefined;
    },
    keep(fault, verdict) {
      kept[fault.name] = { verdict, of: sign(fault, verdict) };
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(kept, undefined, 1));
    },
  };
}
