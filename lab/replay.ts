import { recogniser } from "../src/driver/recognise/recogniser.ts";
import type { Recogniser, RecogniserMode } from "../src/driver/recognise/recognise.ts";
import { messageOf, WritError } from "../src/error/writ-error.ts";
import { type BfclCase, type BfclFolder, openCases } from "./bfcl/cases.ts";
import type { BfclCategory } from "./bfcl/categories.ts";
import { type JudgedCall, type JudgedOutput, wrongWith } from "./bfcl/judge.ts";
import { officialScores } from "./official.ts";
import type { BrokenLine } from "./read-lines.ts";
import { noOutputs, outputsIn, type RecordedModel, recordedModels, type RecordedOutput } from "./recorded.ts";
import { type ReplayReport, scoreOf, type Tally, tallyOf } from "./replay-score.ts";

/** Options of a replay. */
export interface ReplayOptions {
  /** The folder with `result/<model>/*_result.json`, and where they are there the official figures in `score`. */
  readonly data: string;
  /** The folder with the cases and their answers. */
  readonly cases: string;
  readonly mode: RecogniserMode;
  /** Only these models. Default: all. */
  readonly models?: readonly string[];
  /** Only these categories. Default: all. */
  readonly categories?: readonly BfclCategory[];
  /** Told each output once it is judged. */
  readonly onJudged?: (judged: JudgedOutput) => void;
}

/** Outputs that were passed over, each kind with its count. */
interface Passed {
  readonly broken: BrokenLine[];
  /** Outputs of categories that are not judged, by the name of the category. */
  readonly notJudged: Map<string, number>;
  readonly unknownIds: string[];
  readonly repeatedIds: string[];
}

interface Replay extends ReplayOptions {
  readonly folder: BfclFolder;
  readonly readers: Map<string, Recogniser>;
  /** Milliseconds that each text took. */
  readonly times: number[];
  readonly threw: string[];
  readonly passed: Passed;
}

/**
 * Reads recorded outputs again with writ's recogniser and judges the calls. Lines and ids that cannot be used are counted, not thrown. Of two
 * outputs of a model for one case the first counts.
 *
 * @throws WritError `option-invalid` where there are no outputs, no cases or no such model; `file-unreadable`
 */
export function replay(options: ReplayOptions): ReplayReport {
  const { data, mode, models: wanted } = options;
  const recorded = recordedModels(data);
  const unknown = wanted?.find((name) => !recorded.some((model) => model.name === name));
  if (unknown !== undefined) {
    const advice = `It is one of: ${recorded.map(({ name }) => name).join(", ")}.`;
    throw new WritError("option-invalid", { option: "--models", value: unknown, advice });
  }
  const passed: Passed = { broken: [], notJudged: new Map(), unknownIds: [], repeatedIds: [] };
  const folder = openCases(options.cases, (line) => passed.broken.push(line));
  const state: Replay = { ...options, folder, readers: new Map(), times: [], threw: [], passed };
  const models = recorded.filter(({ name }) => wanted?.includes(name) ?? true);
  const scored = models.map((model) => {
    const tally = replayModel(model, state);
    return { name: model.name, tally, official: officialScores(data, model.name) };
  });
  if (!scored.some(({ tally }) => tally.size > 0)) {
    throw noOutputs(data, "none of them is of a case that can be judged");
  }
  return { mode, ...scoreOf(scored), ...reportOf(state) };
}

function reportOf({
  times,
  threw,
  passed,
}: Pick<Replay, "times" | "threw" | "passed">): Pick<
  ReplayReport,
  "timing" | "threw" | "thrown" | "passedOver"
> {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const { broken, notJudged, unknownIds, repeatedIds } = passed;
  return {
    timing: { texts: sorted.length, medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) },
    threw: threw.length,
    thrown: threw.slice(0, 5),
    passedOver: { broken, notJudged: Object.fromEntries(notJudged), unknownIds, repeatedIds },
  };
}

function replayModel({ name, files }: RecordedModel, state: Replay): Tally {
  const tally = tallyOf();
  const seen = new Set<string>();
  for (const path of files) {
    const { outputs, broken } = outputsIn(path);
    state.passed.broken.push(...broken);
    for (const output of outputs) {
      const test = caseFor(output, { seen, state });
      if (test !== undefined) tally.add(test.category, replayOutput(output, { model: name, test, state }));
    }
  }
  return tally;
}

/** The case of an output; undefined, and counted, when it is not to be judged. */
function caseFor(
  { case: { prefix, category, id } }: RecordedOutput,
  { seen, state }: { readonly seen: Set<string>; readonly state: Replay },
): BfclCase | undefined {
  const { folder, passed, categories } = state;
  if (category !== undefined && categories?.includes(category) === false) return undefined;
  if (category === undefined || !folder.categories.includes(category)) {
    passed.notJudged.set(prefix, (passed.notJudged.get(prefix) ?? 0) + 1);
    return undefined;
  }
  const test = folder.read(category).get(id);
  if (test === undefined) passed.unknownIds.push(id);
  else if (seen.has(id)) passed.repeatedIds.push(id);
  if (seen.has(id)) return undefined;
  seen.add(id);
  return test;
}

interface About {
  readonly model: string;
  readonly test: BfclCase;
  readonly state: Replay;
}

/** True for a right output. */
function replayOutput({ output }: RecordedOutput, { model, test, state }: About): boolean {
  let calls: readonly JudgedCall[] = [];
  let wrong: string | undefined;
  try {
    calls = read(output.type === "text" ? output.text : JSON.stringify(output.calls), { test, state });
    wrong = wrongWith(test, calls);
  } catch (error) {
    wrong = `threw: ${messageOf(error)}`;
    state.threw.push(`${model} ${test.id}: ${messageOf(error)}`);
  }
  const said = output.type === "text" ? output.text : "";
  state.onJudged?.({ by: model, test, said, calls, wrong });
  return wrong === undefined;
}

function read(text: string, { test, state }: Pick<About, "test" | "state">): readonly JudgedCall[] {
  let reader = state.readers.get(test.id);
  if (reader === undefined) state.readers.set(test.id, (reader = recogniser(test.tools, state.mode)));
  const startedAt = performance.now();
  const { calls } = reader.read(text, { said: test.messages.map((message) => message.text).join("\n") });
  state.times.push(performance.now() - startedAt);
  return calls;
}
