/** Work that never rejects, done once at a time however often it is asked for: asked for meanwhile, it is done once more. */
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
