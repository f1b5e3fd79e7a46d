/** Wraps work that never rejects so that it never overlaps: requests made while it runs cause one more run after it. */
export function onceAtATime(work: () => Promise<void>): () => void {
  let isAsked = false;
  let isAtWork = false;
  async function workOff(): Promise<void> {
    isAtWork = true;
    while (isAsked) {
      isAsked = false;
      await work();
    }
    isAtWork = false;
  }
  return () => {
    isAsked = true;
    if (!isAtWork) void workOff();
  };
}
