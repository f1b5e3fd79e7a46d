import type { Host } from "../../journal/host.ts";
import { whileRead } from "./while-read.ts";

interface Using {
  readonly host: Host;
  /** Takes a place among the open streams of the caller, until the returned function is called. @throws WritError `request-too-many` */
  readonly open: () => () => void;
  /** True while a call is under way, even if its client has gone. */
  readonly isAtWork: () => boolean;
  /** Called when the session was not used for long. */
  readonly onUnused: () => void;
}

/** The time after which an unused session ends; its client then begins another one. */
const unusedMs = 3_600_000;

/** The use of a session: it has a place among the open streams of its caller while an answer of it is read. */
export class SessionUse {
  private readonly using: Using;
  private answers = 0;
  private release: (() => void) | undefined;
  private stopTimer: (() => void) | undefined;
  private isOver = false;

  constructor(using: Using) {
    this.using = using;
  }

  /** True if nobody reads an answer of the session, and no call is under way. */
  get isUnused(): boolean {
    return this.answers === 0 && !this.using.isAtWork();
  }

  /** Uses the session for a request, until its answer was read or is no longer read. @throws WritError `request-too-many` */
  during(request: Request, answer: () => Promise<Response>): Promise<Response> {
    return whileRead(request, () => this.enter(), answer);
  }

  /** Ends the use, because the session has ended. */
  end(): void {
    this.isOver = true;
    this.stopTimer?.();
    this.release?.();
  }

  private enter(): () => void {
    if (this.answers === 0) this.release = this.using.open();
    this.answers += 1;
    this.stopTimer?.();
    let isRead = false;
    return () => {
      if (isRead) return;
      isRead = true;
      this.answers -= 1;
      if (this.answers > 0) return;
      this.release?.();
      this.wait();
    };
  }

  private wait(): void {
    const { host, onUnused } = this.using;
    this.stopTimer?.();
    if (!this.isOver) this.stopTimer = host.timer(unusedMs, () => (this.isUnused ? onUnused() : this.wait()));
  }
}
