import { type Asked, type JournalQuestion, type Step, withWork } from "../../journal/journal.ts";
import type { RunJournal } from "../../durable/run-store.ts";
import { mapped } from "../../util/mapped.ts";
import type { Machine } from "./machine.ts";
import { pick, type Random, type Drawn } from "./schedule.ts";
import { never } from "./world.ts";

/** The things that can happen to the process that has a journal. */
export interface Mortality {
  /** True while another process can go on. */
  readonly hasSpare: () => boolean;
  readonly die: () => void;
  /** Makes the process stand still for so long that it is taken for dead. */
  readonly stall: () => void;
  readonly onQuestion: () => void;
}

/** The keys of calls, the steps whose effect matters most. */
const isCall = /\/call\/\d+$/;

/** The time for which a process stands still. */
const stallMs = 20_000;

/** The deviations at the steps of one process, which can die at a recorded step too. */
class Deaths {
  private readonly machine: Machine;
  private readonly mortality: Mortality;
  /** The deviations at recorded steps that were looked up, until the steps are taken. */
  private readonly ahead = new Map<string, Drawn | undefined>();

  constructor(machine: Machine, mortality: Mortality) {
    this.machine = machine;
    this.mortality = mortality;
  }

  at({ key }: Step<unknown>): Drawn | undefined {
    if (!this.ahead.has(key)) return this.draw(key);
    const death = this.ahead.get(key);
    this.ahead.delete(key);
    return death;
  }

  /** True if nothing happens at recorded steps. Otherwise it happens once they are taken. */
  areQuiet(steps: readonly Step<unknown>[]): boolean {
    const drawn = mapped(steps, ({ key }) => [key, this.draw(key)] as const);
    if (drawn.every(([, death]) => death === undefined)) return true;
    for (const [key, death] of drawn) this.ahead.set(key, death);
    return false;
  }

  private draw(key: string): Drawn | undefined {
    const { world } = this.machine;
    const at = `step ${world.count("step")}`;
    world.note(`${at} is ${key}`);
    return world.choose({ kind: "step", at, weight: isCall.test(key) ? 3 : 1 }, (random) =>
      this.mortality.hasSpare() ? drawDeath(random) : undefined,
    );
  }
}

/** The journal of a run whose process may die at each step. A promise that a dead process waits for never resolves. */
export function dyingJournal(journal: RunJournal, machine: Machine, mortality: Mortality): RunJournal {
  const { process, world } = machine;
  const die = async (): Promise<never> => {
    world.note(`process ${machine.number} dies`);
    mortality.die();
    return never();
  };
  const deaths = new Deaths(machine, mortality);
  function mortal<Result>(step: Step<Result>, death: Drawn | undefined): Step<Result> {
    return withWork(step, async (work) => {
      if (!process.isAlive) return never();
      if (death?.does === "dies-before") return die();
      const result = await work();
      if (!process.isAlive) return never();
      return death?.does === "dies-unkept" ? die() : result;
    });
  }
  async function kept<Result>(result: Result, death: Drawn | undefined): Promise<Result> {
    if (!process.isAlive) return never();
    if (death?.does === "dies-after") return die();
    if (death?.does !== "stalls") return result;
    world.note(`process ${machine.number} stands still`);
    mortality.stall();
    await machine.sleep(stallMs);
    world.note(`process ${machine.number} comes back`);
    return result;
  }
  return {
    ...journal,
    recorded(steps) {
      const results = process.isAlive ? journal.recorded?.(steps) : undefined;
      if (results === undefined) return undefined;
      return deaths.areQuiet(steps) ? results : undefined;
    },
    async step(step) {
      if (!process.isAlive) return never();
      const death = deaths.at(step);
      return kept(await journal.step(mortal(step, death)), death);
    },
    async all(steps) {
      if (!process.isAlive) return never();
      const drawn = mapped(steps, (step) => deaths.at(step));
      const results = await journal.all(mapped(steps, (step, place) => mortal(step, drawn[place])));
      return kept(
        results,
        drawn.find((death) => death?.does === "dies-after" || death?.does === "stalls"),
      );
    },
    ...asking(journal, machine, mortality),
    end: async (end) => (process.isAlive ? journal.end(end) : never()),
    withdraw: async (passed) => (process.isAlive ? journal.withdraw?.(passed) : never()),
    wait: async (passed) => (process.isAlive ? journal.wait(passed) : never()),
    close: async () => (process.isAlive ? journal.close() : never()),
  };
}

/** The questions of a run that can wait: people hear of each one without an answer. */
function asking({ ask }: RunJournal, { process }: Machine, mortality: Mortality): Pick<RunJournal, "ask"> {
  if (ask === undefined) return {};
  return {
    async ask<Answer>(question: JournalQuestion): Promise<Asked<Answer>> {
      if (!process.isAlive) return never();
      const asked = await ask<Answer>(question);
      if ("waitsAt" in asked) mortality.onQuestion();
      return process.isAlive ? asked : never();
    },
  };
}

function drawDeath(random: Random): Drawn {
  return {
    does: pick(random, ["dies-before", "dies-unkept", "dies-after", "stalls"] as const) ?? "dies-after",
  };
}
