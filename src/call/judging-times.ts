import type { Host } from "../journal/host.ts";

/**
 * The times of judging a call, in milliseconds since 1970, as its record keeps them. Each part ends where the next begins: hooks are asked from `from`,
 * arguments are checked from `checking`, and the policy is asked from `authorising` until `decided`. A part that took less than a millisecond has no time
 * of its own: the part before it has the same.
 */
export interface JudgedTimes {
  readonly from: number;
  readonly checking?: number;
  readonly authorising?: number;
  readonly decided?: number;
}

/** Notes the times of judging one call. A part that is repeated, as after mending, has its first beginning and its last end. */
export class JudgingTimes {
  private readonly host: Pick<Host, "now">;
  private readonly from: number;
  private checkedFrom: number | undefined;
  private checkedTo: number | undefined;
  private to: number | undefined;

  constructor(host: Pick<Host, "now">) {
    this.host = host;
    this.from = host.now();
  }

  checks(): void {
    this.checkedFrom ??= this.host.now();
  }

  checked(): void {
    this.checkedTo = this.host.now();
  }

  decides(): void {
    this.to = this.host.now();
  }

  /** The times as a record keeps them; undefined for a call that was not decided about. */
  get kept(): JudgedTimes | undefined {
    const { from, checkedFrom = from, to } = this;
    if (to === undefined) return undefined;
    const checkedTo = this.checkedTo ?? checkedFrom;
    return {
      from,
      ...(checkedFrom === from ? {} : { checking: checkedFrom }),
      ...(checkedTo === checkedFrom ? {} : { authorising: checkedTo }),
      ...(to === checkedTo ? {} : { decided: to }),
    };
  }
}
