import type { JsonSchema } from "../../schema/schema.ts";
import type { Parameter, Parameters, ValueSource } from "../../tool/parameters.ts";
import { actsOfTool } from "../values/acts.ts";
import type { Annotation, PolicyJson, Rule } from "../rules/rule.ts";
import { verbOfName, wordsOf } from "../values/verbs.ts";
import { draftEffect } from "./draft-effects.ts";
import { draftException } from "./draft-exceptions.ts";
import { draftParameters, type DraftedParameter } from "./draft-parameters.ts";
import { draftSources, type Look } from "./draft-sources.ts";

/** A tool as a draft sees it: only what its author declares. */
export interface DraftedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** The author's own declarations, which a draft does not repeat. */
  readonly said?: Pick<Annotation, "effect" | "trusted" | "parameters">;
}

/** The answers of a person who knows a tool that only looks. */
export interface ReadAnswers {
  /** True if a stranger can write some part of its results. */
  readonly isStrangers: boolean;
  /** True if not everybody whom a call reaches may know its result. */
  readonly isPrivate: boolean;
  /** True if its arguments leave the author's own systems. */
  readonly goesOut: boolean;
}

/** A line of a draft, and the reason for it. */
export interface DraftLine {
  readonly tool: string;
  readonly says: string;
  readonly because: string;
}

/** A policy to start from, with a reason for each line. */
export interface PolicyDraft {
  readonly policy: PolicyJson;
  readonly lines: readonly DraftLine[];
}

/** Asks a person about a tool that only looks; undefined if nobody answers. */
export type AskAboutRead = (tool: DraftedTool, guess: ReadAnswers) => Promise<ReadAnswers | undefined>;

/**
 * Drafts a policy from the names and descriptions of tools: effects from verbs, roles and types from names and schemas. Unanswered points stay
 * open, and an open point asks more than necessary, never less: no result is trusted here without an answer.
 */
export async function draftPolicy(
  name: string,
  tools: readonly DraftedTool[],
  ask: AskAboutRead = () => Promise.resolve(undefined),
): Promise<PolicyDraft> {
  const drafted: DraftedAlone[] = [];
  for (const tool of tools) drafted.push(await draftTool(tool, ask));
  const looks = drafted.flatMap(({ look, maker }) => look ?? maker ?? []);
  const finished = drafted.map((each) => {
    const placed = each.parameters.map(withSources(each, looks));
    const isRedundant = ({ role, from }: Placed): boolean =>
      each.look !== undefined && role === "target" && from === undefined;
    const left = placed.filter((parameter) => !isRedundant(parameter));
    return { ...each, parameters: each.look === undefined ? left : left.map(atHome) };
  });
  const annotations = finished.map(({ tool, annotation, parameters }): readonly [string, Annotation] => [
    tool.name,
    { ...annotation, ...withParameters(parameters) },
  ]);
  const said = annotations.filter(([, annotation]) => Object.keys(annotation).length > 0);
  const exceptions = finished.flatMap((each) => draftException(each) ?? []);
  const lines = finished.flatMap(({ tool, lines: own, parameters }) => {
    const softened = exceptions.filter(({ tools: [named] }) => named === tool.name).map(exceptionLine);
    return [...own, ...parameters.map(parameterLine), ...softened].map((line) => ({
      tool: tool.name,
      ...line,
    }));
  });
  const annotated = { name, rules: "guarded" as const, tools: Object.fromEntries(said) };
  return { policy: exceptions.length === 0 ? annotated : { ...annotated, exceptions }, lines };
}

/** A parameter with the places that its values may come from. */
interface Placed extends DraftedParameter {
  readonly from?: readonly ValueSource[];
}

/** The parameter of a lookup in the author's own systems, which reveals its arguments to nobody: a value says which record, not whom it reaches. */
function atHome(parameter: Placed): Placed {
  return parameter.role === "target" ? { ...parameter, role: "id" } : parameter;
}

/** The draft of a single tool. */
interface DraftedAlone {
  readonly tool: DraftedTool;
  readonly annotation: Annotation;
  readonly lines: readonly Omit<DraftLine, "tool">[];
  readonly parameters: readonly DraftedParameter[];
  /** Present if it only looks, in the author's own systems. */
  readonly look?: Look;
  /** Present if it makes something. */
  readonly maker?: Look;
  /** The words for the people whom it also notifies. */
  readonly tells?: readonly string[];
}

async function draftTool(tool: DraftedTool, ask: AskAboutRead): Promise<DraftedAlone> {
  const { effect, because, tells } = effectOf(tool);
  const isDeclared = tool.said?.effect !== undefined;
  const parameters = draftParameters(tool.schema).filter(
    ({ name }) => tool.said?.parameters === undefined || !Object.hasOwn(tool.said.parameters, name),
  );
  if (effect === "read") return draftRead(tool, parameters, { because, isDeclared, ask });
  const says = effect === undefined ? "no effect is declared, so it asks like one" : effect;
  return {
    tool,
    annotation: isDeclared || effect === undefined ? {} : { effect },
    lines: [{ says, because }, ...(effect === "write" && !hasArguments(tool, parameters) ? [unchosen] : [])],
    parameters,
    ...(makesSomething(tool.name) ? { maker: makerOf(tool) } : {}),
    ...(tells === undefined ? {} : { tells }),
  };
}

function makesSomething(name: string): boolean {
  return /^(?:add|create|make|new|register|upload)$/.test(verbOfName(name) ?? "");
}

function makerOf({ name, description }: DraftedTool): Look {
  return { name, description, isTrusted: false, isMaker: true };
}

const unchosen: Omit<DraftLine, "tool"> = {
  says: "asks after a stranger's words, unless the request names it",
  because: "it has no arguments that the user could have chosen",
};

/** True if a tool has arguments. */
function hasArguments({ said }: DraftedTool, parameters: readonly DraftedParameter[]): boolean {
  return parameters.length > 0 || Object.keys(said?.parameters ?? {}).length > 0;
}

function effectOf({ name, description, said }: DraftedTool): ReturnType<typeof draftEffect> {
  if (said?.effect !== undefined) return { effect: said.effect, because: "its author declares it" };
  return draftEffect(name, description);
}

interface Reading {
  readonly because: string;
  readonly isDeclared: boolean;
  readonly ask: AskAboutRead;
}

async function draftRead(
  tool: DraftedTool,
  parameters: readonly DraftedParameter[],
  { because, isDeclared, ask }: Reading,
): Promise<DraftedAlone> {
  const reach = reachOf(tool, parameters);
  const guess: ReadAnswers = { isStrangers: true, isPrivate: true, goesOut: reach !== undefined };
  const answers = await ask(tool, guess);
  const { isStrangers = true, isPrivate = false, goesOut = guess.goesOut } = answers ?? {};
  const said = "you said so";
  const trust =
    answers === undefined
      ? { says: "its results are a stranger's", because: "nobody declared it trusted" }
      : { says: isStrangers ? "its results are a stranger's" : "trusted", because: said };
  const privacy = isPrivate ? [{ says: "private", because: said }] : [];
  const annotation: Annotation = {
    ...(isStrangers ? {} : { trusted: true }),
    ...(isPrivate ? { secrecy: "private" } : {}),
  };
  if (!goesOut)
    return {
      tool,
      annotation: { ...(isDeclared ? {} : { effect: "read" as const }), ...annotation },
      lines: [{ says: "read", because }, trust, ...privacy],
      parameters: parameters.flatMap(ofLook),
      look: { name: tool.name, description: tool.description, isTrusted: !isStrangers },
    };
  const why = answers === undefined ? `it looks outside, since ${reach}` : `it looks outside, since ${said}`;
  return {
    tool,
    annotation: { effect: "read", reaches: "outside", ...annotation },
    lines: [
      { says: "read, outside", because: `${why}: what it is asked for is told there` },
      trust,
      ...privacy,
    ],
    parameters: parameters.map((each) => ({ ...each, role: "target" })),
  };
}

/** The parameters of a lookup that are not judged as they are: filters choose nothing, and ids may come from another lookup. */
function ofLook(parameter: DraftedParameter): readonly DraftedParameter[] {
  const { role, isManner } = parameter;
  if (isManner === true)
    return [
      {
        ...parameter,
        role: "content",
        type: undefined,
        constants: undefined,
        because: "it narrows what is looked at",
      },
    ];
  return role === "id" || role === "target" ? [parameter] : [];
}

function withSources(
  { tool, parameters }: DraftedAlone,
  looks: readonly Look[],
): (parameter: DraftedParameter) => Placed {
  const hasFields = (path: string): boolean => parameters.some(({ name }) => name.startsWith(`${path}.`));
  const mayTake = !actsOfTool(tool.name).has("remove");
  return (parameter) => {
    const sources =
      mayTake && !hasFields(parameter.name) ? draftSources({ tool, parameter }, looks) : undefined;
    if (sources === undefined) return parameter;
    const { from, because } = sources;
    return { ...parameter, from, because: `${parameter.because}; ${because}` };
  };
}

/** The reason to believe that a tool's arguments leave the author's systems. */
function reachOf({ name }: DraftedTool, parameters: readonly DraftedParameter[]): string | undefined {
  const address = parameters.find(({ type }) => type === "url" || type === "host");
  if (address !== undefined) return `${address.name} is an address`;
  const word = wordsOf(name).find((each) =>
    /^(?:web|browse|crawl|internet|online|scrape|visit|webpage|website)$/.test(each),
  );
  return word === undefined ? undefined : `its name says "${word}"`;
}

function withParameters(parameters: readonly Placed[]): { readonly parameters?: Parameters } {
  if (parameters.length === 0) return {};
  const entries = parameters.map(({ name, role, type, constants, from }): readonly [string, Parameter] => [
    name,
    type === undefined && constants === undefined && from === undefined
      ? role
      : {
          role,
          ...(type === undefined ? {} : { type }),
          ...(constants === undefined ? {} : { constants }),
          ...(from === undefined ? {} : { from }),
        },
  ]);
  return { parameters: Object.fromEntries(entries) };
}

function exceptionLine({ because = "" }: Rule): Omit<DraftLine, "tool"> {
  return { says: "allowed where the request names it, nobody is told and the user chose the rest", because };
}

function parameterLine({ name, role, type, constants, from, because }: Placed): Omit<DraftLine, "tool"> {
  const typed = type === undefined ? "" : ` (${type})`;
  const free = constants === undefined ? "" : `, or ${constants.join(", ")}`;
  const places = from === undefined ? "" : `, or from ${from.map(({ tool }) => tool).join(", ")}`;
  return { says: `${name}: ${role}${typed}${free}${places}`, because };
}
