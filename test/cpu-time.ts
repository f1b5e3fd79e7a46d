/** Milliseconds that this thread worked on something. What else runs on the machine meanwhile takes none of them. */
function once(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const attempts = 5;

/** The least of several attempts that is below a bound, else the least of all: what disturbs one attempt does not disturb each. */
function least(bound: number, measure: () => number): number {
  let found = Infinity;
  for (let attempt = 0; attempt < attempts && found >= bound; attempt += 1)
    found = Math.min(found, measure());
  return found;
}

/** Milliseconds of work: below the bound in one of five attempts, or it takes longer in truth. */
export function cpuMs(bound: number, work: () => unknown): number {
  return least(bound, () => once(work));
}

/** Under so many milliseconds nothing can be told apart. */
const noise = 5;

/**
 * How many times as long work takes per size at sixteen times the size: 1 where its time is linear, 16 where it is quadratic. Below 5 in one of
 * five attempts, or it is not linear.
 */
export function growth(size: number, work: (size: number) => unknown): number {
  work(size);
  return least(5, () => {
    const short = Math.min(...[1, 2, 3].map(() => once(() => work(size))));
    return once(() => work(16 * size)) / 16 / Math.max(short, noise);
  });
}

/** The same of work that waits: milliseconds that this thread worked until it was done. */
export async function cpuMsUntil(bound: number, work: () => Promise<unknown>): Promise<number> {
  let found = Infinity;
  for (let attempt = 0; attempt < attempts && found >= bound; attempt += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    found = Math.min(found, (user + system) / 1000);
  }
  return found;
}
