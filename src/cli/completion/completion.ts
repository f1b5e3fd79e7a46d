import type { Command } from "commander";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { wordOf } from "../options.ts";
import { processOutput } from "../output.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { placesOf } from "./places.ts";
import { zshScript } from "./zsh.ts";

const scripts = { bash: bashScript, fish: fishScript, zsh: zshScript };

/** The shells that there is a script for. */
export const shells = ["bash", "zsh", "fish"] as const;

/** `writ completion <shell>`: prints a script, made of the commands that there are. @throws WritError `option-invalid` */
export async function completion(shell: string, program: Command): Promise<ExitCode> {
  await processOutput.answer(scripts[wordOf("<shell>", shell, shells)](placesOf(program)));
  return exitCodes.answered;
}
