import { cardOf, saveCard } from "../adapters/model-cards.ts";
import { modelNamed } from "../adapters/model/resolve.ts";
import { messageOf } from "../error/writ-error.ts";
import { battery } from "../eval/probe/battery.ts";
import { type Best, bestOf, goneByAuto, wayText } from "../eval/probe/best.ts";
import { keptScores } from "../eval/probe/kept-scores.ts";
import type { ProbeCase } from "../eval/probe/probe-case.ts";
import { type GrammarChoice, probe, type ProbeEvent, type Way } from "../eval/probe/probe.ts";
import { scoresOf, type WayScore } from "../eval/probe/score.ts";
import { tableRows } from "../eval/probe/table.ts";
import { type DriverName, driverNames } from "../model/driver-names.ts";
import { jsonOrNull } from "../util/json.ts";
import { errorObject, errorText } from "./error-text.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "./exit-code.ts";
import { listenForInterrupts } from "./interrupts.ts";
import { countOf, wordOf, listOf } from "./options.ts";
import { countText, durationText, jsonLine, oneLine, printable, processOutput } from "./output.ts";
import { packageVersion } from "./package-version.ts";
import { table } from "./table.ts";

/** The options of `writ probe`, as the command line has them. */
export interface ProbeFlags {
  readonly drivers?: string;
  readonly cases?: string;
  readonly limit?: string;
  readonly grammar?: string;
  /** Seconds. */
  readonly caseTimeout?: string;
  /** False with `--no-save`. */
  readonly save?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** A probe as the command line asks for it. */
interface Probing {
  readonly model: ReturnType<typeof modelNamed>;
  readonly drivers: readonly DriverName[];
  readonly grammar: GrammarChoice;
  readonly cases: readonly ProbeCase[];
  readonly caseTimeoutMs: number;
}

/** The measurements of a probe, as far as it went. */
interface Measured {
  readonly probing: Probing;
  readonly events: readonly ProbeEvent[];
  readonly scores: readonly WayScore[];
  /** False if Ctrl-C or an error ended it early. */
  readonly complete: boolean;
  readonly error?: unknown;
}

/** The place of the card of the best driver, with the ways that were measured before; or the reason why no card was written. */
type Saved =
  | { readonly path: string; readonly driver: DriverName; readonly before: readonly Way[] }
  | { readonly path?: undefined; readonly why: string };

/**
 * `writ probe <model>`: prints the table and the best driver on standard output, the progress on standard error. Ctrl-C, and a provider that cannot be reached,
 * end it with the table of the measurements so far.
 *
 * @throws WritError `option-invalid`, `model-name-invalid`; the error of the model's adapter if its provider fails before the first case has ended
 */
export async function probeModel(name: string, flags: ProbeFlags): Promise<ExitCode> {
  const probing = probingOf(name, flags);
  const interrupts = listenForInterrupts(processOutput);
  const events: ProbeEvent[] = [];
  const tell = progressOf(flags.verbose ?? false);
  try {
    for await (const event of probe({ ...probing, signal: interrupts.signal })) {
      events.push(event);
      tell(event);
    }
  } catch (error) {
    tell();
    if (events.length === 0) throw error;
    await printMeasured({ probing, events, complete: false, error }, flags);
    const { style, screen, progress } = processOutput;
    progress(errorText(error, { verbose: flags.verbose ?? false, style, screen }));
    return exitCodeOf({ error });
  } finally {
    interrupts.stopListening();
  }
  tell();
  const complete = !interrupts.signal.aborted;
  await printMeasured({ probing, events, complete }, flags);
  return complete ? exitCodes.answered : exitCodes.interrupted;
}

/** Remembers the best driver if that is wanted, and prints the table. */
async function printMeasured(
  found: Omit<Measured, "scores">,
  { save: mayBeSaved = true, json = false }: ProbeFlags,
): Promise<void> {
  const measured = { ...found, scores: scoresOf(found.events, found.probing.cases) };
  const saved = save(measured, mayBeSaved);
  await processOutput.answer(json ? jsonOf(measured, saved) : textOf(measured, saved));
}

/** @throws WritError `option-invalid`, `model-name-invalid` */
function probingOf(name: string, flags: ProbeFlags): Probing {
  const { drivers, cases, limit, grammar = "both", caseTimeout = "120" } = flags;
  const names = battery.map((probeCase) => probeCase.name);
  const wanted = cases === undefined ? names : listOf(cases).map((one) => wordOf("--cases", one, names));
  const chosen = battery.filter((probeCase) => wanted.includes(probeCase.name));
  return {
    drivers:
      drivers === undefined
        ? driverNames
        : [...new Set(listOf(drivers).map((driver) => wordOf("--drivers", driver, driverNames)))],
    grammar: wordOf("--grammar", grammar, ["both", "on", "off"]),
    cases: limit === undefined ? chosen : chosen.slice(0, countOf("--limit", limit)),
    caseTimeoutMs: countOf("--case-timeout", caseTimeout) * 1000,
    model: modelNamed(name),
  };
}

/** Prints the progress: a line for each way, a mark for each case. Called without an event at the end. */
function progressOf(verbose: boolean): (event?: ProbeEvent) => void {
  const { progress, style } = processOutput;
  let way = "";
  let durationMs = 0;
  const endLine = (): void => {
    if (way !== "") progress(`  ${durationText(durationMs)}\n`);
    [way, durationMs] = ["", 0];
  };
  return (event) => {
    if (event?.type !== "case") {
      endLine();
      if (event !== undefined) progress(`${style("yellow", event.driver)}: skipped, ${event.reason}\n`);
      return;
    }
    const { result } = event;
    if (wayText(event) !== way) {
      endLine();
      way = wayText(event);
      progress(`${style("bold", way)} `);
    }
    durationMs += result.durationMs;
    progress(result.right ? "." : "x");
    if (verbose && result.fault !== undefined) progress(` ${result.name}: ${oneLine(result.fault, 300)}\n  `);
  };
}

/** Remembers the best of the drivers that `auto` may use, after the whole battery was run, now or in an earlier probe. */
function save({ probing, events, scores, complete }: Measured, wanted: boolean): Saved {
  const { model, cases } = probing;
  if (!wanted) return { why: "--no-save says so" };
  if (!complete) return { why: "the probe was not completed" };
  if (cases.length < battery.length)
    return { why: `only ${cases.length} of ${countText(battery.length, "case")} were run` };
  const before = keptScores(cardOf(model.id), events, cases.length);
  const known = [...scores, ...before];
  const best = bestOf(goneByAuto(known));
  if (best === undefined)
    return {
      why:
        goneByAuto(known).length === 0
          ? "auto holds this model to a grammar, and that was not measured"
          : "no driver scored more than 0",
    };
  const { driver } = best.way;
  const [date = ""] = new Date().toISOString().split("T");
  try {
    const path = saveCard({
      version: 1,
      model: model.id,
      driver,
      why: best.why,
      writ: packageVersion(),
      date,
      scores: jsonOrNull(known),
    });
    return { path, driver, before };
  } catch (error) {
    return { why: `the card cannot be written: ${messageOf(error)}` };
  }
}

function jsonOf({ probing, events, scores, complete, error }: Measured, saved: Saved): string {
  const best = bestOf(scores);
  const object = {
    type: "probe",
    model: probing.model.id,
    complete,
    ...(error === undefined ? {} : { error: errorObject(error) }),
    cases: probing.cases.length,
    scores,
    skipped: skippedOf(events),
    best: best === undefined ? null : { driver: best.way.driver, held: best.way.held, why: best.why },
    saved: saved.path === undefined ? null : { driver: saved.driver, path: saved.path },
    ...(saved.path === undefined ? { notSaved: saved.why } : {}),
    results: events.flatMap((event) => (event.type === "case" ? [resultOf(event)] : [])),
  };
  return jsonLine(object);
}

function resultOf({ driver, held, result }: Extract<ProbeEvent, { readonly type: "case" }>): object {
  const { name, right, fault = null, replies, unreadable, cut, durationMs } = result;
  return {
    driver,
    held,
    case: name,
    right,
    fault,
    replies,
    unreadable,
    cut,
    duration_ms: Math.round(durationMs),
  };
}

function skippedOf(
  events: readonly ProbeEvent[],
): readonly { readonly driver: DriverName; readonly reason: string }[] {
  return events.flatMap((event) =>
    event.type === "skipped" ? [{ driver: event.driver, reason: event.reason }] : [],
  );
}

function textOf({ probing, events, scores, complete }: Measured, saved: Saved): string {
  const lines = [
    ...skippedOf(events).map(({ driver, reason }) => `${driver}: skipped, ${reason}`),
    ...(complete ? [] : ["The probe was not completed: these are the measurements so far."]),
    bestText(bestOf(scores)),
    ...savedText(probing.model.id, scores, saved),
  ];
  return printable(`${table(tableRows(scores))}\n${lines.map((line) => `${line}\n`).join("")}`);
}

function bestText(best: Best | undefined): string {
  return best === undefined
    ? "No driver can be recommended: none scored more than 0."
    : `Best: ${wayText(best.way)}: ${best.why}.`;
}

function savedText(model: string, scores: readonly WayScore[], saved: Saved): readonly string[] {
  if (saved.path === undefined) return [`Not remembered: ${saved.why}.`];
  const best = bestOf(scores)?.way;
  const lines = [
    `Remembered: auto now uses ${saved.driver} with ${model} (${saved.path}).`,
    ...(saved.before.length === 0
      ? []
      : [`Measured before, and compared with these: ${saved.before.map(wayText).join(", ")}.`]),
  ];
  return best?.held === "off"
    ? [`auto always holds this model to a grammar, so the best of those counts.`, ...lines]
    : lines;
}
