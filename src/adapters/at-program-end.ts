/** Register: work to do when this process ends. */
const works = new Set<() => void>();
let isListening = false;

/** Has work done when this process ends for any reason but a signal. Returns the function that forgets it. */
export function atProgramEnd(work: () => void): () => void {
  works.add(work);
  if (!isListening) {
    isListening = true;
    process.on("exit", () => {
      for (const each of works) each();
    });
  }
  return () => void works.delete(work);
}
