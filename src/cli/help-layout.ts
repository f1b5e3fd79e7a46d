import { type Command, Help } from "commander";
import { wrapped } from "./text-width.ts";

/** The least number of columns beside a term in which a description can be read. */
const readable = 40;
const indent = 6;

/** The layout of help: where a terminal has no room for descriptions beside their terms, they stand below them. */
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

/** Lines below the options, as broad as the terminal. */
export function helpBelow(text: string): string {
  const columns = process.stdout.columns || Infinity; // none where it is no terminal
  const lines = text.split("\n").map((line) => wrapped(line, columns, 2));
  return lines.join("\n");
}

/** Has each command name its own help below words that it does not take. */
export function namingHelp(command: Command, words: string = command.name()): Command {
  for (const part of command.commands) namingHelp(part, `${words} ${part.name()}`);
  return command.showHelpAfterError(`(${words} --help shows how)`);
}
