import { type Command, CommanderError } from "commander";
import { WritError } from "../error/writ-error.ts";
import { noUsage } from "../message/usage.ts";
import { exitCodes } from "./exit-code.ts";
import { lenientFormatOf, type OutputFlags } from "./options.ts";

/** Called by a command with its exit code. */
export type SetExitCode = (code: number) => void;

/** Carries out a command, prints its error, and sets the exit code. */
export type Act = (flags: OutputFlags, command: () => Promise<number>) => Promise<void>;

/**
 * Runs the command that the words name.
 *
 * @returns the exit code. Does not throw for mistakes of a user.
 */
export async function runCommand(
  words: readonly string[],
  makeProgram: (setExitCode: SetExitCode) => Command,
): Promise<number> {
  let exitCode: number = exitCodes.answered;
  const program = makeProgram((code) => (exitCode = code));
  try {
    await program.parseAsync(words, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.answered;
    const { wantsJson } = await import("./error-text.ts");
    if (wantsJson(words)) await answerFault(error);
    return exitCodes.usage;
  }
}

/** Prints a fault of the command line as the object that `--json` asks for. People read it on standard error. */
async function answerFault({ message }: CommanderError): Promise<void> {
  const [{ resultObject }, { jsonLine, processOutput }] = await Promise.all([
    import("./print-run.ts"),
    import("./output.ts"),
  ]);
  const reason = message.replace(/^error: /, "").replaceAll(/\s+/g, " ");
  const end = {
    error: new WritError("command-invalid", { reason }),
    usage: noUsage,
    turns: 0,
    durationMs: 0,
  };
  await processOutput.answer(jsonLine(resultObject(end, end.error)));
}

/** Prints the error of a command, and returns its exit code. */
export async function reporting(flags: OutputFlags, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    const { printFailure } = await import("./print-run.ts");
    return printFailure(error, { format: lenientFormatOf(flags), verbose: flags.verbose ?? false });
  }
}
