import type { RunEvent } from "../event/event.ts";
import type { Step } from "../journal/journal.ts";
import type { KeptEnd } from "./kept-end.ts";

/** A step under way. */
interface OpenStep {
  /** The step may not happen twice: whatever begins inside it belongs to it. */
  readonly isOnce: boolean;
  readonly isOuter: boolean;
}

/** The place at which a run was stopped or left. */
export type StandsAt = Pick<KeptEnd, "open" | "after">;

/** The steps of a run that are under way, with the facts they told, and the last step that had a result. */
export class Standing {
  private readonly open = new Map<string, OpenStep>();
  private readonly handedOver = new Set<string>();
  private readonly told = new Map<string, RunEvent[]>();
  /** The last step that had a result. */
  private last: string | undefined;

  begin({ key, lost, isOuter }: Step<unknown>): void {
    this.open.set(key, { isOnce: lost !== undefined, isOuter: isOuter === true });
  }

  /** Notes that steps have a result. */
  end(steps: readonly Step<unknown>[]): void {
    for (const { key } of steps) {
      this.last = key;
      this.open.delete(key);
      this.told.delete(key);
    }
  }

  /** Leaves a step to another process: the step did not begin here, or gave itself up. */
  handOver({ key }: Pick<Step<unknown>, "key">): void {
    this.open.delete(key);
    this.handedOver.add(key);
  }

  /** Notes a fact that a step told before it had a result. */
  note(key: string, fact: RunEvent): void {
    const known = this.told.get(key);
    if (known === undefined) this.told.set(key, [fact]);
    else known.push(fact);
  }

  /** True while any step but an outer one is under way. */
  get isLeft(): boolean {
    return [...this.open.values()].some(({ isOuter }) => !isOuter);
  }

  /** True of a step inside an effect under way that may not happen twice. */
  isInsideOnce(key: string): boolean {
    return [...this.open].some(([outer, { isOnce }]) => isOnce && key.startsWith(`${outer}/`));
  }

  place(): StandsAt {
    const { last } = this;
    const open = [...this.open.keys()];
    return open.length > 0 || last === undefined ? { open } : { open, after: last };
  }

  /** The steps that are left to another process. */
  leftBehind(): Pick<KeptEnd, "handedOver"> {
    return this.handedOver.size === 0 ? {} : { handedOver: [...this.handedOver] };
  }

  /** The facts that the open steps told. */
  toldBy({ open }: StandsAt): Pick<KeptEnd, "told"> {
    const told = open.flatMap((key) => {
      const facts = this.told.get(key);
      return facts === undefined ? [] : [[key, facts] as const];
    });
    return told.length === 0 ? {} : { told: Object.fromEntries(told) };
  }
}
