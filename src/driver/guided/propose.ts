import type { Tool } from "../../tool/tool.ts";
import { shapeOf } from "../reply-shape.ts";
import { chooseTool, type Asking } from "./ask-model.ts";
import { type Rated, rated } from "./choose-tool.ts";
import { fill, type Filling, lacksValues } from "./fill.ts";
import { itemType } from "./fit.ts";
import type { MadeCall, Scene } from "./scene.ts";
import type { Word } from "./words.ts";

/** A tool that may be called next, with the values for it. */
export interface Proposal extends Rated {
  readonly filling: Filling;
}

/** The weight that must speak for a call. This number and the next two were chosen as the weight of a name was. */
const threshold = 1.1;
/** Numbers that a call requires and that were said speak for it; texts that are any words of the request speak against it. */
const numbersSaid = 0.3;
const textsVague = 0.6;
/** A request of which no tool and no value knows a word speaks so much against a call. */
const nothingHeard = 1;
/** Scores that differ by less are as good as each other: what is said first is done first. */
const alike = 0.75;

/** The tool to call next with what was said; undefined where nothing fits. */
export async function propose(asking: Asking, cover: boolean): Promise<Proposal | undefined> {
  const { turn, scene } = asking;
  const { tools, mayAnswer } = shapeOf(turn);
  if (tools.length === 0 || (scene.made.length > 0 && !cover)) return undefined;
  const fillings = new Map(tools.map((tool) => [tool, fillFrom(tool, scene)]));
  const all = rated(tools, scene.said, scene.open).map((each): Proposal => ({
    ...each,
    filling: fillingOf(each.tool, fillings, scene),
  }));
  const able = all.filter(({ filling }) => !lacksValues(filling) && bringsNews(filling, scene));
  if (!mayAnswer) return best(able) ?? best(all);
  const heard = new Set(rated(tools, scene.said).flatMap(({ words }) => words));
  const fitting = able.filter(({ score, filling }) => {
    const unheard = nothingHeard * shareUnheard(filling, scene, heard);
    return score + valuesSay(filling) - unheard >= threshold;
  });
  if (fitting.length > 0) return best(fitting);
  const isUnknown =
    scene.said.language === undefined && scene.said.words.length > 0 && scene.made.length === 0;
  if (!isUnknown) return undefined;
  const chosen = await chooseTool(
    asking,
    able.map(({ tool }) => tool),
    mayAnswer,
  );
  return able.find(({ tool }) => tool === chosen);
}

/** The weight that the values of a call add, beside the words of the tool. */
function valuesSay({ filled }: Filling): number {
  const required = filled.filter(({ slot, from }) => slot.isRequired && from.length > 0);
  const texts = required.filter(({ slot }) => itemType(slot) === "string");
  const hasNumbers = required.length > texts.length;
  const vague = texts.filter(({ isVague }) => isVague === true).length;
  return (hasNumbers ? numbersSaid : 0) - (texts.length === 0 ? 0 : (textsVague * vague) / texts.length);
}

const asks = ({ isStop, isCapital, isFirst, plain }: Word): boolean =>
  !isStop && (!isCapital || isFirst) && /^\p{L}/u.test(plain);

/**
 * The share of the request's words that no tool knows and no sure value of the call or of an earlier one holds, from 0 to 1: of "the area of a triangle" a tool for
 * circles does not know the triangle. Names do not count: they are values more often than wishes.
 */
function shareUnheard({ filled }: Filling, { said, open }: Scene, heard: ReadonlySet<Word>): number {
  const sure = filled.flatMap(({ isVague, from }) => (isVague === true ? [] : from));
  const isValue = (word: Word): boolean =>
    sure.some(({ source, start, end }) => source === 0 && start < word.end && word.start < end);
  const unheard = open.filter((word) => asks(word) && !heard.has(word) && !isValue(word));
  return unheard.length / Math.max(1, said.words.filter(asks).length);
}

function fillingOf(tool: Tool, fillings: ReadonlyMap<Tool, Filling>, scene: Scene): Filling {
  return fillings.get(tool) ?? fillFrom(tool, scene);
}

/** The values of the request come first; what lacks then is taken from results, in front of the others. */
function fillFrom(tool: Tool, { said, fromRequest, fromResults }: Scene): Filling {
  const filling = fill(tool, said, fromRequest);
  return filling.missing.length === 0 || fromResults.length === 0
    ? filling
    : fill(tool, said, [...fromResults, ...fromRequest]);
}

/** A further call needs a value that no call had, or a tool that was not called yet. */
function bringsNews({ tool, filled }: Filling, { made }: Scene): boolean {
  if (made.length === 0) return true;
  const isCalled = made.some((each: MadeCall) => each.tool === tool);
  return filled.some(({ from }) => from.length > 0) || !isCalled;
}

/** Of tools that are as good, the one whose own word is said first; what stands in brackets is said before all else. */
function best(proposals: readonly Proposal[]): Proposal | undefined {
  const most = Math.max(0, ...proposals.map(({ score }) => score));
  const good = proposals.filter(({ score }) => score >= alike * most);
  const place = (proposal: Proposal): readonly [number, number] => {
    const others = new Set(good.filter((other) => other !== proposal).flatMap(({ words }) => words));
    const own = proposal.words.filter((word) => !others.has(word));
    const deepest = Math.max(0, ...own.map(({ depth }) => depth));
    const first = own.find(({ depth }) => depth === deepest);
    return [-deepest, first?.start ?? Infinity];
  };
  const sorted = good
    .map((proposal) => ({ proposal, at: place(proposal) }))
    .toSorted(
      (one, other) =>
        one.at[0] - other.at[0] ||
        compared(one.at[1], other.at[1]) ||
        other.proposal.score - one.proposal.score,
    );
  return sorted[0]?.proposal;
}

function compared(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
