import type { RE2JS } from "re2js";
import { splitPattern } from "./linear-pattern.ts";
import type { Matcher } from "./maker.ts";
import type { Work } from "./visit.ts";

// The programs of one schema together. Each part takes half a microsecond to make.
const maxPrograms = 100_000;

// The engine needs some time to begin.
const stepsToBegin = 8;
const stepsPerCharacter = 2;
// It goes through a program where it does not know the way.
const stepsPerPart = 2;

// Bytes that the engine keeps of what it has met in texts, to a step of making them. The first of them come with every pattern.
const bytesPerStep = 2;
const largeState = 2_000;
const tableBytes = 8;
const bytesPerTableStep = 64;
const freeBytes = 16_000;
// So many bytes are left when it will not keep what comes next.
const leastBytes = 2_000_000;

// A larger program can cost much at each character: it is tried with the beginning of a text.
const smallProgram = 64;
const firstPart = 64;

/** Compiles patterns to matchers whose time is linear in the text and counted as work, also where the pattern makes the engine slow. */
export function matchersOf(engine: typeof RE2JS): (pattern: string) => Matcher {
  let programs = 0;
  function compiled(part: string): Compiled {
    const made = engine.compile(engine.translateRegExp(part));
    programs += made.programSize();
    if (programs > maxPrograms)
      throw new TypeError(`the patterns of its schema have more than ${maxPrograms} parts together`);
    return new Compiled(made);
  }
  return (pattern) => {
    const parts = splitPattern(pattern);
    if ("fault" in parts) throw new TypeError(`"${pattern}" ${parts.fault}`);
    const must = [parts.body, ...parts.must].map(compiled);
    const mustNot = parts.mustNot.map(compiled);
    return (text, work) =>
      must.every((part) => part.test(text, work)) && !mustNot.some((part) => part.test(text, work));
  };
}

class Compiled {
  readonly #pattern: RE2JS;
  readonly #program: number;
  #freeBytes = freeBytes;
  /** The engine would keep too much of this pattern: it goes through the whole program at each character. */
  #isWide = false;
  /** The longest text so far, and the bytes that were kept for each character of it that was new. */
  #longest = 0;
  #bytesEach = 0;

  constructor(pattern: RE2JS) {
    this.#pattern = pattern;
    this.#program = pattern.programSize();
  }

  test(text: string, work: Work): boolean {
    if (this.#program > smallProgram)
      for (let length = firstPart; length < text.length; length *= 2)
        this.#counted(text.slice(0, length), work);
    return this.#counted(text, work);
  }

  #counted(text: string, work: Work): boolean {
    const { length } = text;
    work.spend(stepsToBegin + length * stepsPerCharacter);
    const pattern = this.#pattern.re2();
    // A pattern with one way at each character keeps nothing.
    if ((pattern.onepass as object | null) !== null) return this.#pattern.test(text);
    const { dfa } = pattern;
    const { memBudget: bytes, stateCount: states } = dfa;
    const whole = length * this.#program * stepsPerPart;
    const isNew = length > this.#longest && this.#bytesEach * (length - this.#longest) > bytes;
    const isWide = this.#isWide || isNew;
    if (isWide) work.spend(whole);
    const matches = this.#pattern.test(text);
    const isFull = dfa.stateCount < states || dfa.memBudget < leastBytes;
    this.#isWide ||= isFull;
    const made = bytes - dfa.memBudget;
    this.#learn(length, made);
    work.spend(isFull && !isWide ? whole : this.#stepsFor(made, dfa.stateCount - states));
    return matches;
  }

  /** The steps in which so many states were made. Large ones take longer for each byte; the table of each is only set aside. */
  #stepsFor(made: number, states: number): number {
    const tables = states * tableBytes * this.#pattern.re2().dfa.numClasses;
    const counted = Math.max(0, made - tables - this.#freeBytes);
    this.#freeBytes = Math.max(0, this.#freeBytes - made);
    return (
      (counted / bytesPerStep) * (1 + counted / Math.max(1, states) / largeState) + tables / bytesPerTableStep
    );
  }

  #learn(length: number, made: number): void {
    const isLonger = length > this.#longest;
    const each = made / Math.max(1, isLonger ? length - this.#longest : length);
    this.#bytesEach = isLonger ? each : Math.max(this.#bytesEach, each);
    this.#longest = Math.max(this.#longest, length);
  }
}
