import type { RecogniserMode } from "../src/driver/recognise/recognise.ts";
import { bfclCategories, type BfclCategory, isRestraint } from "./bfcl/categories.ts";
import type { BrokenLine } from "./read-lines.ts";

/** Counts of outputs, and of the right ones among them. */
export interface Count {
  readonly outputs: number;
  readonly right: number;
}

/** Counts by category. */
export interface Tally {
  readonly size: number;
  readonly counts: ReadonlyMap<BfclCategory, Count>;
  add(category: BfclCategory, isRight: boolean): void;
}

/** An empty tally. */
export function tallyOf(): Tally {
  const counts = new Map<BfclCategory, Count>();
  return {
    counts,
    get size() {
      return counts.size;
    },
    add(category, isRight) {
      const { outputs, right } = counts.get(category) ?? { outputs: 0, right: 0 };
      counts.set(category, { outputs: outputs + 1, right: right + (isRight ? 1 : 0) });
    },
  };
}

/** The three figures, as shares from 0 to 1; null where there is nothing to count. */
export interface Figures {
  /** The share of outputs that are right, of those that should call. */
  readonly accuracy: number | null;
  /** The share of outputs that rightly call nothing, of those that should not. */
  readonly restraint: number | null;
  /** The mean of the two. */
  readonly mean: number | null;
}

/** Figures of one model. */
export interface ModelScore extends Figures {
  /** The mean of the accuracies of its categories, as the leaderboard has it: each category weighs the same. */
  readonly categoryMean: number | null;
  readonly byCategory: Readonly<Partial<Record<BfclCategory, Count & { readonly accuracy: number }>>>;
  /**
   * Figures of the leaderboard's own decoder for this model in the same categories; null where there are
   * none.
   */
  readonly official: Figures | null;
}

/**
 * Figures of the recogniser. `accuracy`, `restraint` and `categoryMean` are means over the models, so that
 * each model weighs the same.
 */
export interface ReplayReport extends Figures {
  readonly mode: RecogniserMode;
  readonly categoryMean: number | null;
  /** Means over the models that have official figures. */
  readonly official: Figures | null;
  /** Count of outputs that were judged. */
  readonly outputs: number;
  /** Each category, over all models: the mean of their shares. */
  readonly byCategory: ModelScore["byCategory"];
  readonly byModel: Readonly<Record<string, ModelScore>>;
  /** Time to read one text. Outputs that came as calls are not read, and not counted. */
  readonly timing: {
    readonly texts: number;
    readonly medianMs: number;
    readonly p99Ms: number;
    readonly maxMs: number;
  };
  /** The number of outputs whose reading threw; there should be none. Such an output counts as wrong. */
  readonly threw: number;
  /** Errors that reading threw, by model and case: the first few. */
  readonly thrown: readonly string[];
  readonly passedOver: {
    readonly broken: readonly BrokenLine[];
    /** Outputs of categories that are not judged, by category. */
    readonly notJudged: Readonly<Record<string, number>>;
    readonly unknownIds: readonly string[];
    readonly repeatedIds: readonly string[];
  };
}

/** A model with its counts and the official ones. */
export interface Scored {
  readonly name: string;
  readonly tally: Tally;
  readonly official: ReadonlyMap<BfclCategory, Count>;
}

/** The figures of some models, and the means over them. */
export function scoreOf(
  models: readonly Scored[],
): Pick<ReplayReport, keyof Figures | "categoryMean" | "official" | "outputs" | "byCategory" | "byModel"> {
  const judged = models.filter(({ tally }) => tally.size > 0);
  const scores = judged.map((model): [string, ModelScore] => [model.name, scoreOfModel(model)]);
  const all = scores.map(([, score]) => score);
  const officials = all.flatMap(({ official }) => (official === null ? [] : [official]));
  return {
    ...meanFigures(all),
    categoryMean: meanOf(all.map(({ categoryMean }) => categoryMean)),
    official: officials.length === 0 ? null : meanFigures(officials),
    outputs: judged.reduce((sum, { tally }) => sum + total(tally.counts.values()).outputs, 0),
    byCategory: Object.fromEntries(
      bfclCategories.flatMap((category) => {
        const counts = judged.flatMap(({ tally }) => tally.counts.get(category) ?? []);
        const accuracy = meanOf(counts.map(shareOf));
        return accuracy === null ? [] : [[category, { ...total(counts), accuracy }]];
      }),
    ),
    byModel: Object.fromEntries(scores),
  };
}

function scoreOfModel({ tally: { counts }, official }: Scored): ModelScore {
  const sameCategories = new Map([...official].filter(([category]) => counts.has(category)));
  const byCategory = bfclCategories.flatMap((category) => {
    const count = counts.get(category);
    return count === undefined ? [] : [[category, { ...count, accuracy: shareOf(count) ?? 0 }] as const];
  });
  return {
    ...figuresOf(counts),
    categoryMean: meanOf(
      byCategory.flatMap(([category, { accuracy }]) => (isRestraint(category) ? [] : [accuracy])),
    ),
    byCategory: Object.fromEntries(byCategory),
    official: sameCategories.size === 0 ? null : figuresOf(sameCategories),
  };
}

function figuresOf(counts: ReadonlyMap<BfclCategory, Count>): Figures {
  const pick = (wanted: boolean): number | null =>
    shareOf(
      total([...counts].flatMap(([category, count]) => (isRestraint(category) === wanted ? [count] : []))),
    );
  return withMean({ accuracy: pick(false), restraint: pick(true) });
}

function meanFigures(figures: readonly Figures[]): Figures {
  return withMean({
    accuracy: meanOf(figures.map(({ accuracy }) => accuracy)),
    restraint: meanOf(figures.map(({ restraint }) => restraint)),
  });
}

function withMean({ accuracy, restraint }: Omit<Figures, "mean">): Figures {
  const mean = accuracy === null || restraint === null ? null : (accuracy + restraint) / 2;
  return { accuracy, restraint, mean };
}

function total(counts: Iterable<Count>): Count {
  let outputs = 0;
  let right = 0;
  for (const count of counts) {
    outputs += count.outputs;
    right += count.right;
  }
  return { outputs, right };
}

function shareOf({ outputs, right }: Count): number | null {
  return outputs === 0 ? null : right / outputs;
}

/** The mean of the values that are not null. */
function meanOf(values: readonly (number | null)[]): number | null {
  const there = values.filter((value) => value !== null);
  return there.length === 0 ? null : there.reduce((sum, value) => sum + value, 0) / there.length;
}
