import type { Command } from "commander";

/** A word that can stand at a place, and what it does. */
export interface Completion {
  readonly word: string;
  readonly about: string;
}

/** A command by its place, like `runs list`; the program itself is at the empty place. */
export interface CommandPlace {
  readonly place: string;
  readonly commands: readonly Completion[];
  readonly options: readonly Completion[];
}

/** All commands that are shown, with those within them. */
export function placesOf(program: Command, place = ""): readonly CommandPlace[] {
  const help = program.createHelp();
  const inside = help.visibleCommands(program).filter((command) => command.name() !== "help");
  const commands = inside.map((command) => ({ word: command.name(), about: command.description() }));
  const options = help
    .visibleOptions(program)
    .flatMap(({ long, description }) =>
      long === undefined || long === null ? [] : [{ word: long, about: description }],
    );
  const deeper = inside.flatMap((command) => placesOf(command, `${place} ${command.name()}`.trim()));
  return [{ place, commands, options }, ...deeper];
}
