import { quoted } from "../output.ts";
import type { CommandPlace, Completion } from "./places.ts";

/** The script for bash. */
export function bashScript(places: readonly CommandPlace[]): string {
  const known = places.filter(({ place }) => place !== "").map(({ place }) => quoted(place));
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
      ${known.join("|")}) place="$next" ;;
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
