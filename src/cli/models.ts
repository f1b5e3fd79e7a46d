import { lookAround } from "../adapters/find-model.ts";
import { catalogueModel, listModelFiles, modelPath } from "../adapters/model-files/cache.ts";
import { pullModel } from "../adapters/model-files/pull.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { fetchProgress } from "./fetch-progress.ts";
import { listenForInterrupts } from "./interrupts.ts";
import type { OutputFlags } from "./options.ts";
import { jsonLine, oneLine, processOutput, sizeText } from "./output.ts";
import { table } from "./table.ts";

/** `writ models list`: the catalogue with what is there of it, and the models of Ollama. */
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

/**
 * `writ models pull <name>`: fetches the file and prints its path. Ctrl-C stops it.
 *
 * @throws WritError `model-unlisted`, `download-failed`, `checksum-mismatch`, `download-busy`
 */
export async function pullNamed(name: string): Promise<ExitCode> {
  const file = catalogueModel(name.replace(/^llama-cpp[/:]/, ""));
  const wasThere = listModelFiles().some((listed) => listed.name === file.name && listed.present);
  const onEvent = fetchProgress(processOutput);
  if (wasThere) processOutput.progress(`${file.name} is there already.\n`);
  else onEvent({ type: "begin", file });
  const interrupts = listenForInterrupts(processOutput);
  try {
    await pullModel(file.name, { onEvent, signal: interrupts.signal });
  } catch (error) {
    if (!interrupts.signal.aborted) throw error;
    processOutput.progress("The model is not there yet: the same command tries again.\n");
    return exitCodes.interrupted;
  } finally {
    interrupts.stopListening();
  }
  await processOutput.answer(`${modelPath(file.name)}\n`);
  return exitCodes.answered;
}
