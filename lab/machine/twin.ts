/** The same table, checked against real runs: a state that takes one move after the other, and refuses a move that the table does not have. */
import { invariantsOf, type Move, movesOf, sizeOf } from "./expand.ts";
import { type Bounds, transitions, variables } from "./table.ts";

type State = Record<string, number | number[]>;

/** A guard, or a change, as a function over the variables. */
type Compiled = (...values: readonly (number | number[])[]) => unknown;

const names = Object.keys(variables);

interface CompiledMove {
  readonly move: Move;
  readonly guards: readonly { readonly text: string; readonly holds: (state: State) => boolean }[];
  readonly change: (state: State) => void;
}

// oxlint-disable-next-line no-implied-eval, typescript/no-implied-eval -- the texts are those of the table
const compiled = (body: string): Compiled => new Function(...names, body) as Compiled; // oxlint-disable-line typescript/no-unsafe-type-assertion

function guardOf(text: string): { readonly text: string; readonly holds: (state: State) => boolean } {
  const ask = compiled(`return (${text});`);
  return { text, holds: (state) => Boolean(ask(...names.map((name) => state[name] ?? 0))) };
}

/** Changes return the variables that are not lists; lists are changed in place. */
function changeOf(does: readonly string[]): (state: State) => void {
  const single = names.filter((name) => variables[name]?.of === "one");
  const act = compiled(`${does.join("; ")}; return { ${single.join(", ")} };`);
  return (state) => void Object.assign(state, act(...names.map((name) => state[name] ?? 0)));
}

const known = new Map<string, ReadonlyMap<string, readonly CompiledMove[]>>();

function compiledMoves(bounds: Bounds): ReadonlyMap<string, readonly CompiledMove[]> {
  const key = JSON.stringify(bounds);
  const made = known.get(key) ?? compile(movesOf(bounds, transitions));
  known.set(key, made);
  return made;
}

function compile(moves: readonly Move[]): ReadonlyMap<string, readonly CompiledMove[]> {
  const byName = new Map<string, CompiledMove[]>();
  for (const move of moves) {
    const one = { move, guards: move.when.map(guardOf), change: changeOf(move.does) };
    byName.set(move.name, [...(byName.get(move.name) ?? []), one]);
  }
  return byName;
}

/** The machine in one state. */
export class Twin {
  readonly #moves: ReadonlyMap<string, readonly CompiledMove[]>;
  readonly #invariants: readonly ReturnType<typeof guardOf>[];
  readonly #state: State;
  /** The moves that were taken. */
  readonly taken: string[] = [];

  constructor(bounds: Bounds) {
    this.#moves = compiledMoves(bounds);
    this.#invariants = invariantsOf(bounds).map(({ holds }) => guardOf(holds));
    this.#state = Object.fromEntries(
      Object.entries(variables).map(([name, { of, first }]) => [
        name,
        of === "one" ? first : Array.from({ length: sizeOf(name, bounds) }, () => first),
      ]),
    );
  }

  /** Takes a move; of several with the same name, the one with the number `choice`. @throws Error where the table has no such move here */
  take(name: string, choice = 0): void {
    const one = this.#moves.get(name)?.[choice];
    if (one === undefined) throw new Error(`The table has no move "${name}".`);
    const failed = one.guards.find(({ holds }) => !holds(this.#state));
    if (failed !== undefined)
      throw new Error(
        `"${name}" happened where "${failed.text}" does not hold, after: ${this.taken.join(", ")}`,
      );
    one.change(this.#state);
    this.taken.push(name);
    const broken = this.#invariants.find(({ holds }) => !holds(this.#state));
    if (broken !== undefined)
      throw new Error(`After ${this.taken.join(", ")}: "${broken.text}" does not hold.`);
  }

  /** True where the move can be taken now. */
  can(name: string): boolean {
    return (
      this.#moves.get(name)?.some(({ guards }) => guards.every(({ holds }) => holds(this.#state))) === true
    );
  }

  /** The names of the moves that can be taken now. */
  get next(): readonly string[] {
    return [...this.#moves.keys()].filter((name) => this.can(name));
  }

  get hasEnded(): boolean {
    return this.#state["ended"] === 1;
  }

  /** A variable, as it is now. */
  value(name: string): number | readonly number[] {
    return this.#state[name] ?? 0;
  }
}
