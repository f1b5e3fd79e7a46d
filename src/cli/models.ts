import { type FetchEvent, lookAround } from "../adapters/find-model.ts";
import { catalogueModel, listModelFiles } from "../adapters/model-files/cache.ts";
import { pullUrl } from "../adapters/model-files/pull-url.ts";
import { pullModel } from "../adapters/model-files/pull.ts";
import { WritError } from "../error/writ-error.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { listenForInterrupts } from "./interrupts.ts";
import type { OutputFlags } from "./options.ts";
import { durationText, jsonLine, oneLine, type Output, processOutput, sizeText } from "./output.ts";
import { table } from "./table.ts";

/** `writ models list`: the catalogue with the models that are on this machine, and the models of Ollama. */
export async function listModels(flags: OutputFlags): Promise<ExitCode> {
  const { answer, styleAnswer } = processOutput;
  const files = listModelFiles();
  const { ollama } = await lookAround();
  const installed = "why" in ollama ? [] : ollama;
  if (flags.json === true) {
    const embedded = files.map(({ name, description, parameters, sizeBytes, licence, present, path }) => {
      return { name: `llama-cpp/${name}`, description, parameters, sizeBytes, licence, present, path };
    });
    const served = installed.map((model) => ({ ...model, name: `ollama/${model.name}` }));
    await answer(
      jsonLine({
        type: "models",
        embedded,
        ollama: served,
        ...("why" in ollama ? { noOllama: ollama.why } : {}),
      }),
    );
    return exitCodes.answered;
  }
  const rows = [
    ...files.map(({ name, sizeBytes, licence, present, description }) => [
      `llama-cpp/${name}`,
      sizeText(sizeBytes),
      licence,
      present ? "present" : "not fetched",
      description,
    ]),
    ...installed.map(({ name, sizeBytes, parameters = "", capabilities = [] }) => [
      `ollama/${name}`,
      sizeBytes > 0 ? sizeText(sizeBytes) : "cloud",
      parameters,
      "present",
      capabilities.join(", "),
    ]),
  ];
  await answer(table(rows.map((row) => row.map((cell) => oneLine(cell)))));
  if ("why" in ollama)
    await answer(`${styleAnswer("dim", `No models of Ollama: ${oneLine(ollama.why)}.`)}\n`);
  const missing = files.find(({ present }) => !present);
  if (missing !== undefined)
    await answer(`${styleAnswer("dim", `To fetch one: writ models pull ${missing.name}`)}\n`);
  return exitCodes.answered;
}

/** Flags of `writ models pull`. */
export interface PullFlags extends OutputFlags {
  readonly sha256?: string;
}

/**
 * `writ models pull <name>`: fetches the file and prints its path. With `--sha256` the name is the address of any GGUF file. Ctrl-C stops it.
 *
 * @throws WritError `model-unlisted`, `option-invalid`, `download-failed`, `checksum-mismatch`, `download-busy`
 */
export async function pullNamed(name: string, { sha256 }: PullFlags): Promise<ExitCode> {
  const onEvent = fetchProgress(processOutput);
  const interrupts = listenForInterrupts(processOutput);
  const options = { onEvent, signal: interrupts.signal };
  try {
    const path =
      sha256 === undefined ? await pullListed(name, options) : await pullUrl({ url: name, sha256 }, options);
    await processOutput.answer(`${path}\n`);
  } catch (error) {
    if (!interrupts.signal.aborted) throw error;
    processOutput.progress("The model is not fetched yet: the same command tries again.\n");
    return exitCodes.interrupted;
  } finally {
    interrupts.stopListening();
  }
  return exitCodes.answered;
}

async function pullListed(
  name: string,
  { onEvent, signal }: { readonly onEvent: (event: FetchEvent) => void; readonly signal: AbortSignal },
): Promise<string> {
  if (/^https?:/.test(name))
    throw new WritError("option-invalid", { option: "<name>", value: name, advice: needsSum });
  const file = catalogueModel(name.replace(/^llama-cpp[/:]/, ""));
  const wasThere = listModelFiles().some((listed) => listed.name === file.name && listed.present);
  if (wasThere) processOutput.progress(`${file.name} exists already.\n`);
  else onEvent({ type: "begin", file });
  return pullModel(file.name, { onEvent, signal });
}

const needsSum = "A model from an address needs --sha256, so that its bytes can be checked.";

const barWidth = 24;
/** The shortest time between two drawings of the bar. */
const redrawMs = 100;

/**
 * Makes the function that reports the fetching of a model: its name, size and licence before the first byte, then a bar on a
 * terminal, and a line for each tenth elsewhere. `now` returns milliseconds.
 */
export function fetchProgress(
  output: Output,
  now: () => number = () => performance.now(),
): (event: FetchEvent) => void {
  let startedAt = 0;
  let drawnAt = 0;
  let tenths = 0;
  /** The bytes from an earlier attempt: they took no time now. */
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
