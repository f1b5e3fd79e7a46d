import {
  type Attributes,
  context,
  type Context,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { type AgentEvent, isFact } from "../../event/event.ts";
import { isPast } from "../../event/past.ts";
import { providerNames } from "../../model/provider-names.ts";
import { CallSpans } from "./call-spans.ts";
import { inputContent, reasonOfProvider, replyContent } from "./content.ts";
import type { Telling } from "./measures.ts";
import type { Tellers, Told } from "./tellers.ts";

/** The attributes that requests of one kind share, with the kinds of their tokens. */
interface Kind {
  readonly about: Attributes;
  readonly input: Attributes;
  readonly output: Attributes;
}

/** A request without a span so far. */
interface Asked {
  readonly kind: Kind;
  readonly startTime: number;
  readonly endedAt: number;
  readonly inside: Context;
  readonly attributes: Attributes;
  /** True if there was no reply: the end of the run tells why. */
  readonly isFailed: boolean;
  readonly firstChunk: number | undefined;
}

interface Beginning {
  readonly telling: Telling;
  /** The run around this one. */
  readonly around: RunSpans | undefined;
  /** The span of the run before it waited. */
  readonly before: SpanContext | undefined;
}

/**
 * The spans of a run in this process. Events that an earlier process told get no span here. A turn or a call that was under way gets a span from
 * the point where this process went on with it.
 */
export class RunSpans {
  private static readonly tellers: Tellers<RunSpans> = {
    "turn-start": (run, { at, turn }) => void run.turnAt(at, turn),
    "message-start": (run, event) => run.begins(event),
    "text-delta": (run, event) => run.chunk(event),
    "reasoning-delta": (run, event) => run.chunk(event),
    "call-delta": (run, event) => run.chunk(event),
    "message-end": (run, event) => run.reply(event),
    "usage-add": (run, event) => run.used(event),
    "retry-start": (run, event) => run.retried(event),
    "tool-end": (run, event) => run.called(event),
    "knowledge-used": (run, event) => run.called(event),
    "budget-threshold": ({ span }, { at, field, used, limit }) =>
      void span.addEvent("writ.budget", { field, used, limit }, at),
    "compaction-end": ({ span }, { at, droppedTurns }) =>
      void span.addEvent("writ.compaction", { dropped_turns: droppedTurns }, at),
    "delegation-start": ({ children }, { delegation, callId }) => void children.set(delegation.runId, callId),
    "turn-end": (run, { at }) => run.endTurn(at),
    "run-end": (run, event) => run.end(event),
  };

  private readonly telling: Telling;
  private readonly span: Span;
  private readonly inside: Context;
  private readonly agent: string;
  private readonly begunAt: number;
  private readonly calls: CallSpans;
  private readonly children = new Map<string, string>();
  /** The last `seq`. The agent and the agents around it hear the facts of a run inside: each fact counts once. */
  private last = 0;
  private turn: { readonly span: Span; readonly inside: Context } | undefined;
  private readonly kinds = new Map<string | undefined, Kind>();
  /** The id of the model that is asked. */
  private model: string | undefined;
  private asked: Asked | undefined;
  /** The time of the latest request: a failure has no duration that a replay could tell. */
  private sentAt: number | undefined;
  private firstChunkAt: number | undefined;
  private turns = 0;
  /** The number of the turn that an earlier process began. */
  private number: number | undefined;

  constructor(event: Told<"run-start">, { telling, around, before }: Beginning) {
    this.telling = telling;
    this.agent = event.agent;
    this.begunAt = event.at;
    const outer = around?.contextFor(event) ?? context.active();
    this.span = telling.tracer.startSpan(
      `invoke_agent ${event.agent}`,
      {
        kind: SpanKind.INTERNAL,
        startTime: event.at,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": event.agent,
          "writ.run.id": event.runId,
          ...(event.sessionId === undefined ? {} : { "gen_ai.conversation.id": event.sessionId }),
          ...(isPast(event) ? { "writ.run.goes_on": true } : {}),
          ...(telling.content ? inputContent(event.input) : {}),
        },
        ...(before === undefined ? {} : { links: [{ context: before }] }),
      },
      outer,
    );
    this.inside = trace.setSpan(outer, this.span);
    this.calls = new CallSpans(telling, (at) => this.turnAt(at).inside);
  }

  get spanContext(): SpanContext {
    return this.span.spanContext();
  }

  tell(event: AgentEvent): void {
    if (isFact(event)) {
      if (event.seq <= this.last) return;
      this.last = event.seq;
    }
    if (isPast(event) && event.type !== "run-end") return this.remember(event);
    this.calls.goOn();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is the one of this type
    const own = RunSpans.tellers[event.type] as ((run: RunSpans, event: AgentEvent) => void) | undefined;
    if (own === undefined) this.calls.tell(event);
    else own(this, event);
  }

  /** Takes an event of an earlier process: what is still under way hangs on it. */
  private remember(event: AgentEvent): void {
    if (event.type === "turn-start") this.number = event.turn;
    else if (event.type === "delegation-start") this.children.set(event.delegation.runId, event.callId);
    else this.calls.remember(event);
  }

  /** The context of a run inside: that of the call which began it, if that is known. */
  private contextFor({ runId, at }: Pick<AgentEvent, "runId" | "at">): Context {
    const callId = this.children.get(runId);
    return (
      (callId === undefined ? undefined : this.calls.contextOf(callId, at)) ??
      this.turn?.inside ??
      this.inside
    );
  }

  private turnAt(at: number, turn = this.number): { readonly span: Span; readonly inside: Context } {
    if (this.turn !== undefined) return this.turn;
    this.turns += 1;
    const attributes = turn === undefined ? {} : { "writ.turn": turn };
    const span = this.telling.tracer.startSpan("turn", { startTime: at, attributes }, this.inside);
    return (this.turn = { span, inside: trace.setSpan(this.inside, span) });
  }

  private begins({ at, model }: Told<"message-start">): void {
    this.sentAt = at;
    if (model !== this.model) this.kinds.clear();
    this.model = model;
  }

  private chunk({ at }: AgentEvent): void {
    this.firstChunkAt ??= at;
  }

  private retried(event: Told<"retry-start">): void {
    this.telling.measures.retries.add(1, { "gen_ai.agent.name": this.agent });
    this.turnAt(event.at).span.addEvent("writ.retry", attemptOf(event), event.at);
  }

  private reply(event: Told<"message-end">): void {
    this.endAsked(otherFailure);
    const { at, durationMs, driver, finishReason, message, response } = event;
    const { model, id } = response ?? {};
    const isFailed = message === undefined;
    const startTime = isFailed ? (this.sentAt ?? at) : at - durationMs;
    this.sentAt = undefined;
    const attributes: Attributes = { "writ.driver": driver };
    if (!isFailed) attributes["gen_ai.response.finish_reasons"] = [reasonOfProvider(event)];
    if (id !== undefined) attributes["gen_ai.response.id"] = id;
    if (this.telling.content && !isFailed) Object.assign(attributes, replyContent(message, finishReason));
    const firstChunk =
      this.firstChunkAt === undefined ? undefined : Math.max(0, this.firstChunkAt - startTime) / 1000;
    if (firstChunk !== undefined) attributes["gen_ai.response.time_to_first_chunk"] = firstChunk;
    this.firstChunkAt = undefined;
    const { inside } = this.turnAt(startTime);
    const kind = this.kindOf(model);
    this.asked = { kind, startTime, endedAt: at, inside, attributes, isFailed, firstChunk };
  }

  /** Depends on: the agent, which a run never changes, and the models that were asked and that answered. */
  private kindOf(model: string | undefined): Kind {
    let kind = this.kinds.get(model);
    if (kind === undefined)
      this.kinds.set(model, (kind = kindOf(aboutChat(this.agent, { model, asked: this.model }))));
    return kind;
  }

  /** Ends a call. The usage of the requests that it made itself is not part of any reply. */
  private called(event: Told<"tool-end" | "knowledge-used">): void {
    const { usage, costUsd } = event;
    if (usage !== undefined) this.measure({ usage, costUsd }, this.kindOf(undefined));
    this.calls.tell(event);
  }

  private measure({ usage, costUsd }: Spent, kind: Kind): void {
    const { measures } = this.telling;
    measures.tokens.record(usage.inputTokens, kind.input);
    measures.tokens.record(usage.outputTokens, kind.output);
    if (costUsd !== undefined) measures.cost.add(costUsd, kind.about);
  }

  private used({ usage, costUsd }: Told<"usage-add">): void {
    const { asked } = this;
    this.measure({ usage, costUsd }, asked?.kind ?? this.kindOf(undefined)); // the choice of a skill is not a reply
    if (asked === undefined) return;
    addUsage(asked.attributes, usage);
    if (costUsd !== undefined) asked.attributes["writ.cost.usd"] = costUsd;
    this.endAsked();
  }

  /**
   * Ends the span of a reply. Usage comes after the reply: the span is made with it, or with the next event if there is no usage. The span of a request without
   * a reply is made when the type of its failure is known.
   */
  private endAsked(failure?: string): void {
    const { asked } = this;
    if (asked === undefined || (asked.isFailed && failure === undefined)) return;
    this.asked = undefined;
    const { measures } = this.telling;
    const about = asked.isFailed ? { ...asked.kind.about, "error.type": failure } : asked.kind.about;
    measures.asked.record((asked.endedAt - asked.startTime) / 1000, about);
    if (asked.firstChunk !== undefined) measures.firstChunk.record(asked.firstChunk, about);
    const model = about["gen_ai.request.model"];
    const name = typeof model === "string" ? `chat ${model}` : "chat";
    const options = { kind: SpanKind.CLIENT, startTime: asked.startTime, attributes: about };
    const span = this.telling.tracer.startSpan(name, options, asked.inside);
    if ("error.type" in about) span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttributes(asked.attributes).end(asked.endedAt);
  }

  /** Ends a turn with its open spans: its run waits, or was handed over. */
  private endTurn(at: number): void {
    this.endAsked();
    this.calls.end(at);
    this.turn?.span.end(at);
    this.turn = undefined;
  }

  private end({ at, outcome, usage }: Told<"run-end">): void {
    this.endAsked("code" in outcome ? outcome.code : outcome.type);
    this.endTurn(at);
    const about: Attributes = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": this.agent };
    const attributes: Attributes = { "writ.outcome": outcome.type, "writ.turns": this.turns };
    this.span.setAttributes(addUsage(attributes, usage));
    if (outcome.type === "suspended") this.span.setAttribute("writ.outcome.waits_for", outcome.field);
    if ("code" in outcome) fail(this.span, about, outcome.code);
    this.telling.measures.runs.record((at - this.begunAt) / 1000, about);
    this.span.end(at);
  }
}

/** The word of the conventions for a failure of unknown type. */
const otherFailure = "_OTHER";

/** Marks a failure on its span and on its measurements. */
function fail(span: Span, about: Attributes, type: string): void {
  about["error.type"] = type;
  span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
}

function attemptOf({ attempt, delayMs }: Told<"retry-start">): Attributes {
  return {
    ...(attempt === undefined ? {} : { attempt }),
    ...(delayMs === undefined ? {} : { delay_ms: delayMs }),
  };
}

interface Spent {
  readonly usage: Told<"usage-add">["usage"];
  readonly costUsd: number | undefined;
}

interface Models {
  /** The model that answered, as the provider names it. */
  readonly model: string | undefined;
  /** The id of the model that was asked. */
  readonly asked: string | undefined;
}

function aboutChat(agent: string, { model, asked }: Models): Attributes {
  const named = asked === undefined ? {} : modelAsked(asked);
  const about = { "gen_ai.agent.name": agent, "gen_ai.operation.name": "chat", ...named };
  return model === undefined ? about : { ...about, "gen_ai.response.model": model };
}

function kindOf(about: Attributes): Kind {
  return {
    about,
    input: { ...about, "gen_ai.token.type": "input" },
    output: { ...about, "gen_ai.token.type": "output" },
  };
}

function addUsage(to: Attributes, usage: Told<"run-end">["usage"]): Attributes {
  const { cachedInputTokens, cacheWriteTokens, reasoningTokens, estimated } = usage;
  to["gen_ai.usage.input_tokens"] = usage.inputTokens;
  to["gen_ai.usage.output_tokens"] = usage.outputTokens;
  if (cachedInputTokens !== undefined) to["gen_ai.usage.cache_read.input_tokens"] = cachedInputTokens;
  if (cacheWriteTokens !== undefined) to["gen_ai.usage.cache_creation.input_tokens"] = cacheWriteTokens;
  if (reasoningTokens !== undefined) to["gen_ai.usage.reasoning.output_tokens"] = reasoningTokens;
  if (estimated === true) to["writ.usage.estimated"] = true;
  return to;
}

/** The names of providers in the conventions, if they differ from those of writ and of the AI SDK. */
const conventional: readonly (readonly [begins: string, name: string])[] = [
  ["google.vertex", "gcp.vertex_ai"],
  ["google", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
  ["amazon-bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
];

/**
 * The model that was asked, and its provider, from its id (`openai/gpt-5`, `openai.responses/gpt-5` for one of the AI SDK). Left out for an unknown provider.
 */
function modelAsked(id: string): Attributes {
  const [, begun = "", model = ""] = /^([^/]+)\/(.+)$/s.exec(id) ?? [];
  const provider = providerOf(begun);
  if (provider === undefined) return { "gen_ai.request.model": id };
  return { "gen_ai.provider.name": provider, "gen_ai.request.model": model };
}

function providerOf(begun: string): string | undefined {
  const known = (name: string): boolean => begun === name || begun.startsWith(`${name}.`);
  return conventional.find(([name]) => known(name))?.[1] ?? providerNames.find(known);
}
