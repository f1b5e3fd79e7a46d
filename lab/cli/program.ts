import { Command } from "commander";
import { reporting, runCommand, type SetExitCode } from "../../src/cli/run-command.ts";
import type { LiveFlags } from "./bfcl.ts";
import type { ReplayFlags } from "./replay.ts";

/**
 * Runs the command line of the laboratory. Each command is loaded when it is called.
 *
 * @returns the exit code. Never throws for what a user can do wrong.
 */
export function runProgram(words: readonly string[]): Promise<number> {
  return runCommand(words, makeProgram);
}

function makeProgram(setExitCode: SetExitCode): Command {
  const program = new Command("npm run eval --")
    .description("Measures the reading of calls against the Berkeley Function Calling Leaderboard (BFCL).")
    .exitOverride()
    .showHelpAfterError("(npm run eval -- --help shows how)");
  addReplay(program, setExitCode);
  addBfcl(program, setExitCode);
  return program;
}

function addReplay(program: Command, setExitCode: SetExitCode): void {
  program
    .command("replay")
    .description("read recorded outputs of models again, and judge the calls")
    .requiredOption("--data <dir>", "the recorded outputs: result/<model>/*_result.json, and score/ if there")
    .option("--cases <dir>", "the cases with their answers; default: the folder bfcl beside --data")
    .option("--mode <mode>", "how much is taken for a call: strict, safe (default), lenient")
    .option("--models <names>", "only these, with commas between")
    .option("--categories <names>", "only these, with commas between")
    .option("--show-failures <n>", "show so many wrong outputs of each model and category")
    .option("--json", "print one JSON object; shares go from 0 to 1")
    .option("--verbose", "show the stack of an error")
    .action(async (flags: ReplayFlags) => {
      setExitCode(await reporting(flags, async () => (await import("./replay.ts")).evalReplay(flags)));
    });
}

function addBfcl(program: Command, setExitCode: SetExitCode): void {
  program
    .command("bfcl")
    .description("ask a model the cases, one turn each, and judge its calls")
    .requiredOption(
      "--model <name>",
      "the model: provider/name, like ollama/qwen2.5:7b; none: it says nothing",
    )
    .requiredOption("--driver <names>", "drivers with commas between; auto; or all")
    .option("--cases <dir>", "the cases with their answers; default: bfcl here, else ../shared/data/bfcl")
    .option("--categories <names>", "with commas between; default: the five that do not begin with live_")
    .option("--limit <n>", "so many cases of each category")
    .option(
      "--sample <part>",
      "choosing or reported: a half of 200 cases that are chosen by a seed; further: 200 beside them",
    )
    .option("--withhold", "take the right tools of each case away: calling any other one is wrong")
    .option("--max-tokens <n>", "a reply ends after so many tokens (default 512)")
    .option("--show-failures <n>", "show so many wrong replies of each driver and category")
    .option("--json", "print one JSON object; shares go from 0 to 1")
    .option("--verbose", "show the stack of an error")
    .action(async (flags: LiveFlags) => {
      setExitCode(await reporting(flags, async () => (await import("./bfcl.ts")).evalBfcl(flags)));
    });
}
