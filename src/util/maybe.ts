/** A value, or the promise of one: what is there already costs no promise. */
export type Maybe<Value> = Value | Promise<Value>;

/** For what an author gave in place of a value, and is refused: nobody waits for a promise of it, and its rejection would end the process. */
export function leaveUnheard(refused: unknown): void {
  if (refused instanceof Promise) refused.catch(() => undefined);
}

/** Goes on with a value: at once when it is there, else when it comes. `given` is handed on: a function that is given all it needs costs no closure. */
export function after<Value, Next>(value: Maybe<Value>, goOn: (value: Value) => Maybe<Next>): Maybe<Next>;
export function after<Value, Next, Given>(
  value: Maybe<Value>,
  goOn: (value: Value, given: Given) => Maybe<Next>,
  given: Given,
): Maybe<Next>;
export function after<Value, Next, Given>(
  value: Maybe<Value>,
  goOn: (value: Value, given?: Given) => Maybe<Next>,
  given?: Given,
): Maybe<Next> {
  return value instanceof Promise ? later(value, goOn, given) : goOn(value, given);
}

/** A function of its own, since one that makes a closure pays for it on every way through. */
function later<Value, Next, Given>(
  value: Promise<Value>,
  goOn: (value: Value, given?: Given) => Maybe<Next>,
  given?: Given,
): Promise<Next> {
  return value.then((come) => goOn(come, given));
}

/** Does work, and goes on with what it throws; without a promise where the work needs none. */
export function rescue<Value>(
  work: () => Maybe<Value>,
  goOn: (error: unknown) => Maybe<Value>,
): Maybe<Value> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(goOn) : value;
  } catch (error) {
    return goOn(error);
  }
}

/** Does work, and goes on with its value or with what it throws. What going on throws is not caught. */
export function fold<Value, Next>(
  work: () => Maybe<Value>,
  onValue: (value: Value) => Maybe<Next>,
  onError: (error: unknown) => Maybe<Next>,
): Maybe<Next> {
  let value: Maybe<Value>;
  try {
    value = work();
  } catch (error) {
    return onError(error);
  }
  return value instanceof Promise ? value.then(onValue, onError) : onValue(value);
}

/** Does work and goes on with its value; `instead` takes what either throws. */
export function attempt<Value, Next>(
  work: () => Maybe<Value>,
  goOn: (value: Value) => Maybe<Next>,
  instead: (error: unknown) => Maybe<Next>,
): Maybe<Next> {
  let value: Maybe<Value>;
  try {
    value = work();
    if (!(value instanceof Promise)) {
      const next = goOn(value);
      return next instanceof Promise ? next.catch(instead) : next;
    }
  } catch (error) {
    return instead(error);
  }
  return whenCome(value, goOn, instead);
}

function whenCome<Value, Next>(
  value: Promise<Value>,
  goOn: (value: Value) => Maybe<Next>,
  instead: (error: unknown) => Maybe<Next>,
): Promise<Next> {
  return value.then((come) => rescue(() => goOn(come), instead), instead);
}

/** Does work and cleans up behind it, however it ends; without a promise where neither needs one. */
export function always<Value>(work: () => Maybe<Value>, cleanUp: () => Maybe<unknown>): Maybe<Value> {
  return fold(
    work,
    (value) => after(cleanUp(), () => value),
    (error) =>
      after(cleanUp(), () => {
        throw error;
      }),
  );
}

/** Takes the items in order, the next after the last is done. Gives a promise only from the first item that waits for something. */
export function inOrder<Item>(
  items: readonly Item[],
  step: (item: Item, index: number) => Maybe<unknown>,
): Maybe<unknown> {
  for (let index = 0; index < items.length; index += 1) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the index is within the list
    const done = step(items[index] as Item, index);
    if (!(done instanceof Promise)) continue;
    const rest = items.slice(index + 1);
    return rest.length === 0 ? done : restInOrder(done, rest, (item, at) => step(item, index + 1 + at));
  }
  return undefined;
}

async function restInOrder<Item>(
  first: Promise<unknown>,
  items: readonly Item[],
  step: (item: Item, index: number) => Maybe<unknown>,
): Promise<void> {
  await first;
  for (const [index, item] of items.entries()) {
    const done = step(item, index);
    if (done instanceof Promise) await done;
  }
}
