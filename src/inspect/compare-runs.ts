import { sameJson } from "../util/same-json.ts";
import type { InspectedCall, InspectedRun } from "./view.ts";

/** Two runs side by side, turn by turn. */
export interface ComparedRuns {
  readonly turns: readonly ComparedTurn[];
  /** True if both have the same outcome, with the same text. */
  readonly sameOutcome: boolean;
  /** The number of turns and calls that differ. */
  readonly differences: number;
}

/** The same turn of two runs. */
export interface ComparedTurn {
  readonly number: number;
  /** True if the texts that the model wrote differ. */
  readonly textDiffers: boolean;
  readonly calls: readonly ComparedCall[];
}

/** A call that both runs made, or only one. `differs` names the differences. */
export interface ComparedCall {
  readonly left?: InspectedCall;
  readonly right?: InspectedCall;
  readonly differs: readonly string[];
}

/** Compares two runs. A call is paired with the next call of the other run to the same tool, preferably with the same arguments. */
export function compareRuns(left: InspectedRun, right: InspectedRun): ComparedRuns {
  const count = Math.max(left.turns.length, right.turns.length);
  const turns = Array.from({ length: count }, (_, index): ComparedTurn => {
    const [one, other] = [left.turns[index], right.turns[index]];
    return {
      number: one?.number ?? other?.number ?? index + 1,
      textDiffers: (one?.model?.text ?? "") !== (other?.model?.text ?? ""),
      calls: pairCalls(one?.calls ?? [], other?.calls ?? []),
    };
  });
  const sameOutcome =
    left.outcome?.type === right.outcome?.type && left.outcome?.text === right.outcome?.text;
  return { turns, sameOutcome, differences: turns.reduce((sum, turn) => sum + differencesIn(turn), 0) };
}

const differencesIn = ({ textDiffers, calls }: ComparedTurn): number =>
  (textDiffers ? 1 : 0) + calls.filter(({ differs }) => differs.length > 0).length;

function pairCalls(left: readonly InspectedCall[], right: readonly InspectedCall[]): readonly ComparedCall[] {
  const free = new Set(right);
  const pairs = left.map((call): ComparedCall => {
    const others = [...free].filter(({ tool }) => tool === call.tool);
    const other = others.find(({ proposed }) => sameJson(proposed, call.proposed)) ?? others[0];
    if (other === undefined) return { left: call, differs: ["only in the first"] };
    free.delete(other);
    return { left: call, right: other, differs: differencesOf(call, other) };
  });
  return [...pairs, ...[...free].map((call) => ({ right: call, differs: ["only in the second"] }))];
}

const ruling = ({ decision }: InspectedCall): string => `${decision?.verdict ?? ""} ${decision?.rule ?? ""}`;

function differencesOf(one: InspectedCall, other: InspectedCall): readonly string[] {
  const same = {
    arguments: sameJson(one.judged ?? one.proposed, other.judged ?? other.proposed),
    decision: ruling(one) === ruling(other),
    state: one.state === other.state && one.status === other.status,
    result: one.result?.text === other.result?.text,
  };
  return Object.entries(same).flatMap(([name, isSame]) => (isSame ? [] : [name]));
}
