import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { Account } from "../policy/account/account.ts";
import type { WantedReply, Wish } from "../policy/account/account-entry.ts";
import type { Excess } from "../policy/account/budget.ts";
import { waitForAll } from "../util/wait-for-all.ts";
import { asRuntime } from "./around.ts";

/** The usage of a reply. */
export interface ReplySpent {
  readonly tokens: number;
  readonly costUsd: number;
}

/** A reply that the accounts let a model write. */
export interface HeldReply {
  /** The most tokens that the reply may have. */
  readonly outputTokens: number;
  /** Books the usage of the reply; only the first call counts. */
  settle(spent: ReplySpent): Promise<void>;
}

const nothingSpent: ReplySpent = { tokens: 0, costUsd: 0 };

/** The milliseconds that the end of a run waits for bookings that are under way. */
const graceMs = 5000;

/** The accounts of a run: those of the run around it, and its own. */
export class RunAccounts {
  readonly all: readonly Account[];
  private readonly own: readonly Account[];
  private readonly about: { readonly agent: string; readonly host: Host };
  private readonly booking = new Set<Promise<unknown>>();

  constructor(
    outer: RunAccounts | undefined,
    given: readonly Account[],
    about: { readonly agent: string; readonly host: Host },
  ) {
    const around = outer?.all ?? [];
    const all = [...around];
    for (const one of given) if (!all.some((other) => isSame(one, other))) all.push(one);
    this.all = all;
    this.own = all.slice(around.length);
    this.about = about;
  }

  /** Books the run itself, unless a run around it was booked already. @throws WritError `account-exhausted`, `account-failed` */
  async enter(): Promise<void> {
    const excess = await this.book(this.own, { runs: 1 }, { runs: -1 });
    if (excess !== undefined) throw this.exhausted(excess);
  }

  /** Books a tool call that is about to begin; returns the bound that forbids it. @throws WritError `account-failed` */
  call(): Promise<Excess | undefined> {
    return this.book(this.all, { toolCalls: 1 }, { toolCalls: -1 });
  }

  /**
   * Reserves a reply in each account. The reply gets at most as many tokens as every account has left.
   *
   * @throws WritError `account-exhausted`, `account-failed`; nothing is reserved then
   */
  hold(
    wanted: Omit<WantedReply, "id" | "until" | "outputTokens"> & { readonly most?: number },
  ): Promise<HeldReply> {
    return this.tracked(this.holdInAll(wanted));
  }

  /** Waits for bookings under way, but not for ever: a reservation that was not booked stays reserved. */
  async settled(): Promise<void> {
    if (this.booking.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stopTimer = this.about.host.timer(graceMs, resolve);
    while (this.booking.size > 0) {
      const done = await Promise.race([promise.then(() => "late"), Promise.allSettled(this.booking)]);
      if (done === "late") return;
    }
    stopTimer();
  }

  private async holdInAll({
    most = Infinity,
    ...wanted
  }: Parameters<RunAccounts["hold"]>[0]): Promise<HeldReply> {
    const { host } = this.about;
    const id = host.randomId();
    const held: Account[] = [];
    let outputTokens = most;
    const settleAll = async (spent: ReplySpent): Promise<void> => {
      await waitForAll(held, (account) => asRuntime(host, () => account.settle(id, spent, host.now())));
    };
    for (const account of this.all) {
      const { replyTokens, expiresMs } = account;
      const wish = Math.min(outputTokens, most === Infinity ? replyTokens : most);
      const reply = { ...wanted, id, until: host.now() + expiresMs, outputTokens: wish };
      const granted = await this.granted(account, { reply }).catch(async (error: unknown) => {
        await settleAll(nothingSpent).catch(() => undefined); // the error thrown below says why nothing could be reserved
        throw error;
      });
      if (!granted.ok) {
        await settleAll(nothingSpent);
        throw this.exhausted(granted.excess);
      }
      held.push(account);
      ({ outputTokens } = granted);
    }
    let settling: Promise<void> | undefined;
    return { outputTokens, settle: (spent) => (settling ??= this.tracked(settleAll(spent))) };
  }

  /** Books a wish in each account, or in none: when one account forbids it or fails, the others are booked back. */
  private async book(accounts: readonly Account[], wish: Wish, back: Wish): Promise<Excess | undefined> {
    let booked: Account[] = [];
    try {
      for (const account of accounts) {
        const excess = await this.ask(account, wish);
        if (excess !== undefined) return excess;
        booked.push(account);
      }
      booked = [];
      return undefined;
    } finally {
      for (const account of booked) await this.ask(account, back).catch(() => undefined); // the account keeps the booking
    }
  }

  private async ask(account: Account, wish: Wish): Promise<Excess | undefined> {
    const granted = await this.tracked(this.granted(account, wish));
    return granted.ok ? undefined : granted.excess;
  }

  private granted(account: Account, wish: Wish): ReturnType<Account["reserve"]> {
    const { host } = this.about;
    return asRuntime(host, () => account.reserve(wish, host.now()));
  }

  private exhausted(excess: Excess): WritError<"account-exhausted"> {
    const { message: reason, field } = excess;
    return new WritError("account-exhausted", { name: this.about.agent, reason, field }, { cause: excess });
  }

  private tracked<Value>(work: Promise<Value>): Promise<Value> {
    this.booking.add(work);
    const forget = (): void => void this.booking.delete(work);
    work.finally(forget).catch(() => undefined); // those who wait for the work get the error
    return work;
  }
}

function isSame(one: Account, other: Account): boolean {
  return one.store === other.store && one.key === other.key && one.per === other.per;
}
