import type { Command } from "commander";
import type { OutputFlags } from "./options.ts";

/** Carries out a command, prints what it throws, and sets the exit code. */
type Act = (flags: OutputFlags, command: () => Promise<number>) => Promise<void>;

/** The commands that help to use the others: `writ errors`, `writ completion`. */
export function addHelp(program: Command, act: Act): void {
  addErrors(program, act);
  addCompletion(program, act);
}

function addErrors(program: Command, act: Act): void {
  program
    .command("errors")
    .description("what the code of an error means, what to do, and which pages speak of it")
    .argument("[code]", "like budget-exhausted; without one the codes are listed")
    .option("--json", "print one JSON object")
    .action((code: string | undefined, flags: OutputFlags) =>
      act(flags, async () => (await import("./error-pages.ts")).errors(code, flags)),
    );
}

function addCompletion(program: Command, act: Act): void {
  program
    .command("completion")
    .description("print a script that completes these commands in a shell")
    .argument("<shell>", "bash, zsh or fish")
    .action((shell: string) =>
      act({}, async () => (await import("./completion/completion.ts")).completion(shell, program)),
    );
}
