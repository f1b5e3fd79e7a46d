import type { Command } from "commander";
import type { ForkFlags } from "./fork.ts";
import { personOf } from "./options.ts";
import type { AnswerFlags } from "./questions.ts";
import type { Act } from "./run-command.ts";
import type { StoreFlags } from "./run-store.ts";
import type { ListFlags } from "./runs.ts";
import type { SettleFlags } from "./settle.ts";
import type { SignalFlags } from "./signal.ts";
import type { CheckFlags, WorkFlags } from "./work.ts";

/** Adds `writ runs`, `writ approvals` and `writ work`. */
export function addDurable(program: Command, act: Act): void {
  addRuns(program.command("runs").description("runs that outlast their process"), act);
  addApprovals(program.command("approvals").description("questions that such runs wait for"), act);
  withStore(
    program
      .command("work")
      .description("carry out such runs until told to end (Ctrl-C, SIGTERM); then hand them over")
      .argument("<file...>", "programs (.ts, .js) that export an agent, or definitions (.md, .json)")
      .option("--concurrency <n>", "the number of runs at a time", "10")
      .option(
        "--accept <parts>",
        "the parts of runs that were changed on purpose since, like tools,instructions",
      ),
    "print each event as a line of JSON",
  ).action((files: string[], flags: WorkFlags) =>
    act(flags, async () => (await import("./work.ts")).work(files, flags)),
  );
}

/** The words of `--json` for a command that prints no result of its own. */
export const jsonErrors = "print an error as one JSON object";

/** Adds the options of every command that has a store of runs; `json` says what its `--json` prints. */
export function withStore(command: Command, json = "print one JSON object"): Command {
  return command
    .option("--store <place>", "a SQLite file, or postgresql://…; default: WRIT_STORE, otherwise runs.db")
    .option("--json", json)
    .option("--verbose", "show the stack of an error");
}

function addRuns(runs: Command, act: Act): void {
  withStore(
    runs
      .command("list")
      .description("list the runs, the latest first")
      .option(
        "--status <status>",
        "only runs with this status: ready, running, waiting, answered, failed, cancelled, …",
      )
      .option("--agent <name>", "only the runs of this agent")
      .option("--session <id>", "only the runs of this session")
      .option("--before <id>", "only the runs that were begun before this one")
      .option("--limit <n>", "at most this many runs", "100"),
  ).action((flags: ListFlags) => act(flags, async () => (await import("./runs.ts")).listRuns(flags)));
  withStore(
    runs.command("show").description("show one run: its input, questions, steps and end").argument("<id>"),
  ).action((id: string, flags: StoreFlags) =>
    act(flags, async () => (await import("./runs.ts")).showRun(id, flags)),
  );
  withStore(
    runs
      .command("cancel")
      .description("end a run for good, whichever process carries it out; its questions are withdrawn")
      .argument("<id>")
      .option("--reason <text>", "the reason, which its caller is told", "it was cancelled"),
  ).action((id: string, flags: StoreFlags & { readonly reason: string }) =>
    act(flags, async () => (await import("./runs.ts")).cancelRun(id, flags)),
  );
  withStore(runs.command("retry").description("let a failed run go on").argument("<id>")).action(
    (id: string, flags: StoreFlags) =>
      act(flags, async () => (await import("./runs.ts")).retryRun(id, flags)),
  );
  withStore(
    runs
      .command("erase")
      .description("erase a run, or a session with all of its runs, and all their records")
      .argument("[id]")
      .option("--session <id>", "this session, and all of its runs"),
  ).action((id: string | undefined, flags: StoreFlags & { readonly session?: string }) =>
    act(flags, async () => (await import("./runs.ts")).eraseRuns(id, flags)),
  );
  addSettle(runs, act);
  addSignal(runs, act);
  addMoves(runs, act);
  addCheck(runs, act);
}

function addSettle(runs: Command, act: Act): void {
  withStore(
    runs
      .command("settle")
      .description("decide the fate of a call that was under way when its process died; the run goes on")
      .argument("<id>")
      .argument("<call>", "its key, like turn/1/call/0, or that of its question")
      .requiredOption("--happened <yes|no|unknown>", "no lets it run now")
      .option("--value <json>", "the result, if it happened")
      .option("--by <name>", "the person who decides", personOf),
  ).action((id: string, call: string, flags: SettleFlags) =>
    act(flags, async () => (await import("./settle.ts")).settleCall(id, call, flags)),
  );
}

function addSignal(runs: Command, act: Act): void {
  withStore(
    runs
      .command("signal")
      .description("send a signal that a tool of the run waits for, or will wait for; the run goes on")
      .argument("<run>")
      .argument("<name>", "the name by which the tool waits for it")
      .option("--value <json>", "its payload (default: null)")
      .option("--id <id>", "the id of the signal: a second signal with the same id changes nothing"),
  ).action((run: string, name: string, flags: SignalFlags) =>
    act(flags, async () => (await import("./signal.ts")).sendSignal(run, name, flags)),
  );
}

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function addMoves(runs: Command, act: Act): void {
  withStore(
    runs
      .command("fork")
      .description("begin a run from the records of another one; tools return the results recorded there")
      .argument("<id>")
      .requiredOption("--before-turn <n>", "the first turn that runs again, counted from 1")
      .option("--as <id>", "the id of the new run")
      .option("--agent <name>", "the agent that carries it out; `writ work` needs it")
      .option("--instructions <text>", "in place of the agent's")
      .option("--model <name>", "in place of the agent's")
      .option("--again <tools>", "tools that run again, like search,read_file")
      .option(
        "--result <call=json>",
        "another value for a call, like turn/2/call/0='\"no\"'; may be repeated",
        collected,
      ),
  ).action((id: string, flags: ForkFlags) =>
    act(flags, async () => (await import("./fork.ts")).forkRun(id, flags)),
  );
  withStore(
    runs
      .command("export")
      .description(
        "move a run out of the store, so that it can go on in another one, and print it as lines of JSON",
      )
      .argument("<id>"),
    jsonErrors,
  ).action((id: string, flags: StoreFlags) =>
    act(flags, async () => (await import("./moves.ts")).exportRun(id, flags)),
  );
  withStore(
    runs.command("import").description("put an exported run into the store, once").argument("<file>"),
  ).action((file: string, flags: StoreFlags) =>
    act(flags, async () => (await import("./moves.ts")).importRun(file, flags)),
  );
}

function addCheck(runs: Command, act: Act): void {
  withStore(
    runs
      .command("check")
      .description(
        "list, before a deploy, the runs that this code cannot go on with (exit code 1 if there are any)",
      )
      .argument("<file...>", "the programs or definitions that will carry them out")
      .option("--accept <parts>", "the parts that were changed on purpose, like tools,instructions"),
  ).action((files: string[], flags: CheckFlags) =>
    act(flags, async () => (await import("./work.ts")).checkRuns(files, flags)),
  );
}

function addApprovals(approvals: Command, act: Act): void {
  withStore(
    approvals
      .command("list")
      .description("list the questions, the oldest first, with everything that an answer is about")
      .option("--run <id>", "only the questions of this run"),
  ).action((flags: StoreFlags & { readonly run?: string }) =>
    act(flags, async () => (await import("./questions.ts")).listQuestions(flags)),
  );
  withAnswer(approvals.command("approve").description("approve the call, once"), true, act)
    .option("--arguments <json>", "other arguments, in place of the model's")
    .option(
      "--open <names>",
      "approve for the rest of the run, also with other values in these arguments (a,b): some of the question's `open`",
    );
  withAnswer(
    approvals.command("deny").description("deny the call; the model is told the reason"),
    false,
    act,
  );
}

function withAnswer(command: Command, approved: boolean, act: Act): Command {
  return withStore(
    command
      .argument("<run>", "the id of the run")
      .argument("[keys...]", "the keys of the questions, if the run has several")
      .option(
        "--by <name>",
        "the person who answers: kept with the answer, and required if the question names who may",
        personOf,
      )
      .option("--reason <text>", "the reason")
      .option(
        "--hash <hash>",
        "the hash of the request that was shown: the answer is refused if the request has changed",
      ),
  ).action((run: string, keys: readonly string[], flags: AnswerFlags) =>
    act(flags, async () => (await import("./questions.ts")).answerQuestions([run, keys], approved, flags)),
  );
}
