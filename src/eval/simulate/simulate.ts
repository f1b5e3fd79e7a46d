import { agentShape } from "../../agent/agent-shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import type { Agent } from "../../agent/agent.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { fingerprint } from "../../util/hash.ts";
import { kindOf } from "../../util/shape.ts";
import { allFaults, type Drawable, Drawing } from "./draw.ts";
import { type Evidence, evidenceOf } from "./evidence.ts";
import { runtimeInvariants } from "./invariants.ts";
import { checkedElsewhere } from "./known-names.ts";
import { checkSimulate, type SimulationOptions } from "./options.ts";
import { play, type Played } from "./play.ts";
import { isRepeated, repetitionFault, somethingElse } from "./repeatable.ts";
import { replayFaults } from "./replayed.ts";
import { type Chooser, type Deviation, known, type Schedule, whyUnplayed } from "./schedule.ts";
import { scriptedTest } from "./scripted-test.ts";
import { shrink, stepsOf } from "./shrink.ts";
import { type Setting, settingOf } from "./stage.ts";
import { viewOf } from "./view.ts";
import type { Fault, World } from "./world.ts";

/** A schedule in which an invariant did not hold, made as short as possible. */
export interface SimulationFailure {
  /** The seed that plays it as it was found; undefined if a schedule was given. */
  readonly seed?: number;
  /** The name of the invariant. */
  readonly invariant: string;
  /** The fault, and the deviations that led to it. */
  readonly message: string;
  readonly schedule: Schedule;
  /** The number of deviations of the schedule, and of the calls in them. */
  readonly steps: number;
  /** The events, one per line, each after the milliseconds since the beginning. */
  readonly trace: string;
  /** The text of a test that fails in the same way, for the runner of the option `test`. */
  readonly test: string;
}

/** The result of a simulation. */
export interface Simulation {
  readonly seed: number;
  /** The number of schedules that were played, including the failing one. */
  readonly schedules: number;
  /** The number of happenings by kind: `crashes`, `effects`, ... */
  readonly counts: Readonly<Record<string, number>>;
  /** A fingerprint of everything that happened: the same for the same seeds, byte for byte. */
  readonly digest: string;
  readonly failure?: SimulationFailure;
}

const ownInvariants = Object.entries(runtimeInvariants);

/** One in this many durable schedules is replayed from its records, which costs as much as the schedule. */
const replayedShare = 4;

/**
 * Plays an agent in schedules of a simulated world: the model's replies, the time that everything takes, failures, answers of people, deaths of processes.
 * One seed decides them all, and plays the same schedule again: one in a hundred is played twice, and must tell the same. After each schedule the
 * runtime's own invariants and yours must hold. The first schedule in which one does not is made short, and returned with a test. A given `schedule` also
 * fails if one of its deviations does not happen. No time passes, and the model is not asked. Stand-ins replace the agent's tools, except those that keep
 * their own code (`tools`). Instructions, skills, policy, hooks, budgets, recoveries and schemas are the agent's own. Agents inside may have tools of the
 * same names: a stand-in of `tools` then takes the place of each of them. If the agents have one name too, the effects of such tools are judged by what
 * one of them declares.
 *
 * @throws WritError `definition-invalid`, `input-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { fakeTool, simulate } from "writ/testing";
 *
 * const refund = fakeTool("refund", "done", {
 *   effect: "irreversible",
 *   inputSchema: { type: "object", properties: { order: { enum: ["A1", "A2"] } }, required: ["order"] },
 * });
 * const clerk = agent({ name: "clerk", model: () => "", tools: [refund], policy: () => ({ verdict: "allow", rule: "all", reason: "" }) });
 * const { failure } = await simulate(clerk, {
 *   schedules: 500,
 *   invariants: { "refunds an order at most once": ({ effects }) => new Set(effects.map((one) => JSON.stringify(one.arguments))).size === effects.length },
 * });
 * console.log(failure?.message); // the model may ask for it twice: nothing here forbids that
 * ```
 */
export async function simulate<State = undefined>(
  agent: Agent,
  options: SimulationOptions<State> = {},
): Promise<Simulation> {
  checkArguments("simulate()", { agent }, { agent: agentShape });
  checkSimulate(agent.name, options);
  const { seed = 1, schedules = 1000, schedule, faults, durable = true } = options;
  const setting = await settingOf(agent, options);
  const playing = { setting, options };
  if (schedule !== undefined) {
    const chooser = known(schedule);
    const found = await verdictOn(chooser, true, playing);
    const fault = found.fault ?? unplayed(chooser.left, schedule);
    const failure = fault && failureOf({ fault, schedule }, found.trace, options);
    return {
      seed,
      schedules: 1,
      counts: counted([found]),
      digest: fingerprint(found.trace),
      ...(failure === undefined ? {} : { failure }),
    };
  }
  const drawable = { faults: faults === undefined ? allFaults : new Set(faults), durable };
  return playDrawn({ seed, schedules, drawable }, playing);
}

/** The schedules of a simulation: one for each seed from the first on. */
interface DrawnSchedules {
  readonly seed: number;
  readonly schedules: number;
  readonly drawable: Drawable;
}

/** A schedule that was drawn and played. */
interface DrawnVerdict {
  readonly found: Verdict;
  readonly drawing: Drawing;
}

/** Plays schedules that seeds draw, until one fails or does not play the same a second time. */
async function playDrawn<State>(
  { seed, schedules, drawable }: DrawnSchedules,
  playing: Playing<State>,
): Promise<Simulation> {
  let digest = "";
  const counts: Record<string, number> = {};
  const drawn = (at: number, drawing = new Drawing(at, drawable)): Promise<Verdict> =>
    verdictOn(drawing, at % replayedShare === 0, playing);
  const repeated = async (
    place: number,
    { found: { trace }, drawing: { schedule } }: DrawnVerdict,
  ): Promise<SimulationFailure | undefined> => {
    const at = seed + place;
    const { world } = await playedOn(new Drawing(at, drawable), playing);
    const fault = repetitionFault({ number: place + 1, seed: at, traces: [trace, traceOf(world)] });
    if (fault === undefined) return undefined;
    const test = scriptedTest(fault.invariant, { seed: at }, playing.options.test);
    return { ...failureOf({ fault, schedule }, trace, playing.options), test, seed: at };
  };
  let first: DrawnVerdict | undefined;
  for (let place = 0; place < schedules; place += 1) {
    const drawing = new Drawing(seed + place, drawable);
    const found = await drawn(seed + place, drawing);
    first ??= { found, drawing };
    digest = fingerprint(digest + found.trace);
    add(counts, found);
    const end = { seed, schedules: place + 1, counts, digest };
    if (found.fault !== undefined) {
      // anything else that decides shows in this schedule, or in the first one after the others
      const isOwned =
        saidBy(await drawn(seed + place)) === saidBy(found) &&
        saidBy(await drawn(seed)) === saidBy(first.found);
      const failure = await shortest(found.fault, drawing.schedule, playing);
      const message = isOwned ? failure.message : unowned(failure);
      return { ...end, failure: { ...failure, message, seed: seed + place } };
    }
    const failure = isRepeated(place) ? await repeated(place, { found, drawing }) : undefined;
    if (failure !== undefined) return { ...end, failure };
    if (place % 64 === 63) await new Promise((resolve) => setImmediate(resolve)); // lets other work have a turn
  }
  const failure = first && (await repeated(0, first));
  return { seed, schedules, counts, digest, ...(failure === undefined ? {} : { failure }) };
}

interface Playing<State> {
  readonly setting: Setting<State>;
  readonly options: SimulationOptions<State>;
}

interface Verdict {
  readonly fault: Fault | undefined;
  readonly trace: string;
  readonly evidence: Evidence;
}

/** Everything that the same schedule must tell again. */
function saidBy({ trace, fault }: Verdict): string {
  return `${fault?.invariant ?? ""}: ${fault?.message ?? ""}\n${trace}`;
}

/** Plays a schedule and returns the first invariant that did not hold. */
async function verdictOn<State>(
  chooser: Chooser,
  isReplayed: boolean,
  { setting, options }: Playing<State>,
): Promise<Verdict> {
  const { stage, subject, state } = setting;
  const played = await playedOn(chooser, { setting, options });
  const evidence = evidenceOf(played, subject);
  const { world } = played;
  const trace = traceOf(world); // before the replay
  for (const [invariant, holds] of ownInvariants)
    for (const message of holds(evidence)) world.fault(invariant, message);
  const { invariants = {} } = options;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was made for this schedule
  const view = viewOf(evidence, state.now as State);
  for (const [invariant, holds] of Object.entries(invariants)) {
    const said = told(() => holds(view));
    if (typeof said === "string") world.fault(invariant, said);
    else if (said !== undefined) throw unclear(subject.name, `invariants["${invariant}"]`, said);
  }
  if (isReplayed && world.isDurable)
    for (const message of await replayFaults(evidence, stage)) world.fault(checkedElsewhere.replay, message);
  return { fault: world.faults[0], trace, evidence };
}

/** Plays a schedule in a new world. */
async function playedOn<State>(
  chooser: Chooser,
  { setting: { stage, subject, state }, options }: Playing<State>,
): Promise<Played> {
  state.now = options.state?.();
  if (isPromise(state.now)) throw awaited(subject.name, "state");
  return play(stage, chooser);
}

function traceOf({ trace }: World): string {
  return trace.join("\n");
}

/** The sentence of an invariant that does not hold; undefined if it holds. */
function told(holds: () => unknown): unknown {
  try {
    const said = holds();
    if (said === false) return "it does not hold";
    return said === true || said === "" ? undefined : said;
  } catch (error) {
    return messageOf(error);
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  if (!(value instanceof Promise)) return false;
  value.catch(() => undefined); // the error that is thrown instead says enough
  return true;
}

/** The error for a value that is a promise: it would resolve after the schedule, so a broken invariant would seem to hold. */
function awaited(agent: string, field: string): WritError {
  const reason = `\`${field}\` must give its value at once, and gave a promise: write a function that is not \`async\`.`;
  return new WritError("definition-invalid", { where: `simulate() of "${agent}"`, reason });
}

/** The error for an invariant that says neither yes nor no: a null, or an error that is returned, would seem to hold. */
function unclear(agent: string, field: string, said: unknown): WritError {
  if (isPromise(said)) return awaited(agent, field);
  const reason = `\`${field}\` must return true, or false or a sentence if it does not hold, and returned ${kindOf(said)}.`;
  return new WritError("definition-invalid", { where: `simulate() of "${agent}"`, reason });
}

async function shortest<State>(
  fault: Fault,
  schedule: Schedule,
  playing: Playing<State>,
): Promise<SimulationFailure> {
  const short = await shrink(schedule, async (shorter) => {
    const { evidence } = await verdictOn(known(shorter), true, playing);
    return evidence.world.faults.some(({ invariant }) => invariant === fault.invariant);
  });
  const chooser = known(short);
  const { evidence, trace } = await verdictOn(chooser, true, playing);
  const same = evidence.world.faults.find(({ invariant }) => invariant === fault.invariant) ?? fault;
  const deviations = short.deviations.filter((deviation) => !chooser.left.has(deviation)); // shrinking may have given up before
  return failureOf({ fault: same, schedule: { ...short, deviations } }, trace, playing.options);
}

/** The fault of a given schedule of which some deviation did not happen: a test of it would always pass, and test nothing. */
function unplayed(left: Iterable<Deviation>, schedule: Schedule): Fault | undefined {
  const shown = Array.from(left, (deviation) => {
    const why = whyUnplayed(deviation, schedule);
    return `"${deviation.at}", which "${deviation.does}", was not reached${why === undefined ? "" : `: ${why}`}`;
  });
  if (shown.length === 0) return undefined;
  const message = `${shown.join("; ")}. Take it out of the schedule, or give it a point that this agent reaches: they stand below.`;
  return { invariant: checkedElsewhere.schedule, message };
}

function failureOf<State>(
  { fault, schedule }: { readonly fault: Fault; readonly schedule: Schedule },
  trace: string,
  { test }: SimulationOptions<State>,
): SimulationFailure {
  const { invariant } = fault;
  const message = `${invariant}: ${fault.message}\n${trace}`;
  return {
    invariant,
    message,
    schedule,
    steps: stepsOf(schedule),
    trace,
    test: scriptedTest(invariant, schedule, test),
  };
}

/** The message of a failure that the seed alone may not bring about again. */
function unowned({ message, trace }: SimulationFailure): string {
  const warning = `The same seed plays otherwise a second time, so that the test may pass. ${somethingElse}`;
  return `${message.slice(0, message.length - trace.length)}${warning}\n${trace}`;
}

function counted(found: readonly Verdict[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const each of found) add(counts, each);
  return counts;
}

function add(counts: Record<string, number>, { evidence: { world, runs } }: Verdict): void {
  const happened: Readonly<Record<string, number>> = {
    runs: runs.length,
    requests: world.counts.get("model") ?? 0,
    calls: world.executions.length,
    effects: world.executions.filter(({ tookEffect }) => tookEffect).length,
    questions: world.counts.get("person") ?? 0,
    steps: world.counts.get("step") ?? 0,
    deaths: world.counts.get("deaths") ?? 0,
  };
  for (const [name, number] of Object.entries(happened)) counts[name] = (counts[name] ?? 0) + number;
}
