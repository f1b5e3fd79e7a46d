import { closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { AskAboutRead, ReadAnswers } from "../policy/study/draft.ts";
import { parseJson } from "../util/json.ts";
import { boolean, fits, map, optional, type Shape } from "../util/shape.ts";
import { readText } from "./read-tools.ts";

interface Written {
  readonly stranger?: boolean;
  readonly private?: boolean;
  readonly outside?: boolean;
}

const answersFile: Shape<Readonly<Record<string, Written>>> = map(
  closed({ stranger: optional(boolean), private: optional(boolean), outside: optional(boolean) }),
);

/**
 * Reads the answers to the questions of a draft from a file: `{ "get_rooms": { "stranger": false, "private": false, "outside": false } }`. An answer that is
 * missing for a tool keeps the guess; a tool that the file does not name counts as not asked about.
 *
 * @throws WritError `file-unreadable`, `option-invalid`
 */
export function readAnswers(path: string, names: readonly string[]): AskAboutRead {
  const answers = answersIn(path);
  const stray = Object.keys(answers).find((name) => !names.includes(name));
  if (stray !== undefined) throw invalid(path, `There is no tool ${JSON.stringify(stray)}.`);
  return ({ name }, guess) => {
    const said = Object.hasOwn(answers, name) ? answers[name] : undefined;
    return Promise.resolve(said && answered(said, guess));
  };
}

function answered(said: Written, guess: ReadAnswers): ReadAnswers {
  const {
    stranger = guess.isStrangers,
    private: isPrivate = guess.isPrivate,
    outside = guess.goesOut,
  } = said;
  return { isStrangers: stranger, isPrivate, goesOut: outside };
}

function answersIn(path: string): Readonly<Record<string, Written>> {
  const parsed = parseJson(readText(path));
  if (!parsed.ok) throw invalid(path, `It cannot be read as JSON: ${parsed.reason}.`);
  if (fits(answersFile, parsed.value)) return parsed.value;
  const { path: at = "", reason = "it is wrong" } = answersFile.misfit(parsed.value) ?? {};
  throw invalid(path, `${at === "" ? "The file" : at} ${reason}.`);
}

function invalid(path: string, advice: string): WritError {
  return new WritError("option-invalid", { option: "--answers", value: path, advice });
}
