import { checkShape, closed } from "../error/check-shape.ts";
import {
  anything,
  boolean,
  count,
  either,
  filled,
  fits,
  having,
  json,
  kindOf,
  list,
  map,
  object,
  oneOf,
  optional,
  record,
  refined,
  type Shape,
  shapeOf,
  string,
  whole,
} from "../util/shape.ts";
import { startShape } from "./new-run.ts";
import { type Erased, runStatuses } from "./run-store.ts";

const signal = optional(having("an AbortSignal", "addEventListener"));
const isRun = object({ id: string, agent: string });
const idOfRun = shapeOf(
  string.wanted,
  (value) => typeof value === "string",
  (value) => (fits(isRun, value) ? "a run: give `run.id`" : kindOf(value)),
);
const which = refined(
  closed({ id: optional(filled), session: optional(filled) }),
  "must have either the `id` of a run or a `session`",
  (given) => (given.id === undefined) !== (given.session === undefined),
);

const limit = optional(
  refined(count, "must be a whole number", (most) => Number.isInteger(most) || most === Infinity),
);

const questionPage = closed({
  agents: optional(list(string, "a list of names")),
  prefix: optional(string),
  after: optional(object({ runId: string, key: string, since: whole })),
  limit,
});

/** The functions that take more than the id of a run. */
type Given =
  | "answer"
  | "cancel"
  | "erase"
  | "events"
  | "fork"
  | "import"
  | "list"
  | "result"
  | "start"
  | "waiting";

const shapes: Readonly<Record<Given, Shape<unknown>>> = {
  answer: closed({
    approved: boolean,
    hash: filled,
    by: optional(filled),
    for: optional(oneOf("once", "run")),
    reason: optional(string),
    policy: anything,
    settled: anything,
    free: optional(list(string, "a list of names")),
    arguments: optional(
      refined(record, "must be JSON, without a promise, a Map or a Set", (given) => fits(json, given)),
    ),
  }),
  cancel: optional(string),
  erase: {
    wanted: which.wanted,
    misfit: (value) =>
      fits(isRun, value) ? { path: "", reason: "is a run: give `{ id: run.id }`" } : which.misfit(value),
  },
  events: closed({ after: optional(either(count, map(count))), inside: optional(boolean), signal }),
  fork: record,
  import: string,
  list: closed({
    status: optional(oneOf(...runStatuses)),
    agent: optional(string),
    session: optional(string),
    prefix: optional(string),
    asks: optional(string),
    before: optional(idOfRun),
    limit,
  }),
  result: closed({ signal }),
  start: startShape,
  waiting: optional({
    wanted: "an id, or { limit, after, agents, prefix }",
    misfit: (value: unknown) =>
      (typeof value === "object" && !fits(isRun, value) ? questionPage : idOfRun).misfit(value),
  }),
};

/** The given value, if the function takes it. @throws WritError `definition-invalid` */
export function checked<Value>(to: Given, given: Value): Value {
  checkShape(`${to}() of durable runs`, given, shapes[to]);
  return given;
}

/** The functions that take the id of a run. */
type IdTaker =
  | "answer"
  | "cancel"
  | "events"
  | "export"
  | "fork"
  | "replay"
  | "result"
  | "retry"
  | "settle"
  | "show"
  | "signal";

/** The id of a run, as the function was given it. @throws WritError `definition-invalid` for a value that is not a text */
export function checkedId(to: IdTaker, id: string): string {
  checkShape(`${to}() of durable runs`, { id }, object({ id: idOfRun }));
  return id;
}

/** The runs that a caller wants to erase. @throws WritError `definition-invalid` unless exactly one of both is given */
export function readErased(given: { readonly id?: string; readonly session?: string }): Erased {
  const { id, session } = checked("erase", given);
  return id === undefined ? { session: session ?? "" } : { id };
}
