import { joinLabels, type Label, trustedLabel } from "../../message/label.ts";
import {
  labelOf,
  callsOf,
  isAsked,
  isOfClient,
  type Message,
  type ResultMessage,
  textOf,
  type ToolCall,
} from "../../message/message.ts";
import { propertyNames } from "../../schema/property-names.ts";
import { withoutDefaults, type WithDefaults } from "../../tool/default-values.ts";
import type { Parameters, ParameterWords, ValueSource, ValueType } from "../../tool/parameters.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";
import type { AllowList } from "../allow-list.ts";
import type { ToolUse } from "../account/constraints.ts";
import type { RunKnowledge } from "../decision.ts";
import type { Intent } from "./intent.ts";
import { isOfNamed, LookUp } from "./look-ups.ts";
import { writtenOut } from "./written-out.ts";
import type { PlanAtCall } from "./plan.ts";
import { describedLabel } from "./result-label.ts";
import { actsIn, actsOfTool, namesAct, speaksOf, wordsSaid } from "../values/acts.ts";
import { type BoundValues, spelledAs, spelledWhole, valuesIn } from "../values/bound-values.ts";
import { linksIn } from "../values/links.ts";

/** A trusted text; a bound one holds choices of the user. It is written out and read on first use. */
class Trusted {
  readonly isBound: boolean;
  private readonly source: string | ResultMessage;
  private boundValues: BoundValues | undefined;
  private knownActs: ReturnType<typeof actsIn> | undefined;
  private knownWords: ReadonlySet<string> | undefined;
  private knownLinks: ReadonlySet<string> | undefined;

  constructor(source: string | ResultMessage, isBound: boolean) {
    this.source = source;
    this.isBound = isBound;
  }

  get text(): string {
    const { source } = this;
    return typeof source === "string" ? source : (writtenOut(source.value) ?? source.text);
  }

  get values(): BoundValues {
    return (this.boundValues ??= valuesIn([this.text]));
  }

  get isLookedUp(): boolean {
    return typeof this.source !== "string";
  }

  /** The kinds of acts that the user's own words name; empty for a looked-up text. */
  get acts(): ReturnType<typeof actsIn> {
    return (this.knownActs ??= actsIn(this.isBound && !this.isLookedUp ? this.text : ""));
  }

  /** The words of the user, with and without inflection. */
  get words(): ReadonlySet<string> {
    return (this.knownWords ??= wordsSaid(this.isBound && !this.isLookedUp ? this.text : ""));
  }

  get links(): ReadonlySet<string> {
    return (this.knownLinks ??= new Set(linksIn(this.text)));
  }
}

/**
 * The knowledge that a run has gained from the messages so far: how far they can be trusted, and the
 * trusted texts in them. The states of a run share one list that only grows, so that a turn costs only what it
 * adds.
 */
export interface Learned {
  readonly label: Label;
  readonly texts: Trusted[];
  readonly length: number;
  /** The last result from which parameters may take values. */
  readonly lookedUp?: LookUp | undefined;
}

/**
 * The knowledge before the first message: the intent, the values that the author vouches for, and the
 * descriptions of the tools, which a model reads first. `label` is the label of what was read
 * around the run.
 */
export function learnIntent(
  { text, constants }: Intent,
  listed: Pick<AllowList, "tools">,
  label: Label = trustedLabel,
): Learned {
  const texts = [new Trusted(text, true)];
  for (const each of constants) texts.push(new Trusted(each, true));
  const described = describedIn(listed);
  const seen = label === trustedLabel ? described : joinLabels(label, described);
  return { label: seen, texts, length: texts.length };
}

/** The joined label of the descriptions of all tools of a list. Depends on: the tools. */
const describedIn = remembered(({ tools }: Pick<AllowList, "tools">) =>
  [...tools.values()].reduce((sum, tool) => joinLabels(sum, describedLabel(tool)), trustedLabel),
);

/** The knowledge after something with this label was read. */
export function joinLearned(learned: Learned, label: Label): Learned {
  if (label === trustedLabel) return learned;
  const joined = joinLabels(learned.label, label);
  return joined === learned.label ? learned : { ...learned, label: joined };
}

/**
 * The knowledge after these messages, which follow all others. `allowed` says which tools look up choices of
 * the user.
 */
export function learn(before: Learned, messages: readonly Message[], allowed: AllowList): Learned {
  const calls = mayResolve(allowed) || sourcesIn(allowed).size > 0 ? new Map<string, ToolCall>() : undefined;
  let learned = before;
  for (const message of messages) {
    if (calls !== undefined && message.role === "assistant")
      for (const call of callsOf(message)) calls.set(call.id, call);
    learned = learnFrom(learned, message, { calls, allowed });
  }
  return learned;
}

/**
 * True if any of the tools looks up choices of the user: otherwise calls need not be remembered. Depends on: the
 * tools.
 */
const mayResolve = remembered(({ tools }: AllowList) =>
  [...tools.values()].some(({ resolves }) => resolves === true),
);

/** The tools from whose results parameters may take values. Depends on: the tools. */
const sourcesIn = remembered(
  ({ tools }: AllowList): ReadonlySet<string> =>
    new Set(
      [...tools.values()].flatMap(({ parameters = {} }) =>
        Object.values(parameters).flatMap((words) =>
          typeof words === "string" ? [] : (words.from ?? []).map(({ tool }) => tool),
        ),
      ),
    ),
);

interface Said {
  readonly calls: ReadonlyMap<string, ToolCall> | undefined;
  readonly allowed: AllowList;
}

function learnFrom(before: Learned, message: Message, { calls, allowed }: Said): Learned {
  const own = labelOf(message);
  const learned = withLookUp(joinLearned(before, own), message, { calls, allowed });
  if (own.integrity === "untrusted") return learned;
  if (message.role === "user" && isAsked(message))
    // a model's question to another model is trusted, but nobody's choice
    return withText(learned, new Trusted(textOf(message), own.sources.length === 0));
  if (message.role !== "tool" || message.status !== "ok") return learned;
  const args = message.arguments ?? calls?.get(message.callId)?.arguments;
  const tool = allowed.tools.get(message.name);
  const isBound = tool?.resolves === true && args !== undefined && saidBy(learned, args, tool) === "user";
  return withText(learned, new Trusted(message, isBound));
}

function withLookUp(learned: Learned, message: Message, { calls, allowed }: Said): Learned {
  if (message.role !== "tool" || message.status !== "ok" || !sourcesIn(allowed).has(message.name))
    return learned;
  if (isOfClient(message)) return learned;
  const args = message.arguments ?? calls?.get(message.callId)?.arguments;
  const tool = allowed.tools.get(message.name);
  const chosen = args !== undefined && tool !== undefined ? withoutDefaults(tool, args) : args;
  const isChosen = chosen !== undefined && isChosenIn(learned, chosen, tool?.parameters ?? {});
  return { ...learned, lookedUp: new LookUp(message, isChosen, learned.lookedUp) };
}

/** True if every value in the arguments of a lookup was chosen; content, and arguments that were left out, are not judged. */
function isChosenIn(learned: Learned, args: Json, parameters: Parameters): boolean {
  if (!isJsonObject(args)) return false;
  const isChosen = (value: Json, path: string, around: ParameterWords | undefined): boolean => {
    const said = Object.hasOwn(parameters, path) ? parameters[path] : around;
    const words = typeof said === "string" ? { role: said } : said;
    if (Array.isArray(value)) return value.every((each: Json) => isChosen(each, path, words));
    if (isJsonObject(value))
      return Object.entries(value).every(([name, each]) => isChosen(each, `${path}.${name}`, words));
    const { role, constants = [], from = [], type } = words ?? {};
    if (role === "content" || isBoundIn(learned, value, { type, isWhole: true })) return true;
    const isPlain = typeof value === "string" || typeof value === "number";
    if (!isPlain) return false;
    if (constants.includes(String(value))) return true;
    if (spelledWhole(value, type)?.type !== spelledAs(value, type)?.type) return false; // it says more than what was found
    return from.some((source) => isFoundIn(learned, value, { source, type }));
  };
  return Object.entries(args).every(([name, value]) => isChosen(value, name, undefined));
}

/** The words of the user, and the values that the author vouches for. */
function usersWords({ texts, length }: Learned): readonly Trusted[] {
  return texts.slice(0, length).filter(({ isBound, isLookedUp }) => isBound && !isLookedUp);
}

interface Place {
  readonly source: ValueSource;
  readonly type: ValueType | undefined;
}

function isFoundIn(learned: Learned, value: Json, { source, type }: Place): boolean {
  if (typeof value !== "string" && typeof value !== "number") return false;
  const { lookedUp } = learned;
  if (source.named === true) {
    const said = usersWords(learned);
    const saysField = [source.field ?? []]
      .flat()
      .some((name) => said.some((text) => speaksOf(name, text.words)));
    return (
      saysField &&
      isOfNamed(lookedUp, { value, source, type }, (name) => said.some(({ values }) => values.hasName(name)))
    );
  }
  for (let each = lookedUp; each !== undefined; each = each.before)
    if (each.tool === source.tool && each.has(value, source, type)) return true;
  return false;
}

/** The knowledge with another text. A list that another state has extended is copied: two continuations never see each other's texts. */
function withText(learned: Learned, text: Trusted): Learned {
  const { texts, length } = learned;
  const own = texts.length === length ? texts : texts.slice(0, length);
  own.push(text);
  return { ...learned, texts: own, length: length + 1 };
}

/** The type of the value in question, and the tool that it is for. */
interface AskedFor {
  readonly type?: ValueType | undefined;
  readonly tool?: string | undefined;
  /** True if every word of a value counts, and not the place alone that it stands for. */
  readonly isWhole?: boolean;
}

/** True if every value in this is the user's own choice. */
function isBoundIn(learned: Learned, value: Json, asked: AskedFor = {}): boolean {
  if (Array.isArray(value)) return value.every((each: Json) => isBoundIn(learned, each, asked));
  if (isJsonObject(value)) return Object.values(value).every((each) => isBoundIn(learned, each, asked));
  if (value === null || value === "") return true;
  if (typeof value !== "string" && typeof value !== "number") return false;
  const spelled = (asked.isWhole === true ? spelledWhole : spelledAs)(value, asked.type);
  if (spelled === undefined) return false;
  for (let index = 0; index < learned.length; index += 1) {
    const text = learned.texts[index];
    if (text?.isBound !== true || (text.isLookedUp && !mayLookUp(asked))) continue;
    if (text.values.hasSpelled(spelled)) return true;
  }
  return false;
}

/** True if a looked-up value may count as chosen. Records are full of numbers the user did not mean, so amounts and removals must be in the user's words. */
function mayLookUp({ type, tool }: AskedFor): boolean {
  return type !== "number" && (tool === undefined || !actsOfTool(tool).has("remove"));
}

function isKnownLinkIn({ texts, length }: Learned, url: string): boolean {
  for (let index = 0; index < length; index += 1) {
    if (texts[index]?.links.has(url) === true) return true;
  }
  return false;
}

function asksForIn({ texts, length }: Learned, tool: string, exactly: boolean): boolean {
  if (exactly) return texts.slice(0, length).some((text) => namesAct(tool, text));
  const acts = actsOfTool(tool);
  return acts.size === 0 || texts.slice(0, length).some((text) => !acts.isDisjointFrom(text.acts));
}

/**
 * The label of what a model wrote: that of everything it has seen, unless every value in it is the user's own choice or a default of the author's schema, and
 * so is every name that the schema does not have. Without a schema names are not judged.
 */
export function labelOfArguments(learned: Learned, args: Json, tool: Partial<WithDefaults> = {}): Label {
  if (learned.label === trustedLabel) return trustedLabel;
  return saidBy(learned, args, tool) === "model" ? learned.label : trustedLabel;
}

/**
 * The speaker of arguments: `user` if all are the user's choices, `nobody` if they are only null and empty texts, otherwise
 * `model`. Booleans are the model's.
 */
type Speaker = "user" | "nobody" | "model";

function saidBy(learned: Learned, args: Json, tool: Partial<WithDefaults>): Speaker {
  const { input } = tool;
  const names = input === undefined ? undefined : propertyNames(input.jsonSchema);
  function speakerOf(value: Json): Speaker {
    if (Array.isArray(value)) return together(value.map(speakerOf));
    if (isJsonObject(value)) return together(Object.entries(value).flatMap(speakersOf));
    if (value === null || value === "") return "nobody";
    return isBoundIn(learned, value) ? "user" : "model";
  }
  function speakersOf([key, value]: readonly [string, Json]): readonly Speaker[] {
    const isName = names === undefined || names.has(key);
    return isName ? [speakerOf(value)] : [speakerOf(key), speakerOf(value)];
  }
  return speakerOf(input === undefined ? args : withoutDefaults({ ...tool, input }, args));
}

function together(speakers: readonly Speaker[]): Speaker {
  if (speakers.includes("model")) return "model";
  return speakers.includes("user") ? "user" : "nobody";
}

/** The knowledge in a run with a plan: planned tools count as asked for. With a model's plan, made before it read a stranger's words, no other does. */
export function withPlan(known: RunKnowledge, plan: PlanAtCall): RunKnowledge {
  const asksFor = (name: string, exactly?: boolean): boolean =>
    plan.tools.has(name) || (!plan.isFrozen && known.asksFor(name, exactly));
  return { ...known, plan, asksFor };
}

/** The knowledge about the run around a call, as policies see it. */
export function knowing(intent: Intent, learned: Learned, uses: readonly ToolUse[] = []): RunKnowledge {
  return {
    intent,
    label: learned.label,
    isBound: (value, type, tool) => isBoundIn(learned, value, { type, tool }),
    isFound: (value, source, type) => isFoundIn(learned, value, { source, type }),
    isKnownLink: (url) => isKnownLinkIn(learned, url),
    asksFor: (name, exactly = false) => asksForIn(learned, name, exactly),
    calls: (name) => uses.find(({ tool }) => tool === name)?.calls ?? 0,
  };
}
