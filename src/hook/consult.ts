import type { Fact, RunEvent } from "../event/event.ts";
import type { Journal } from "../journal/journal.ts";
import { endKey, startKey } from "../journal/record-form.ts";
import { type Interrupt, untilStopped } from "../util/interrupt.ts";
import { after, type Maybe } from "../util/maybe.ts";
import type { HookAnswer, HookInput, HookPlace } from "./hook.ts";
import { askHooksOnce, type HookOutcome, type Hooks } from "./run-hooks.ts";

/** The hooks of a run, and the means to ask them: the same during the whole run. */
export interface Consulting {
  readonly hooks: Hooks;
  readonly journal: Journal;
  readonly stop: Interrupt<unknown>;
  /** Receives the changes of hooks. */
  readonly tell?: (event: RunEvent) => void;
}

/** The question to the hooks of one place. */
export interface HookQuestion<Place extends HookPlace> {
  readonly place: Place;
  readonly at: HookInput<Place>;
  readonly turn: number;
  /** The part of the turn, for a place that occurs more than once in it. */
  readonly part?: string;
  readonly callId?: string;
}

/**
 * Asks the hooks of a place, once at each place of a run, and tells what they changed. Returns nothing if there are none, or if an earlier process went
 * on from the place without them. A stopped run does not wait for its hooks.
 *
 * @throws WritError `hook-failed`, `hook-field-forbidden`; an Error if the run was stopped meanwhile
 */
export function consult<Place extends HookPlace>(
  consulting: Consulting,
  question: HookQuestion<Place>,
): Maybe<HookAnswer<Place>> {
  return after(consultNamed(consulting, question), ({ answer }) => answer);
}

/** As {@link consult}, with the name of the hook behind each field of the answer. */
export function consultNamed<Place extends HookPlace>(
  consulting: Consulting,
  question: HookQuestion<Place>,
): Maybe<HookOutcome<Place>> {
  const asked = consulting.hooks[question.place];
  if (asked === undefined || !isConsulted(question, consulting))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of an answer is optional
    return { answer: {} as HookAnswer<Place>, by: {} };
  return consultThese(asked, question, consulting);
}

/** Tells whether hooks are asked at a place, or their recorded answer is used. False if an earlier process went on from the place without them. */
export function isConsulted(
  question: Pick<HookQuestion<HookPlace>, "turn" | "place" | "part">,
  { hooks, journal: { find } }: Consulting,
): boolean {
  const { place, turn } = question;
  const asked = hooks[place];
  if (asked === undefined) return false;
  if (find === undefined || find(hookKey(question)) !== undefined) return true;
  const next = behind[place]?.(turn);
  return asked.length > 0 && (next === undefined || find(next) === undefined);
}

/**
 * The hooks of a run that began in an earlier process. If the agent no longer has a hook for some place, the recorded answer of the former hook is used.
 */
export function withThoseGone(hooks: Hooks): Hooks {
  return { ...gone, ...hooks };
}

const gone: Hooks = {
  beforeRun: [],
  beforeSkill: [],
  beforeTurn: [],
  afterTurn: [],
  onStop: [],
  afterRun: [],
};

/** The key of the record that a process makes after a place, once its hooks have answered. */
const behind: Readonly<Partial<Record<HookPlace, (turn: number) => string>>> = {
  beforeRun: () => startKey,
  beforeSkill: () => startKey,
  beforeTurn: (turn) => `turn/${turn}/model`,
  onBudgetThreshold: (turn) => `turn/${turn}/model`,
  afterTurn: (turn) => `turn/${turn + 1}/model`,
  onStop: () => endKey,
  afterRun: () => endKey,
};

/** The key of the record of a question. */
export function hookKey({
  turn,
  place,
  part,
}: Pick<HookQuestion<HookPlace>, "turn" | "place" | "part">): string {
  return part === undefined ? `turn/${turn}/hook/${place}` : `turn/${turn}/hook/${place}/${part}`;
}

async function consultThese<Place extends HookPlace>(
  asked: NonNullable<Hooks[Place]>,
  question: HookQuestion<Place>,
  { journal, stop, tell }: Consulting,
): Promise<HookOutcome<Place>> {
  const { place, at, turn, callId } = question;
  const key = hookKey(question);
  const outcome = await untilStopped(askHooksOnce(asked, { place, at }, { journal, key }), stop);
  if (outcome === "stopped") throw new Error("the run was stopped while a hook was asked");
  tellHooks({ turn, place, by: outcome.by, ...(callId === undefined ? {} : { callId }) }, { tell });
  return outcome;
}

/** Tells which fields hooks changed, if they did. */
export function tellHooks(
  told: Omit<Extract<Fact, { type: "hook-end" }>, "type">,
  { tell }: Pick<Consulting, "tell">,
): void {
  if (Object.keys(told.by).length > 0) tell?.({ type: "hook-end", ...told });
}
