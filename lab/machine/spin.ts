/** Lets spin go through all states of a model. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The findings of spin. */
export interface Checked {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly seconds: number;
  /** True when spin went through all states. */
  readonly isWhole: boolean;
  /** The invariant that does not hold, `stuck`, or undefined. */
  readonly broken?: string;
  /** The moves that lead to it. */
  readonly moves: readonly string[];
}

/** True where spin and gcc are installed. */
export function hasSpin(): boolean {
  return ["spin", "gcc"].every((program) => spawnSync(program, ["--version"]).error === undefined);
}

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? Number.NaN);

/** Goes through all states and stops at the first fault; with `shortest`, at the one with the fewest moves. */
export function checked(promela: string, { shortest = false } = {}): Checked {
  const cwd = mkdtempSync(join(tmpdir(), "machine-"));
  const run = (program: string, ...args: readonly string[]): string =>
    execFileSync(program, args, { cwd, encoding: "utf8", maxBuffer: 1e8 });
  try {
    writeFileSync(join(cwd, "machine.pml"), promela);
    run("spin", "-a", "machine.pml");
    run("gcc", "-O0", "-DSAFETY", ...(shortest ? ["-DBFS"] : []), "-o", "pan", "pan.c");
    const told = run("./pan", "-n", "-m1000000");
    const errors = numberIn(told, /errors: (\d+)/);
    const trail = errors > 0 ? run("spin", "-t", "machine.pml") : "";
    const broken = /BROKEN ([\w-]+)/.exec(trail)?.[1];
    return {
      states: numberIn(told, /([\d.e+]+) states, stored/),
      transitions: numberIn(told, /([\d.e+]+) transitions/),
      depth: numberIn(told, /depth reached (\d+)/),
      seconds: numberIn(told, /elapsed time ([\d.]+) seconds/),
      isWhole: !/Search not completed|max search depth too small/.test(told),
      ...(errors > 0 ? { broken: broken ?? "stuck" } : {}),
      moves: [...trail.matchAll(/MOVE (.+)/g)].map((match) => match[1]?.trim() ?? ""),
    };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
