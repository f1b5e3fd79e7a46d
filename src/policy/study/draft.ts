import type { JsonSchema } from "../../schema/schema.ts";
import type { Parameter, Parameters } from "../../tool/parameters.ts";
import type { Annotation, PolicyJson } from "../rules/rule.ts";
import { draftEffect, wordsOf } from "./draft-effects.ts";
import { draftParameters, type DraftedParameter } from "./draft-parameters.ts";

/** A tool as a draft looks at it: what its author says of it, and no more. */
export interface DraftedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** The words of its author, which a draft does not repeat. */
  readonly said?: Pick<Annotation, "effect" | "trusted" | "parameters">;
}

/** The answers of somebody who knows a tool that only looks. */
export interface ReadAnswers {
  /** A stranger can write some part of what it gives. */
  readonly isStrangers: boolean;
  /** Its result may not be known to everybody whom a call reaches. */
  readonly isPrivate: boolean;
  /** Its arguments leave the author's own systems. */
  readonly goesOut: boolean;
}

/** A line of a draft, and the reason for it. */
export interface DraftLine {
  readonly tool: string;
  readonly says: string;
  readonly because: string;
}

/** A policy to go on from, with a reason for each line. */
export interface PolicyDraft {
  readonly policy: PolicyJson;
  readonly lines: readonly DraftLine[];
}

/** Asks about a tool that only looks; undefined where nobody is there to answer. */
export type AskAboutRead = (tool: DraftedTool, guess: ReadAnswers) => Promise<ReadAnswers | undefined>;

/**
 * Drafts a policy of what tools are called and how they are described: effects from verbs, roles and types from names and schemas. What nobody says stays
 * open, and an open point asks more than it must, never less: no result is trusted here without an answer.
 */
export async function draftPolicy(
  name: string,
  tools: readonly DraftedTool[],
  ask: AskAboutRead = () => Promise.resolve(undefined),
): Promise<PolicyDraft> {
  const lines: DraftLine[] = [];
  const annotations: [string, Annotation][] = [];
  for (const tool of tools) {
    const drafted = await draftTool(tool, ask);
    annotations.push([tool.name, drafted.annotation]);
    lines.push(...drafted.lines.map((line) => ({ tool: tool.name, ...line })));
  }
  const said = annotations.filter(([, annotation]) => Object.keys(annotation).length > 0);
  return { policy: { name, rules: "guarded", tools: Object.fromEntries(said) }, lines };
}

interface DraftedAnnotation {
  readonly annotation: Annotation;
  readonly lines: readonly Omit<DraftLine, "tool">[];
}

async function draftTool(tool: DraftedTool, ask: AskAboutRead): Promise<DraftedAnnotation> {
  const { effect, because } = effectOf(tool);
  const isDeclared = tool.said?.effect !== undefined;
  const parameters = draftParameters(tool.schema).filter(
    ({ name }) => tool.said?.parameters === undefined || !Object.hasOwn(tool.said.parameters, name),
  );
  if (effect === "read") return draftRead(tool, parameters, { because, isDeclared, ask });
  const own = isDeclared || effect === undefined ? {} : { effect };
  return {
    annotation: { ...own, ...withParameters(parameters) },
    lines: [
      { says: effect === undefined ? "no effect is declared, so it asks like one" : effect, because },
      ...parameters.map(parameterLine),
    ],
  };
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
): Promise<DraftedAnnotation> {
  const reach = reachOf(tool, parameters);
  const guess: ReadAnswers = { isStrangers: true, isPrivate: true, goesOut: reach !== undefined };
  const answers = await ask(tool, guess);
  const { isStrangers = true, isPrivate = false, goesOut = guess.goesOut } = answers ?? {};
  const said = "you said so";
  const trust =
    answers === undefined
      ? { says: "its results are a stranger's", because: "nobody said otherwise" }
      : { says: isStrangers ? "its results are a stranger's" : "trusted", because: said };
  const privacy = isPrivate ? [{ says: "private", because: said }] : [];
  const annotation: Annotation = {
    ...(isStrangers ? {} : { trusted: true }),
    ...(isPrivate ? { secrecy: "private" } : {}),
  };
  if (!goesOut) {
    const own = isDeclared ? {} : { effect: "read" as const };
    return { annotation: { ...own, ...annotation }, lines: [{ says: "read", because }, trust, ...privacy] };
  }
  const targets = parameters.map(({ name, type, because: why }) => {
    const out =
      type === undefined ? { name, role: "target" as const } : { name, role: "target" as const, type };
    return { ...out, because: why };
  });
  const why = answers === undefined ? `it looks outside, since ${reach}` : `it looks outside, since ${said}`;
  return {
    annotation: { effect: "read", reaches: "outside", ...annotation, ...withParameters(targets) },
    lines: [
      { says: "read, outside", because: `${why}: what it is asked for is told there` },
      trust,
      ...privacy,
      ...targets.map(parameterLine),
    ],
  };
}

/** The reason to think that what a tool is asked for leaves the author's systems. */
function reachOf({ name }: DraftedTool, parameters: readonly DraftedParameter[]): string | undefined {
  const address = parameters.find(({ type }) => type === "url" || type === "host");
  if (address !== undefined) return `${address.name} is an address`;
  const word = wordsOf(name).find((each) =>
    /^(?:web|browse|crawl|internet|online|scrape|visit|webpage|website)$/.test(each),
  );
  return word === undefined ? undefined : `its name says "${word}"`;
}

function withParameters(parameters: readonly DraftedParameter[]): { readonly parameters?: Parameters } {
  if (parameters.length === 0) return {};
  const entries = parameters.map(({ name, role, type }): readonly [string, Parameter] => [
    name,
    type === undefined ? role : { role, type },
  ]);
  return { parameters: Object.fromEntries(entries) };
}

function parameterLine({ name, role, type, because }: DraftedParameter): Omit<DraftLine, "tool"> {
  return { says: `${name}: ${role}${type === undefined ? "" : ` (${type})`}`, because };
}
