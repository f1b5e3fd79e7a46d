import { asSentence } from "../util/as-sentence.ts";
import { readFile } from "node:fs/promises";
import { durableRuns } from "../adapters/durable-runs.ts";
import { decoded } from "../util/media.ts";
import { messageOf, WritError } from "../error/writ-error.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { processOutput } from "./output.ts";
import { tellRun } from "./runs.ts";
import { knownStore, openStore, type StoreFlags } from "./run-store.ts";

/** `writ runs export <id>`. */
export async function exportRun(id: string, flags: StoreFlags): Promise<ExitCode> {
  await using store = await knownStore(flags);
  await processOutput.answer(await durableRuns({ store }).export(id));
  return exitCodes.answered;
}

/** `writ runs import <file>`. @throws WritError `option-invalid` for a file that cannot be read */
export async function importRun(path: string, flags: StoreFlags): Promise<ExitCode> {
  const text = await readFile(path)
    .then(decoded)
    .catch((error: unknown) => {
      throw new WritError("option-invalid", {
        option: "<file>",
        value: path,
        advice: asSentence(messageOf(error)),
      });
    });
  await using store = await openStore(flags);
  const run = await durableRuns({ store }).import(text);
  return tellRun(run, flags);
}
