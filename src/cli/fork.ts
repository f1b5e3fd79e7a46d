import { durableRuns } from "../adapters/durable-runs.ts";
import { WritError } from "../error/writ-error.ts";
import { type Json, parseJson } from "../util/json.ts";
import { type ExitCode } from "./exit-code.ts";
import { countOf, listOf } from "./options.ts";
import { knownStore, type StoreFlags } from "./run-store.ts";
import { tellRun } from "./runs.ts";

/** The options of `writ runs fork`. */
export interface ForkFlags extends StoreFlags {
  readonly beforeTurn: string;
  readonly as?: string;
  readonly agent?: string;
  readonly instructions?: string;
  readonly model?: string;
  readonly again?: string;
  readonly result?: readonly string[];
}

/** `writ runs fork <id>`. */
export async function forkRun(id: string, flags: ForkFlags): Promise<ExitCode> {
  const { beforeTurn, as, agent, instructions, model, again, result = [] } = flags;
  const results = Object.fromEntries(result.map(readResult));
  await using store = await knownStore(flags);
  const run = await durableRuns({ store }).fork(id, {
    beforeTurn: countOf("--before-turn", beforeTurn),
    results,
    ...(as === undefined ? {} : { id: as }),
    ...(agent === undefined ? {} : { agent: { name: agent } }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
    ...(again === undefined ? {} : { again: listOf(again) }),
  });
  return tellRun(run, flags);
}

/** @throws WritError `option-invalid` */
function readResult(text: string): readonly [key: string, value: Json] {
  const place = text.indexOf("=");
  const value = parseJson(text.slice(place + 1));
  if (place > 0 && value.ok) return [text.slice(0, place), value.value];
  const advice = `Give the key of a call and JSON: turn/2/call/0='"no"'.`;
  throw new WritError("option-invalid", { option: "--result", value: text, advice });
}
