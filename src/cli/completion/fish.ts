import { quoted } from "../output.ts";
import type { CommandPlace } from "./places.ts";

/** The script for fish. */
export function fishScript(places: readonly CommandPlace[]): string {
  const known = places.filter(({ place }) => place !== "").map(({ place }) => quoted(place));
  return `# Completion of writ for fish: writ completion fish > ~/.config/fish/completions/writ.fish
function __writ_at
  set -l place ""
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$place $word")
    if contains -- "$next" ${known.join(" ")}
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
