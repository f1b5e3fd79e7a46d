import { assertNever } from "../../util/assert-never.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import type { Sight } from "../../policy/rules/condition/sight.ts";
import { violation } from "../../policy/account/constraints.ts";
import { type Label, trustedLabel } from "../../message/label.ts";
import type { Tool } from "../../tool/tool.ts";
import { countedIn, judgedPaths, strangersFor } from "./places.ts";
import { type Place, placesOf } from "./schema-places.ts";
import { possible, sightIn } from "./possible.ts";
import type {
  AboutTools,
  ApartSentence,
  AtMostSentence,
  GivenSentence,
  NeverSentence,
  Sentence,
} from "./sentence.ts";
import { countsFor, type State, statesOf, usesOf } from "./states.ts";
import type { Possible, ProvenAgent, Way } from "./subject.ts";

/** A call that may break a sentence: of this tool, and with this value there. */
export interface SuspectCall {
  readonly tool: Tool;
  readonly at?: { readonly place: Place; readonly value: Json };
}

/** Calls that together may break a sentence, in a state that some run reaches. */
export interface Suspect {
  readonly way: Way;
  readonly state: State;
  readonly calls: readonly SuspectCall[];
  /** The author's code that decides whether they do. */
  readonly opaque?: string;
}

/** A sentence about calls. The agent's declarations decide all others. */
export type CallSentence = GivenSentence | ApartSentence | NeverSentence | AtMostSentence;

/** True for a sentence about calls. */
export function isAboutCalls(sentence: Sentence): sentence is CallSentence {
  return sentence.type !== "bound" && sentence.type !== "powers";
}

/** Everything that may break the sentence. If there is nothing, no run breaks it. */
export function suspectsOf(sentence: CallSentence, subject: ProvenAgent): readonly Suspect[] {
  const states = (way: Way): readonly State[] => {
    const sources = sourcesOf(sentence);
    return statesOf(way, subject, new Set(sources)).filter(({ hasRead }) => hasRead || sources.length === 0);
  };
  switch (sentence.type) {
    case "given":
    case "apart":
      return subject.ways.flatMap((way) => values(sentence, way, states(way)));
    case "never":
      return subject.ways
        .filter(({ skills }) => sentence.skills?.some((name) => skills.includes(name)) !== false)
        .flatMap((way) => never(sentence, way, states(way)));
    case "at-most":
      return tooOften(sentence, subject, states);
    default:
      return assertNever(sentence);
  }
}

/** The tools after whose results the sentence counts. Empty: from the beginning. */
export function sourcesOf(sentence: CallSentence): readonly string[] {
  if (sentence.type === "apart") return sentence.from;
  return sentence.type === "at-most" ? [] : (sentence.after ?? []);
}

/** True for the tools that a sentence is about. */
export function isMeant(
  { tools, effects }: AboutTools,
  { name, effect }: Pick<Tool, "name" | "effect">,
): boolean {
  if (tools !== undefined) return tools.includes(name);
  return effects === undefined || effect === "undeclared" || effects.includes(effect);
}

function meantIn(sentence: AboutTools, { tools }: Way): readonly Tool[] {
  return [...tools.values()].filter((tool) => isMeant(sentence, tool));
}

function values(
  sentence: GivenSentence | ApartSentence,
  way: Way,
  states: readonly State[],
): readonly Suspect[] {
  return meantIn(sentence, way).flatMap((tool) =>
    countedPlaces(sentence, way, tool).flatMap((place) => {
      const hosts = sentence.type === "given" ? (sentence.hosts ?? []) : [];
      const see = (args: JsonObject): Sight => sightIn(way, tool, { label: trustedLabel, calls: 0, args });
      const strangers = strangersFor({ policy: way.policy, tool: tool.name, hosts }, place);
      return strangers
        .filter((value) => !isDefaultAt(place, value, see))
        .flatMap((value) =>
          free({ way, tool, states, args: place.with(value) }).map(({ state, opaque }) => ({
            way,
            state,
            calls: [{ tool, at: { place, value } }],
            opaque,
          })),
        );
    }),
  );
}

/** True for a value that is the default of the author's schema at its place. */
function isDefaultAt(place: Place, value: Json, see: (args: JsonObject) => Sight): boolean {
  return (
    see(place.with(value))
      .leaves()
      ?.some((leaf) => leaf.isDefault === true) === true
  );
}

/** The places of a tool that a sentence counts. */
export function countedPlaces(
  sentence: GivenSentence | ApartSentence,
  way: Way,
  tool: Tool,
): readonly Place[] {
  const asked = sentence.type === "given" ? (sentence.arguments ?? []) : [];
  const places = placesOf(tool, [...asked, ...judgedPaths(way.policy, tool.name)]);
  if (sentence.type === "apart") return places;
  const isCounted = countedIn(sentence.arguments);
  return places.filter((place) => {
    // values that were read may be secret: then it matters whom a look-up asks
    const label: Label = { integrity: "untrusted", secrecy: "private", sources: [] };
    return (sightIn(way, tool, { label, calls: 0, args: place.with("a value") }).leaves() ?? []).some(
      isCounted,
    );
  });
}

interface Asking {
  readonly way: Way;
  readonly tool: Tool;
  readonly states: readonly State[];
  readonly args?: ReturnType<Place["with"]>;
}

interface Found {
  readonly state: State;
  readonly opaque?: string;
}

/** The states in which the tool may run without a person. */
function free({ way, tool, states, args }: Asking): readonly Found[] {
  return states.flatMap((state): readonly Found[] => {
    const counts = countsFor(way, tool).filter((calls) => mayCount(state, tool, calls));
    const found = counts.map((calls) =>
      possible(way, tool, { label: state.label, calls, ...(args === undefined ? {} : { args }) }),
    );
    return found.flatMap((each) => freely(each, state, way)).slice(0, 1);
  });
}

function freely(
  { free: isFree, runs, opaque }: Possible,
  state: State,
  { preapproves }: Way,
): readonly Found[] {
  if (isFree) return [opaque === undefined ? { state } : { state, opaque }];
  const mayBe = runs && preapproves !== undefined && state.label.integrity === "trusted";
  return mayBe ? [{ state, opaque: `${preapproves} may have calls run without the question` }] : [];
}

function mayCount(state: State, tool: Tool, calls: number): boolean {
  return violation(tool, { name: tool.name, uses: usesOf(state, tool.name, calls) }) === undefined;
}

function never(sentence: NeverSentence, way: Way, states: readonly State[]): readonly Suspect[] {
  return meantIn(sentence, way).flatMap((tool) => {
    const calls = [{ tool }];
    if (sentence.without === "person")
      return free({ way, tool, states }).map((found) => ({ way, calls, ...found }));
    return states.flatMap((state): readonly Suspect[] => {
      const found = countsFor(way, tool)
        .filter((count) => mayCount(state, tool, count))
        .map((count) => possible(way, tool, { label: state.label, calls: count }))
        .find(({ runs }) => runs);
      if (found === undefined) return [];
      return [{ way, state, calls, ...(found.opaque === undefined ? {} : { opaque: found.opaque }) }];
    });
  });
}

/** The most calls that are counted one by one. */
const mostCounted = 1000;

function tooOften(
  { times, without, ...about }: AtMostSentence,
  subject: ProvenAgent,
  statesIn: (way: Way) => readonly State[],
): readonly Suspect[] {
  const { limits, mayExtend } = subject;
  if (!mayExtend && limits.toolCalls <= times) return [];
  const counts = subject.ways.flatMap((way) => {
    const states = statesIn(way);
    return meantIn(about, way).map((tool) => ({
      way,
      tool,
      ...mostRuns({ way, tool, states }, without, times + 1),
    }));
  });
  const inside = counts
    .filter(({ way }) => way.isInside)
    .reduce((sum, { most }) => sum + (most > 0 ? Infinity : 0), 0);
  return subject.ways
    .filter(({ isInside }) => !isInside)
    .flatMap((way): readonly Suspect[] => {
      const own = counts.filter((each) => each.way === way && each.most > 0);
      const sum = own.reduce((total, { most }) => total + most, 0);
      if (sum + inside <= times) return [];
      const calls = own.flatMap(({ tool, most }) =>
        Array.from({ length: Math.min(most, times + 1) }, () => ({ tool })),
      );
      const opaque =
        own.flatMap((each) => each.opaque ?? [])[0] ??
        (sum <= times ? "agents inside may call it" : undefined);
      const state = own.map((each) => each.state).find((each) => each !== undefined) ?? beginning(way);
      return [{ way, state, calls: calls.slice(0, times + 1), ...(opaque === undefined ? {} : { opaque }) }];
    });
}

function beginning({ described }: Way): State {
  return { label: described, hasRead: false, done: new Set(), path: [] };
}

interface Most {
  readonly most: number;
  readonly state?: State;
  readonly opaque?: string;
}

/** The most calls of a tool that may run in a run, up to `enough`. Calls that a person agreed to lead to later states too. */
function mostRuns({ way, tool, states }: Asking, without: "person" | undefined, enough: number): Most {
  const last = Math.max(...countsFor(way, tool), tool.constraints?.maxCalls ?? 0);
  let most = 0;
  let first: Found | undefined;
  for (let calls = 0; calls < mostCounted + enough && most < enough; calls += 1) {
    const open = states.filter((state) => mayCount(state, tool, calls));
    const said = open.map((state) => ({ state, said: possible(way, tool, { label: state.label, calls }) }));
    if (!said.some((each) => each.said.runs)) break;
    const found = said.flatMap(({ state, said: each }) => {
      if (without === "person") return freely(each, state, way);
      return each.runs ? [each.opaque === undefined ? { state } : { state, opaque: each.opaque }] : [];
    });
    if (found.length === 0 && calls >= last) break; // later counts change nothing
    if (found.length === 0) continue;
    first ??= found.find(({ state }) => state.path !== undefined) ?? found[0];
    most += 1;
  }
  return { most, ...first };
}
