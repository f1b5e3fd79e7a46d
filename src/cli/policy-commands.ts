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
      .description("find likely mistakes in a policy (exit code 1 if there are any)")
      .argument("<policy>", "a policy as JSON or YAML")
      .option("--tools <file>", toolsHelp),
  ).action((path: string, flags: LintFlags) =>
    act(flags, async () => (await import("./policy-lint.ts")).lintPolicy(path, flags)),
  );
  addTry(policies, act);
  withOutput(
    policies
      .command("explain")
      .description("show for each call of a run how it was decided, and why")
      .argument("<run>", "a file of `writ run --output-format stream-json`, or the id of a durable run")
      .option("--policy <file>", "also show what this policy would have decided")
      .option("--tools <file>", `${toolsHelp}; with --policy`)
      .option("--store <place>", "the store of the durable run; default: WRIT_STORE, otherwise runs.db")
      .option("--agent <file>", "the program or definition of its agent, for a durable run")
      .option(
        "--accept <parts>",
        "the parts of the agent that changed since that run, like tools,instructions",
      ),
  ).action((run: string, flags: ExplainFlags) =>
    act(flags, async () => (await import("./policy-explain.ts")).explainRun(run, flags)),
  );
  withOutput(
    policies
      .command("diff")
      .description("show what a changed policy may allow in addition (exit code 1 if there is anything)")
      .argument("<before>", "a policy as JSON or YAML")
      .argument("<after>", "the same policy, changed"),
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
      .option("--name <name>", "the name of the policy; default: the name of the agent or of the file")
      .option(
        "--ask",
        "read the answers about tools that only look from standard input, if it is not a terminal",
      )
      .option("--no-ask", "ask nothing, even at a terminal: their results count as a stranger's")
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
      .description("ask a policy about a call, as if the model had read text of strangers")
      .argument("<policy>", "a policy as JSON or YAML")
      .argument("<call...>", "the name of the tool, and its arguments as JSON")
      .option("--intent <words>", "the user's request", "")
      .option("--trusted", "as if the model had read no text of strangers")
      .option("--private", "as if the model had read private data")
      .option("--tools <file>", toolsHelp)
      .option("--expect <verdict>", "allow, ask or deny: exit with 1 for another verdict"),
  ).action((path: string, call: string[], flags: TryFlags) =>
    act(flags, async () => (await import("./policy-try.ts")).tryPolicy(path, call, flags)),
  );
}

function withOutput(command: Command): Command {
  return command.option("--json", "print one JSON object").option("--verbose", "show the stack of an error");
}
