import type { Command } from "commander";
import type { OutputFlags } from "./options.ts";
import type { DraftFlags } from "./policy-draft.ts";
import type { ExplainFlags } from "./policy-explain.ts";
import type { LintFlags } from "./policy-lint.ts";
import type { TryFlags } from "./policy-try.ts";
import type { Act } from "./run-command.ts";

const toolsHelp = "the tools: a list in JSON, or a program or definition of an agent";

/** Adds `writ policy`. */
export function addPolicy(program: Command, act: Act): void {
  const policies = program.command("policy").description("draft, check and try a policy in a file");
  addDraft(policies, act);
  withOutput(
    policies
      .command("lint")
      .description("find what is most likely not meant in a policy (exit code 1 if there is something)")
      .argument("<policy>", "a policy as JSON")
      .option("--tools <file>", toolsHelp),
  ).action((path: string, flags: LintFlags) =>
    act(flags, async () => (await import("./policy-lint.ts")).lintPolicy(path, flags)),
  );
  addTry(policies, act);
  withOutput(
    policies
      .command("explain")
      .description("say of each call of a run how it was decided and why")
      .argument("<run>", "a file of `writ run --output-format stream-json`, or the id of a durable run")
      .option("--policy <file>", "say also what this policy would have decided")
      .option("--tools <file>", `${toolsHelp}; with --policy`)
      .option("--store <place>", "where the durable run is kept; default: WRIT_STORE, else runs.db")
      .option("--agent <file>", "the program or definition of its agent, for a durable run"),
  ).action((run: string, flags: ExplainFlags) =>
    act(flags, async () => (await import("./policy-explain.ts")).explainRun(run, flags)),
  );
  withOutput(
    policies
      .command("diff")
      .description("say what a changed policy may allow more (exit code 1 if it may)")
      .argument("<before>", "a policy as JSON")
      .argument("<after>", "the same, changed"),
  ).action((before: string, after: string, flags: OutputFlags) =>
    act(flags, async () => (await import("./policy-lint.ts")).diffPolicies(before, after, flags)),
  );
}

function addDraft(policies: Command, act: Act): void {
  withOutput(
    policies
      .command("draft")
      .description("draft a policy from tools, with a reason for each line on standard error")
      .argument("<file>", toolsHelp)
      .option("--name <name>", "the name of the policy; default: that of the agent or the file")
      .option(
        "--ask",
        "read the answers about tools that only look from standard input, where it is no terminal",
      )
      .option("--no-ask", "ask nothing, also at a terminal: their results count as strangers'")
      .option("--answers <file>", "the answers as JSON by tool, each with `stranger`, `private`, `outside`")
      .option("--write <file>", "write it to this file instead of printing it"),
  ).action((path: string, flags: DraftFlags) =>
    act(flags, async () => (await import("./policy-draft.ts")).draft(path, flags)),
  );
}

function addTry(policies: Command, act: Act): void {
  withOutput(
    policies
      .command("try")
      .description("put a call to a policy, as if the model had read strangers' words")
      .argument("<policy>", "a policy as JSON")
      .argument("<call...>", "the name of the tool, and its arguments as JSON")
      .option("--intent <words>", "what the user asked", "")
      .option("--trusted", "as if the model had read no words of strangers")
      .option("--private", "as if the model had read what nobody else may know")
      .option("--tools <file>", toolsHelp)
      .option("--expect <verdict>", "allow, ask or deny: end with 1 for another one"),
  ).action((path: string, call: string[], flags: TryFlags) =>
    act(flags, async () => (await import("./policy-try.ts")).tryPolicy(path, call, flags)),
  );
}

function withOutput(command: Command): Command {
  return command.option("--json", "print one JSON object").option("--verbose", "show the stack of an error");
}
