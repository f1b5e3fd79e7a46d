import {
  type Chooser,
  type Deviation,
  type DeviationName,
  deviations,
  type Point,
  type PointKind,
  type Random,
  type Schedule,
} from "./schedule.ts";

/** Pseudo-random numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The chance of a deviation at a point of a kind, in a schedule with such deviations. */
const chances: Readonly<Record<PointKind, readonly number[]>> = {
  model: [0.7, 1],
  tool: [0.1, 0.35],
  person: [0.3, 0.7],
  step: [0.05, 0.2],
  moment: [0.03, 0.1],
  process: [0.3],
  input: [0.4],
};

/** The share of all schedules that have deviations of a kind. Few have all kinds: another schedule shows what one fault hides. */
const shares: Readonly<Record<PointKind, number>> = {
  model: 0.95,
  tool: 0.45,
  person: 0.6,
  step: 0.5,
  moment: 0.2,
  process: 0.5,
  input: 0.5,
};

/** The share of schedules whose runs are durable: they cost several times as much as others. */
const durableShare = 0.3;

/** The deviations that may be drawn. */
export interface Drawable {
  readonly faults: ReadonlySet<DeviationName>;
  /** True if runs may be durable. */
  readonly durable: boolean;
}

/** Draws a schedule from a seed while it is played: first the kinds of its deviations, then at each point whether one happens. */
export class Drawing implements Chooser {
  readonly durable: boolean;
  private readonly drawn: Deviation[] = [];
  private readonly random: Random;
  private readonly chance = new Map<PointKind, number>();
  private readonly faults: ReadonlySet<DeviationName>;
  /** The number of replies in which the model still proposes calls. */
  private proposals: number;

  constructor(seed: number, { faults, durable }: Drawable) {
    this.random = randomFrom(seed);
    this.faults = faults;
    this.durable = durable && this.random() < durableShare;
    for (const kind of kinds) {
      const share = shares[kind];
      const [low, high = low] = chances[kind];
      const some = this.random();
      const isPossible = deviations[kind].some((name) => faults.has(name));
      if (isPossible && some < share && (this.durable || !needDurable.has(kind)))
        this.chance.set(kind, some < share / 2 ? (low ?? 0) : (high ?? 0));
    }
    this.proposals = 1 + Math.floor(this.random() * 4);
  }

  get schedule(): Schedule {
    return { durable: this.durable, deviations: this.drawn };
  }

  choose({ kind, at, weight = 1 }: Point, draw: Parameters<Chooser["choose"]>[1]): Deviation | undefined {
    const chance = this.chance.get(kind);
    if (chance === undefined || (chance < 1 && this.random() >= chance * weight)) return undefined;
    if (kind === "model" && this.proposals <= 0) return undefined;
    const drawn = draw(this.random);
    if (drawn === undefined || !this.faults.has(drawn.does)) return undefined;
    if (drawn.calls !== undefined) this.proposals -= 1;
    const deviation = { at, ...drawn };
    this.drawn.push(deviation);
    return deviation;
  }
}

const kinds: readonly PointKind[] = ["model", "tool", "person", "step", "moment", "process", "input"];

const needDurable: ReadonlySet<PointKind> = new Set(["step", "process"]);

/** The names of all deviations. */
export const allFaults: ReadonlySet<DeviationName> = new Set(Object.values(deviations).flat());
