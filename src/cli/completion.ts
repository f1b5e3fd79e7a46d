import type { Command } from "commander";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { wordOf } from "./options.ts";
import { processOutput, quoted } from "./output.ts";

const scripts = { bash: bashScript, fish: fishScript, zsh: zshScript };

/** The shells with a completion script. */
const shells = ["bash", "zsh", "fish"] as const;

/** `writ completion <shell>`: prints a script, made from the commands. @throws WritError `option-invalid` */
export async function completion(shell: string, program: Command): Promise<ExitCode> {
  await processOutput.answer(scripts[wordOf("<shell>", shell, shells)](placesOf(program)));
  return exitCodes.answered;
}

/** A word that is possible at a place, with its description. */
interface Completion {
  readonly word: string;
  readonly about: string;
}

/** A command with its place, like `runs list`; the program itself has the empty place. */
interface CommandPlace {
  readonly place: string;
  readonly commands: readonly Completion[];
  readonly options: readonly Completion[];
}

/** All visible commands, with those within them. */
function placesOf(program: Command, place = ""): readonly CommandPlace[] {
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

/** The places of all commands, quoted: words of the line that lead to a command within another. */
function knownPlaces(places: readonly CommandPlace[]): readonly string[] {
  return places.filter(({ place }) => place !== "").map(({ place }) => quoted(place));
}

/** The script for bash. */
function bashScript(places: readonly CommandPlace[]): string {
  const cases = places.map(
    ({ place, commands, options }) =>
      `    ${quoted(place)}) commands=${quoted(words(commands))}; options=${quoted(words(options))} ;;`,
  );
  return `# Completion of writ for bash. In ~/.bashrc: source <(writ completion bash)
_writ() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="" word next commands="" options=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${place:+$place }$word"
    case "$next" in
      ${knownPlaces(places).join("|")}) place="$next" ;;
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
  COMPREPLY=()
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) [ -z "$commands" ] || COMPREPLY=($(compgen -W "$commands" -- "$current")) ;;
  esac
}
complete -o default -F _writ writ
`;
}

function words(from: readonly Completion[]): string {
  return from.map(({ word }) => word).join(" ");
}

/** The script for zsh. */
function zshScript(places: readonly CommandPlace[]): string {
  const cases = places.map(
    ({ place, commands, options }) =>
      `    ${quoted(place)}) commands=(${described(commands)}); options=(${described(options)}) ;;`,
  );
  return `#compdef writ
# Completion of writ for zsh. In ~/.zshrc, after compinit: source <(writ completion zsh)
_writ() {
  local place="" word next
  local -a commands options
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    next="\${place:+$place }$word"
    case "$next" in
      ${knownPlaces(places).join("|")}) place="$next" ;;
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
  if [[ "$PREFIX" == -* ]]; then
    _describe -o option options
  elif (( \${#commands} )); then
    _describe command commands
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _writ ]]; then _writ "$@"; else compdef _writ writ; fi
`;
}

function described(completions: readonly Completion[]): string {
  return completions
    .map(({ word, about }) => quoted(`${word}:${about.replaceAll(":", String.raw`\:`)}`))
    .join(" ");
}

/** The script for fish. */
function fishScript(places: readonly CommandPlace[]): string {
  return `# Completion of writ for fish: writ completion fish > ~/.config/fish/completions/writ.fish
function __writ_at
  set -l place ""
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$place $word")
    if contains -- "$next" ${knownPlaces(places).join(" ")}
      set place $next
    end
  end
  test "$place" = "$argv[1]"
end
${places.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ place, commands, options }: CommandPlace): readonly string[] {
  const at = `complete -c writ -n ${quoted(`__writ_at ${quoted(place)}`)}`;
  return [
    ...commands.map(({ word, about }) => `${at} -f -a ${quoted(word)} -d ${quoted(about)}`),
    ...options.map(({ word, about }) => `${at} -l ${quoted(word.replace(/^--/, ""))} -d ${quoted(about)}`),
  ];
}
