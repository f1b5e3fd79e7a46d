import { Command, CommanderError } from "commander";
import { exitCodes } from "./exit-code.ts";
import { lenientFormatOf, type OutputFlags, withOutputFlags } from "./options.ts";
import { packageVersion } from "./package-version.ts";
import type { RunFlags } from "./run.ts";

/**
 * Runs the command line. Each command is loaded when it is called, so that `--version` and `--help` cost nothing of it.
 *
 * @returns the exit code. Never throws for what a user can do wrong.
 */
export async function runProgram(words: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.answered;
  const program = makeProgram((code) => (exitCode = code));
  try {
    await program.parseAsync(words, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.answered : exitCodes.usage;
    throw error;
  }
}

type SetExitCode = (code: number) => void;

function makeProgram(setExitCode: SetExitCode): Command {
  const program = new Command("writ")
    .description("Runs tool-calling agents: the model proposes a call, the program decides whether it runs.")
    .version(packageVersion(), "-V, --version")
    .exitOverride()
    .showHelpAfterError("(writ --help shows how)");
  addRun(program, setExitCode);
  addDemo(program, setExitCode);
  addDoctor(program, setExitCode);
  addModels(program, setExitCode);
  return program;
}

function addRun(program: Command, setExitCode: SetExitCode): void {
  withOutputFlags(
    program
      .command("run")
      .description(
        "run the agent of a file; the answer goes to standard output, the progress to standard error",
      )
      .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
      .argument("[prompt...]", "what to ask; `-`, or nothing where input is piped, reads standard input")
      .option("-m, --model <name>", "another model than the agent's: provider/name, like ollama/qwen2.5:7b")
      .option("--driver <name>", "how calls are spoken of with the model: auto, native, json, lines, react")
      .option("--max-turns <n>", "end after so many turns; the other bounds stay")
      .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
      .option("--skill <name>", "the skill to use, where the agent has several"),
  )
    .addHelpText("after", exitCodeHelp)
    .action(async (file: string, prompt: string[], flags: RunFlags) => {
      setExitCode(await reporting(flags, async () => (await import("./run.ts")).run(file, prompt, flags)));
    });
}

function addDemo(program: Command, setExitCode: SetExitCode): void {
  withOutputFlags(
    program.command("demo").description("watch a scripted run: no model and no network needed"),
  ).action(async (flags: OutputFlags) => {
    setExitCode(await reporting(flags, async () => (await import("./demo.ts")).demo(flags)));
  });
}

function addDoctor(program: Command, setExitCode: SetExitCode): void {
  program
    .command("doctor")
    .description("say what is there, what is missing, and which model would be used")
    .option("--json", "print one JSON object")
    .option("--verbose", "show the stack of an error")
    .action(async (flags: OutputFlags) => {
      setExitCode(await reporting(flags, async () => (await import("./doctor.ts")).doctor(flags)));
    });
}

function addModels(program: Command, setExitCode: SetExitCode): void {
  const models = program.command("models").description("models that run on this machine");
  models
    .command("list")
    .description("the models that can be fetched, and those that Ollama has")
    .option("--json", "print one JSON object")
    .option("--verbose", "show the stack of an error")
    .action(async (flags: OutputFlags) => {
      setExitCode(await reporting(flags, async () => (await import("./models.ts")).listModels(flags)));
    });
  models
    .command("pull")
    .description("fetch a model into the cache folder")
    .argument("<name>", "its name in `writ models list`")
    .option("--verbose", "show the stack of an error")
    .action(async (name: string, flags: OutputFlags) => {
      setExitCode(await reporting(flags, async () => (await import("./models.ts")).pullNamed(name)));
    });
}

/** Prints what a command throws, and gives its exit code. */
async function reporting(flags: OutputFlags, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    const { printFailure } = await import("./print-run.ts");
    return printFailure(error, { format: lenientFormatOf(flags), verbose: flags.verbose ?? false });
  }
}

const exitCodeHelp = `
Exit codes: 0 answered, 1 failed, 2 usage, 3 refused by policy, 4 budget exhausted, 5 model or provider, 6 suspended, 130 interrupted.`;
