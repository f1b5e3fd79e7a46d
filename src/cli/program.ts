import { Command, Option } from "commander";
import { writeOut } from "../adapters/own-output.ts";
import { driverChoices } from "../model/driver-names.ts";
import type { ChatFlags } from "./chat/chat.ts";
import type { DemoFlags } from "./demo/demo.ts";
import { addDurable } from "./durable-commands.ts";
import type { DoctorFlags } from "./doctor.ts";
import type { EvalAgentFlags } from "./eval-agent.ts";
import type { InjectionFlags } from "./eval-injection.ts";
import type { InitFlags } from "./init.ts";
import type { ManifestFlags } from "./manifest.ts";
import { addPolicy } from "./policy-commands.ts";
import type { ProveFlags } from "./prove.ts";
import { addHelp, helpBelow, helpLayout, namingHelp } from "./help-commands.ts";
import { type OutputFlags, withOutputFlags } from "./options.ts";
import { packageVersion } from "./package-version.ts";
import type { PullFlags } from "./models.ts";
import type { ProbeFlags } from "./probe.ts";
import type { RunFlags } from "./run.ts";
import { addServer } from "./server-commands.ts";
import { type Act, reporting, runCommand, type SetExitCode } from "./run-command.ts";

/**
 * Runs the command line. Each command is loaded when it is called, so `--version` and `--help` load none of them.
 *
 * @returns the exit code. Does not throw for mistakes of a user.
 */
export function runProgram(words: readonly string[]): Promise<number> {
  return runCommand(words, makeProgram);
}

function makeProgram(setExitCode: SetExitCode): Command {
  const act: Act = async (flags, command) => setExitCode(await reporting(flags, command));
  const program = new Command("writ")
    .description("Runs tool-calling agents: the model proposes a call, the program decides whether it runs.")
    .version(packageVersion(), "-V, --version")
    .exitOverride()
    .configureOutput({ writeOut })
    .configureHelp(helpLayout);
  addInit(program, act);
  addRun(program, act);
  addChat(program, act);
  addDurable(program, act);
  addServer(program, act);
  addDemo(program, act);
  addDoctor(program, act);
  addModels(program, act);
  addProbe(program, act);
  addPolicy(program, act);
  addEval(program, act);
  addManifest(program, act);
  addProve(program, act);
  addHelp(program, act);
  return namingHelp(program);
}

function addInit(program: Command, act: Act): void {
  program
    .command("init")
    .description(
      "begin a small project: an agent, its test, and a stand-in for the model, so that no key is needed",
    )
    .argument("[folder]", "the folder; it may exist, but without these files", ".")
    .option(
      "--template <name>",
      "tool, mcp, approval, serve; whole examples: support-desk, coder, research, local-model",
      "tool",
    )
    .option("--verbose", "show the stack of an error")
    .action((folder: string, flags: InitFlags) =>
      act(flags, async () => (await import("./init.ts")).init(folder, flags)),
    );
}

function addRun(program: Command, act: Act): void {
  withOutputFlags(
    program
      .command("run")
      .description(
        "run the agent of a file; the answer goes to standard output, the progress to standard error",
      )
      .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
      .argument("[prompt...]", "the question; `-`, or no words with piped input, reads standard input")
      .option(
        "-f, --file <path>",
        "give the model a file: a picture, a PDF, a sound or a text; may be repeated",
        (path: string, before: readonly string[] | undefined) => [...(before ?? []), path],
      )
      .option("-m, --model <name>", "another model than the agent's: provider/name, like ollama/qwen2.5:7b")
      .option("--driver <name>", `the form of calls for the model: ${driverChoices.join(", ")}`)
      .option("--max-turns <n>", "end after this many turns; the other bounds stay")
      .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
      .option("--skill <name>", "the skill to use, if the agent has several")
      .option(
        "--cap <list>",
        "the most that tools may use, like net=api.weather.com,fs.read=/data; none for nothing; may be repeated",
        (list: string, before: string | undefined) => (before === undefined ? list : `${before},${list}`),
      )
      .option("--durable", "keep the run in a store: it outlasts this process, and waits for its answers")
      .option(
        "--store <place>",
        "with --durable: a SQLite file, or postgresql://…; default: WRIT_STORE, otherwise runs.db",
      )
      .option("--id <id>", "the id of the run, with --durable: a run that was begun before goes on")
      .option("--session <id>", "with --durable: the conversation to continue, in the same store")
      .option("--audit", "print each use of a capability by a tool, granted or denied")
      .option("--audit-file <file>", "add each such use to this file, as a line of JSON"),
  )
    .addHelpText("after", () => helpBelow(exitCodeHelp))
    .action((file: string, prompt: string[], flags: RunFlags) =>
      act(flags, async () => (await import("./run.ts")).run(file, prompt, flags)),
    );
}

function addChat(program: Command, act: Act): void {
  program
    .command("chat")
    .description("talk with the agent of a file, on the terminal or line by line from a pipe")
    .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
    .option("-m, --model <name>", "another model than the agent's: provider/name, like ollama/qwen2.5:7b")
    .option("--driver <name>", `the form of calls for the model: ${driverChoices.join(", ")}`)
    .option("--max-turns <n>", "end each answer after this many turns; the other bounds stay")
    .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
    .option("--session <file>", "keep the conversation in this SQLite file, and continue the one in it")
    .option("--id <name>", "the name of the conversation in the file; default: chat")
    .option("--verbose", "show arguments and results whole, tokens and times, and the stack of an error")
    .action((file: string, flags: ChatFlags) =>
      act(flags, async () => (await import("./chat/chat.ts")).chat(file, flags)),
    );
}

function addDemo(program: Command, act: Act): void {
  withOutputFlags(
    program
      .command("demo")
      .description(
        "watch scripted runs: calls, refusals, an injection, an approval, a crash; no model and no network",
      )
      .option("--keep <file>", "keep the runs in this SQLite file, which must not exist yet")
      .addOption(new Option("--die-in <store>").hideHelp()),
    " for each end of a run, and for each wait",
  ).action((flags: DemoFlags) => act(flags, async () => (await import("./demo/demo.ts")).demo(flags)));
}

function addDoctor(program: Command, act: Act): void {
  program
    .command("doctor")
    .description("report what is installed, what is missing, and which model would be used")
    .argument("[file]", "an agent (.ts, .js, .md, .json): also report dangers in its definition")
    .option(
      "-m, --model <name>",
      "report what this name would use: its package or address, its key, its price",
    )
    .option("--json", "print one JSON object")
    .option("--verbose", "show the stack of an error")
    .action((file: string | undefined, flags: DoctorFlags) =>
      act(flags, async () => (await import("./doctor.ts")).doctor(flags, file)),
    );
}

function addModels(program: Command, act: Act): void {
  const models = program.command("models").description("models that run on this machine");
  models
    .command("list")
    .description("list the models that can be fetched, and those that Ollama has")
    .option("--json", "print one JSON object")
    .option("--verbose", "show the stack of an error")
    .action((flags: OutputFlags) => act(flags, async () => (await import("./models.ts")).listModels(flags)));
  models
    .command("pull")
    .description("fetch a model into the cache folder")
    .argument("<name>", "its name in `writ models list`; with --sha256 the address of any GGUF file")
    .option("--sha256 <hash>", "the checksum that the file must have")
    .option("--verbose", "show the stack of an error")
    .action((name: string, flags: PullFlags) =>
      act(flags, async () => (await import("./models.ts")).pullNamed(name, flags)),
    );
}

function addProbe(program: Command, act: Act): void {
  program
    .command("probe")
    .description("try every driver on a model with small tasks, and remember the best for `auto`")
    .argument("<model>", "provider/name, like ollama/qwen2.5:7b")
    .option("--drivers <names>", "only these, separated by commas")
    .option("--cases <names>", "only these, separated by commas; nothing is remembered then")
    .option("--limit <n>", "only this many cases, from the first; nothing is remembered then")
    .option("--grammar <which>", "hold replies to a grammar or schema: both, on, off", "both")
    .option("--case-timeout <seconds>", "the time after which a case counts as wrong", "120")
    .option("--no-save", "remember nothing")
    .option("--json", "print one JSON object")
    .option("--verbose", "show what is wrong with each case that is not right")
    .action((model: string, flags: ProbeFlags) =>
      act(flags, async () => (await import("./probe.ts")).probeModel(model, flags)),
    );
}

function addEval(program: Command, act: Act): void {
  const evaluations = program
    .command("eval")
    .description("test an agent with cases, or measure what a policy stops");
  addEvalAgent(evaluations, act);
  addInjection(evaluations, act);
  for (const name of ["replay", "bfcl"]) addMovedToLaboratory(evaluations, name);
}

/** Adds a command that exists only in the repository: here it only says so. */
function addMovedToLaboratory(evaluations: Command, name: string): void {
  const told = `error: 'eval ${name}' is not part of the package; in writ's repository: npm run eval -- ${name}`;
  evaluations
    .command(name, { hidden: true })
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => evaluations.error(told));
}

function addEvalAgent(evaluations: Command, act: Act): void {
  evaluations
    .command("agent")
    .description("run an agent on cases and compare the runs with their expectations")
    .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
    .requiredOption("--cases <path>", "a folder of cases (.yaml, .yml, .json), or one such file")
    .option("--only <text>", "only the cases whose names contain this text")
    .option("-m, --model <name>", "another model than the agent's: provider/name, like ollama/qwen2.5:7b")
    .option("--judge <name>", "the model that judges, for cases whose rubrics name none")
    .option("--runs <n>", "the number of runs of each case that does not set it; default 1")
    .option("--concurrency <n>", "the number of runs at a time; default 2")
    .option("--record", "keep the replies of the models beside the cases, in *.recorded.json")
    .option("--replay", "ask no model: play the recordings")
    .option("--allow-effects", "carry out calls that change something if a case has no result for them")
    .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
    .option("--junit <file>", "write JUnit XML to this file too")
    .option("--json", "print one JSON object")
    .option("--verbose", "show answers and verdicts of cases that passed, and the stack of an error")
    .addHelpText("after", () => helpBelow(evalExitCodeHelp))
    .action((file: string, flags: EvalAgentFlags) =>
      act(flags, async () => (await import("./eval-agent.ts")).evalAgent(file, flags)),
    );
}

function addInjection(evaluations: Command, act: Act): void {
  evaluations
    .command("injection")
    .description(
      "play a model that does whatever an attack says through the real runtime, and count what gets through",
    )
    .option("--suite <file>", "tools, tasks, attacks and recorded results, as JSON")
    .option(
      "--tools <file>",
      "in place of a suite: tools (JSON, or a program with an agent), from which tasks and attacks are made",
    )
    .option("--policy <file>", "the policy that is evaluated, with the skills that tools are divided into")
    .option("--draft", "in place of a policy: the one that `writ policy draft` makes from the tools")
    .option("--answers <file>", "with --draft: answers to its questions, as JSON by tool")
    .option(
      "--approve <answer>",
      "the answer of a person during an attack: always (yes), never (no)",
      "never",
    )
    .option("--adaptive", "also play an attacker who knows the policy and tries every permitted tool")
    .option(
      "--plan",
      "have the scripted model plan its acts before it reads, and ask once for several calls (the best case)",
    )
    .option("--seed <n>", "the seed of the calls that the adaptive attacker makes up", "1")
    .option(
      "--show-failures <n>",
      "show this many failures of each kind, and the reasons for questions in the tasks",
    )
    .option("--json", "print one JSON object; shares go from 0 to 1")
    .option("--verbose", "show the stack of an error")
    .action((flags: InjectionFlags) =>
      act(flags, async () => (await import("./eval-injection.ts")).evalInjection(flags)),
    );
}

function addManifest(program: Command, act: Act): void {
  program
    .command("manifest")
    .description("print what an agent may do, write it to a file, or compare it with such a file")
    .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
    .option("--write <file>", "write it to this file instead of printing it")
    .option("--check <file>", "compare with this file, and exit with 1 if the agent may do more than it says")
    .option(
      "-m, --model <name>",
      "with another model than the agent's: provider/name, like ollama/qwen2.5:7b",
    )
    .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
    .option("--json", "print the comparison as one JSON object")
    .option("--verbose", "show the stack of an error")
    .action((file: string, flags: ManifestFlags) =>
      act(flags, async () => (await import("./manifest.ts")).manifest(file, flags)),
    );
}

function addProve(program: Command, act: Act): void {
  program
    .command("prove")
    .description(
      "decide sentences about every run of an agent, whatever its model says; for each broken sentence there is a program that shows it (experimental)",
    )
    .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
    .option("--sentences <file>", "the sentences, as JSON or YAML; default: those proposed for such an agent")
    .option("--write <folder>", "write the programs that show broken sentences to this folder")
    .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
    .option("--json", "print one JSON object")
    .option("--verbose", "show the stack of an error")
    .addHelpText("after", () => helpBelow(proveExitCodeHelp))
    .action((file: string, flags: ProveFlags) =>
      act(flags, async () => (await import("./prove.ts")).proveAgent(file, flags)),
    );
}

const proveExitCodeHelp = `
Exit codes: 0 all sentences are proved, 1 a sentence was seen to break, 2 something is wrong with options, agent or sentences, 3 none broke, but one is undecided.`;

const evalExitCodeHelp = `
Exit codes: 0 all cases passed, 1 a case failed, 2 something is wrong with options, agent or cases, 130 interrupted.`;

const exitCodeHelp = `
Exit codes: 0 answered, 1 failed, 2 usage, 3 refused, 4 budget exhausted, 5 model or provider, 6 suspended, 130 interrupted.`;
