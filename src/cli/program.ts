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
 * Runs the command line. Each command is loaded when it is called, so that `--version` and `--help` cost nothing of it.
 *
 * @returns the exit code. Never throws for what a user can do wrong.
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
    .argument("[folder]", "where; it may be there, but none of the files", ".")
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
      .argument("[prompt...]", "what to ask; `-`, or nothing where input is piped, reads standard input")
      .option(
        "-f, --file <path>",
        "give the model a file: a picture, a PDF, a sound or a text; again for more",
        (path: string, before: readonly string[] | undefined) => [...(before ?? []), path],
      )
      .option("-m, --model <name>", "another model than the agent's: provider/name, like ollama/qwen2.5:7b")
      .option("--driver <name>", `how calls are spoken of with the model: ${driverChoices.join(", ")}`)
      .option("--max-turns <n>", "end after so many turns; the other bounds stay")
      .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
      .option("--skill <name>", "the skill to use, where the agent has several")
      .option(
        "--cap <list>",
        "what tools may use at most, like net=api.weather.com,fs.read=/data; none for nothing; again for more",
        (list: string, before: string | undefined) => (before === undefined ? list : `${before},${list}`),
      )
      .option("--durable", "keep the run in a store: it outlasts this process, and waits for its answers")
      .option(
        "--store <place>",
        "with --durable: a SQLite file, or postgresql://…; default: WRIT_STORE, else runs.db",
      )
      .option("--id <id>", "the id of the run, with --durable: one that was begun before goes on")
      .option(
        "--session <id>",
        "the conversation that the run goes on with, with --durable: kept in the same store",
      )
      .option("--audit", "print each look of a tool at something of the world, granted or denied")
      .option("--audit-file <file>", "add each such look to this file, as a line of JSON"),
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
    .option("--driver <name>", `how calls are spoken of with the model: ${driverChoices.join(", ")}`)
    .option("--max-turns <n>", "end each answer after so many turns; the other bounds stay")
    .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
    .option("--session <file>", "keep the conversation in this SQLite file, and go on with what it has")
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
      .option("--keep <file>", "keep the runs in this SQLite file, which must not be there yet")
      .addOption(new Option("--die-in <store>").hideHelp()),
    " for each end of a run, and for each wait",
  ).action((flags: DemoFlags) => act(flags, async () => (await import("./demo/demo.ts")).demo(flags)));
}

function addDoctor(program: Command, act: Act): void {
  program
    .command("doctor")
    .description("say what is there, what is missing, and which model would be used")
    .argument("[file]", "an agent (.ts, .js, .md, .json): say also what is dangerous in its definition")
    .option("-m, --model <name>", "say what this name would use: its package or address, its key, its price")
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
    .description("the models that can be fetched, and those that Ollama has")
    .option("--json", "print one JSON object")
    .option("--verbose", "show the stack of an error")
    .action((flags: OutputFlags) => act(flags, async () => (await import("./models.ts")).listModels(flags)));
  models
    .command("pull")
    .description("fetch a model into the cache folder")
    .argument("<name>", "its name in `writ models list`; with --sha256 the address of any GGUF file")
    .option("--sha256 <hash>", "what the file must have")
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
    .option("--drivers <names>", "only these, between commas")
    .option("--cases <names>", "only these, between commas; nothing is remembered then")
    .option("--limit <n>", "only the first so many cases; nothing is remembered then")
    .option("--grammar <which>", "hold replies to a grammar or schema: both, on, off", "both")
    .option("--case-timeout <seconds>", "a case that takes longer is wrong", "120")
    .option("--no-save", "remember nothing")
    .option("--json", "print one JSON object")
    .option("--verbose", "say of each case that is not right what is wrong with it")
    .action((model: string, flags: ProbeFlags) =>
      act(flags, async () => (await import("./probe.ts")).probeModel(model, flags)),
    );
}

function addEval(program: Command, act: Act): void {
  const evaluations = program
    .command("eval")
    .description("hold an agent against cases, or measure what a policy stops");
  addEvalAgent(evaluations, act);
  addInjection(evaluations, act);
  for (const name of ["replay", "bfcl"]) addMovedToLaboratory(evaluations, name);
}

/** A command that stands in the repository only: whoever calls it here is told so. */
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
    .description("run an agent on cases and hold what comes of it against what they expect")
    .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
    .requiredOption("--cases <path>", "a folder of cases (.yaml, .yml, .json), or one such file")
    .option("--only <text>", "only the cases whose names contain this text")
    .option("-m, --model <name>", "another model than the agent's: provider/name, like ollama/qwen2.5:7b")
    .option("--judge <name>", "the model that judges by the rubrics of cases that name none")
    .option("--runs <n>", "run each case so often, where it does not say itself; default 1")
    .option("--concurrency <n>", "so many runs at a time; default 2")
    .option("--record", "keep the replies of the models beside the cases, in *.recorded.json")
    .option("--replay", "ask no model: play what was recorded")
    .option("--allow-effects", "carry out calls that change something, where a case has no result for them")
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
      "in place of a suite: tools (JSON, or a program with an agent), of which tasks and attacks are made",
    )
    .option("--policy <file>", "the policy that is evaluated, with the skills that tools are divided into")
    .option("--draft", "in place of a policy: the one that `writ policy draft` makes of the tools")
    .option("--answers <file>", "with --draft: answers to its questions, as JSON by tool")
    .option("--approve <answer>", "what a person answers during an attack: always (yes), never (no)", "never")
    .option("--adaptive", "also an attacker who knows the policy and tries every permitted tool")
    .option(
      "--plan",
      "have the scripted model plan its acts before it reads, and ask once for several calls (the best case)",
    )
    .option("--seed <n>", "for the calls that the adaptive attacker makes up", "1")
    .option("--show-failures <n>", "show so many of each kind of failure, and what asked in the tasks")
    .option("--json", "print one JSON object; shares go from 0 to 1")
    .option("--verbose", "show the stack of an error")
    .action((flags: InjectionFlags) =>
      act(flags, async () => (await import("./eval-injection.ts")).evalInjection(flags)),
    );
}

function addManifest(program: Command, act: Act): void {
  program
    .command("manifest")
    .description("print what an agent may do, write it down, or say what is wider than it was")
    .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
    .option("--write <file>", "write it to this file instead of printing it")
    .option(
      "--check <file>",
      "compare with this file, and end with 1 when the agent may do more than it says",
    )
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
      "decide sentences about every run of an agent, whatever its model says; a sentence that breaks is shown by a program (experimental)",
    )
    .argument("<file>", "a program (.ts, .js) that exports an agent, or a definition (.md, .json)")
    .option(
      "--sentences <file>",
      "the sentences, as JSON or YAML; default: those that are asked of such an agent",
    )
    .option("--write <folder>", "write the programs that show what breaks into this folder")
    .option("--tools <file>", "a program that exports the tools which a definition (.md, .json) names")
    .option("--json", "print one JSON object")
    .option("--verbose", "show the stack of an error")
    .addHelpText("after", () => helpBelow(proveExitCodeHelp))
    .action((file: string, flags: ProveFlags) =>
      act(flags, async () => (await import("./prove.ts")).proveAgent(file, flags)),
    );
}

const proveExitCodeHelp = `
Exit codes: 0 all sentences are proved, 1 one was seen to break, 2 something is wrong with options, agent or sentences, 3 none broke, and one is undecided.`;

const evalExitCodeHelp = `
Exit codes: 0 all cases passed, 1 a case failed, 2 something is wrong with options, agent or cases, 130 interrupted.`;

const exitCodeHelp = `
Exit codes: 0 answered, 1 failed, 2 usage, 3 refused by policy, 4 budget exhausted, 5 model or provider, 6 suspended, 130 interrupted.`;
