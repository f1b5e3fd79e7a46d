import type { FetchEvent } from "../adapters/find-model.ts";
import { durationText, oneLine, type Output, sizeText } from "./output.ts";

const barWidth = 24;
/** A bar is drawn no more often than this. */
const redrawMs = 100;

/**
 * Makes the function that tells people of a model that is fetched: its name, size and licence before the first byte, then a bar on a
 * terminal, and a line for each tenth elsewhere. `now` gives milliseconds.
 */
export function fetchProgress(
  output: Output,
  now: () => number = () => performance.now(),
): (event: FetchEvent) => void {
  let startedAt = 0;
  let drawnAt = 0;
  let tenths = 0;
  /** The bytes that an earlier try left: they took no time now. */
  let earlier: number | undefined;

  function progressOf(received: number, sizeBytes: number): string {
    const seconds = (now() - startedAt) / 1000;
    const perSecond = seconds > 0 ? (received - (earlier ?? 0)) / seconds : 0;
    const left =
      perSecond > 0 && received < sizeBytes
        ? `, ${durationText(((sizeBytes - received) / perSecond) * 1000)} left`
        : "";
    return `${sizeText(received)} of ${sizeText(sizeBytes)}, ${sizeText(Math.round(perSecond))}/s${left}`;
  }

  function drawBar(received: number, sizeBytes: number): void {
    const whole = received >= sizeBytes;
    if (!whole && now() - drawnAt < redrawMs) return;
    drawnAt = now();
    const filled = Math.round((received / sizeBytes) * barWidth);
    const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`;
    output.progress(
      `\r\u001B[K${bar} ${percent(received, sizeBytes)} %  ${progressOf(received, sizeBytes)}${whole ? "\n" : ""}`,
    );
  }

  function lineForEachTenth(received: number, sizeBytes: number): void {
    const reached = Math.floor((received / sizeBytes) * 10);
    if (reached <= tenths) return;
    tenths = reached;
    output.progress(`${percent(received, sizeBytes)} %  ${progressOf(received, sizeBytes)}\n`);
  }

  return (event) => {
    if (event.type === "begin") {
      const { name, sizeBytes, licence } = event.file;
      output.progress(
        `${output.style("bold", `Fetching ${name}`)}: ${sizeText(sizeBytes)}, licence ${licence}\n`,
      );
    } else if (event.type === "source") {
      [startedAt, drawnAt, tenths, earlier] = [now(), 0, 0, undefined];
      output.progress(`${output.style("dim", `from ${event.from}`)}\n`);
    } else if (event.type === "source-failed") {
      output.progress(
        `${output.isTerminal && earlier !== undefined ? "\n" : ""}${output.style("yellow", `${event.from} failed`)}: ${oneLine(event.reason)}\n`,
      );
    } else {
      earlier ??= event.received;
      if (output.isTerminal) drawBar(event.received, event.sizeBytes);
      else lineForEachTenth(event.received, event.sizeBytes);
    }
  };
}

function percent(received: number, sizeBytes: number): number {
  return Math.floor((received / sizeBytes) * 100);
}
