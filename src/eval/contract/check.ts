import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";

/** One promise of a contract. Any test runner can run it: `for (const { name, run } of checks) it(name, run)`. */
export interface ContractCheck {
  readonly name: string;
  /** Resolves if the promise is kept. @throws WritError `contract-broken`, which says what was wrong */
  readonly run: () => Promise<void>;
}

/** Reports a broken promise, unless it is kept. */
export type Expect = (isKept: boolean, reason: string) => void;

/** A check of a contract, with its name. */
export function check(
  contract: string,
  name: string,
  work: (expect: Expect) => Promise<void>,
): ContractCheck {
  const broken = (reason: string, cause?: unknown): WritError =>
    new WritError("contract-broken", { contract, check: name, reason }, { cause });
  const expect: Expect = (isKept, reason) => {
    if (!isKept) throw broken(reason);
  };
  const run = (): Promise<void> =>
    work(expect).catch((error: unknown) => {
      throw isWritError(error, "contract-broken") ? error : broken(messageOf(error), error);
    });
  return { name, run };
}
