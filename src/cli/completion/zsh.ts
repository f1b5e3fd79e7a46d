import { quoted } from "../output.ts";
import type { CommandPlace, Completion } from "./places.ts";

/** The script for zsh. */
export function zshScript(places: readonly CommandPlace[]): string {
  const known = places.filter(({ place }) => place !== "").map(({ place }) => quoted(place));
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
      ${known.join("|")}) place="$next" ;;
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
