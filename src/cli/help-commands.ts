import { type Command, Help } from "commander";
import type { OutputFlags } from "./options.ts";
import type { Act } from "./run-command.ts";
import { wrapped } from "./text-width.ts";

/** The commands that help to use the others: `writ errors`, `writ completion`. */
export function addHelp(program: Command, act: Act): void {
  addErrors(program, act);
  addCompletion(program, act);
}

function addErrors(program: Command, act: Act): void {
  program
    .command("errors")
    .description("explain the code of an error: its meaning, what to do, and the pages that mention it")
    .argument("[code]", "like budget-exhausted; without a code, all codes are listed")
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
      act({}, async () => (await import("./completion.ts")).completion(shell, program)),
    );
}

/** The least number of columns beside a term in which a description can be read. */
const readable = 40;
const indent = 6;

/** The layout of help: if a terminal has no room for descriptions beside their terms, they are printed below them. */
export const helpLayout: Partial<Help> = {
  minWidthToWrap: 20,
  formatItem(...item) {
    const [term, termWidth, description, help] = item;
    const columns = help.helpWidth ?? 80;
    if (columns - termWidth >= readable || description === "")
      return Help.prototype.formatItem.apply(help, item);
    const margin = `\n${" ".repeat(indent)}`;
    return `  ${term}${margin}${help.boxWrap(description, columns - indent).replaceAll("\n", margin)}`;
  },
};

/** Lines below the options, as wide as the terminal. */
export function helpBelow(text: string): string {
  const columns = process.stdout.columns || Infinity; // undefined if it is not a terminal
  const lines = text.split("\n").map((line) => wrapped(line, columns, 2));
  return lines.join("\n");
}

/** Has each command name its own help in errors about unknown words. */
export function namingHelp(command: Command, words: string = command.name()): Command {
  for (const part of command.commands) namingHelp(part, `${words} ${part.name()}`);
  return command.showHelpAfterError(`(${words} --help shows how)`);
}
