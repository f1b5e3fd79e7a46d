import { type Share, type WayScore } from "./score.ts";

const header = [
  "driver",
  "grammar",
  "valid",
  "right",
  "restraint",
  "score",
  "tokens in / out",
  "evaluated",
  "a turn: first, later",
  "time",
];

const grammar = { on: "yes", off: "no", never: "-" } as const;

/** The scores as a table: its header, and a row for each. */
export function tableRows(scores: readonly WayScore[]): readonly (readonly string[])[] {
  return [header, ...scores.map(cells)];
}

function cells(score: WayScore): readonly string[] {
  const { driver, held, valid, cut, right, restraint, inputTokens, outputTokens, evaluated } = score;
  const about = score.estimated === true ? "~" : "";
  return [
    driver,
    grammar[held],
    `${validText(valid)}${cut === 0 ? "" : ` (${cut} cut)`}`,
    shareText(right),
    shareText(restraint),
    score.score.toFixed(2),
    `${about}${inputTokens} / ${about}${outputTokens}`,
    evaluated === undefined ? "-" : String(evaluated.tokens),
    evaluated === undefined ? "-" : turnsText(evaluated),
    `${(score.durationMs / 1000).toFixed(1)} s`,
  ];
}

/** The share as a percentage, rounded down, so that only all replies make 100 %. Divides last: 29 of 100 as a number is slightly less than 0.29. */
function validText(valid: Share): string {
  return valid.of === 0 ? "-" : `${Math.floor((valid.count * 100) / valid.of)} % of ${valid.of}`;
}

function shareText({ count, of }: Share): string {
  return of === 0 ? "-" : `${count}/${of}`;
}

function turnsText({ first, later }: NonNullable<WayScore["evaluated"]>): string {
  const firstText = `${first.evaluated} of ${first.prompt}`;
  return later === undefined ? firstText : `${firstText}, ${later.evaluated} of ${later.prompt}`;
}
