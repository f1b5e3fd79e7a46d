import { boundText } from "../bound-text.ts";
import type { CallBeside } from "../../durable/beside.ts";
import { callerSignalOf } from "../../durable/caller-tools.ts";
import type { WaitingQuestion } from "../../durable/run-store.ts";
import type { AgentEvent } from "../../event/event.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { ToolResult } from "../../message/message.ts";
import { addUsage, noUsage, type Usage } from "../../message/usage.ts";
import { copyOfPlain, type Json, type JsonObject } from "../../util/json.ts";
import { interruptOf } from "../interrupts.ts";
import type { AguiEvent, AguiMessage } from "./messages.ts";
import { ShownReply } from "./shown-reply.ts";

/** The settings of a stream of events. */
export interface AguiAnswering {
  /** The text that the ids of its messages and calls begin with: an id must be unique in its thread. */
  readonly prefix: string;
  /** The messages that the page has. */
  readonly before: readonly AguiMessage[];
  /** The state that the page has. */
  readonly state: JsonObject;
}

/**
 * Makes the events of AG-UI from those of a run. It keeps track of the messages that the page builds from them. If a reply starts over, or differs from what
 * was shown of it, the page is sent all messages.
 */
export class AguiEvents {
  readonly messages: AguiMessage[];
  private readonly prefix: string;
  private readonly state: JsonObject;
  private used: Usage = noUsage;
  private step: string | undefined;
  /** False for plain skills and compositions of agents: only the end of the run has their answer. */
  private hasTurns = false;
  private reply: ShownReply;
  private readonly inside = new Set<string>();
  /** The calls of the last reply. */
  private calls: readonly string[] = [];

  constructor({ prefix, before, state }: AguiAnswering) {
    this.prefix = prefix;
    this.messages = copyOfPlain([...before]);
    this.state = state;
    this.reply = new ShownReply(prefix, 0, this.messages);
  }

  /** The events of AG-UI for an event; none for an event that a page does not show. */
  of(event: AgentEvent): readonly AguiEvent[] {
    if (event.type === "turn-start") return this.begin(event.turn);
    if (event.type === "turn-end") return this.closed();
    if (event.type === "message-start") return this.reply.isBlank ? [] : this.reply.takeBack();
    if (event.type === "text-delta") return this.reply.write("text", event.text);
    if (event.type === "reasoning-delta") return this.reply.write("reasoning", event.text);
    if (event.type === "call-delta") return this.reply.call(event.callId, event.name, event.text);
    if (event.type === "output-delta") return [this.stateWith(event.partial)];
    return this.ofFact(event);
  }

  private begin(turn: number): AguiEvent[] {
    this.reply = new ShownReply(this.prefix, turn, this.messages);
    this.step = `turn ${turn}`;
    this.hasTurns = true;
    return [{ type: "STEP_STARTED", stepName: this.step }];
  }

  /** The last events for a run that waits: questions, or calls of the page's own tools, and the results of the calls beside them. */
  waits(
    questions: readonly WaitingQuestion[],
    beside: readonly CallBeside[],
    after: number,
  ): readonly AguiEvent[] {
    const results = beside.flatMap(({ place, result }) => {
      const callId = this.calls[place];
      return callId === undefined ? [] : this.result(callId, result);
    });
    const shown = new Set(this.messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
    const idOf = ({ request }: WaitingQuestion): string => this.prefix + request.callId;
    const ofPage = questions.filter(({ request }) => callerSignalOf(request) !== undefined);
    const interrupts = questions
      .filter((question) => !ofPage.includes(question))
      .map((question) => {
        // The call of an agent inside is another call, which may have the same id.
        const id = question.request.path.length === 1 ? idOf(question) : "";
        return interruptOf(question, after, shown.has(id) ? id : undefined);
      });
    const outcome =
      interrupts.length > 0
        ? { type: "interrupt", interrupts }
        : { type: "success", pendingToolCallIds: ofPage.map(idOf) };
    return [...results, ...this.closed(), { type: "RUN_FINISHED", outcome, usage: usageOf(this.used) }];
  }

  /** The end of the run, with its output if it has one. */
  ended(outcome: Outcome, output: Json | undefined): readonly AguiEvent[] {
    const usage = usageOf(this.used);
    const end = this.closed();
    if (outcome.type === "answered") {
      const result = output ?? outcome.content;
      if (typeof result !== "string") end.push(this.stateWith(result));
      else if (!this.hasTurns) end.push(...this.reply.write("text", result), ...this.reply.close());
      return [...end, { type: "RUN_FINISHED", outcome: { type: "success" }, result, usage }];
    }
    if (outcome.type === "cancelled")
      return [...end, { type: "RUN_FINISHED", outcome: { type: "cancelled" }, usage }];
    const told =
      outcome.type === "failed" || outcome.type === "refused"
        ? { code: outcome.code, message: outcome.message }
        : { code: outcome.type, message: boundText(outcome) };
    return [...end, { type: "RUN_ERROR", ...told, usage }];
  }

  private ofFact(event: AgentEvent): readonly AguiEvent[] {
    if (event.type === "message-end" && event.message !== undefined) {
      const { message } = event;
      this.calls = message.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []));
      return this.reply.whole(message);
    }
    if (event.type === "tool-end" || event.type === "knowledge-used")
      return this.result(event.callId, event.result);
    if (event.type === "usage-add") this.used = addUsage(this.used, event.usage);
    return this.ofAgentInside(event);
  }

  private ofAgentInside(event: AgentEvent): readonly AguiEvent[] {
    if (event.type === "delegation-start") {
      const { agent: name, runId: subagentRunId } = event.delegation;
      this.inside.add(subagentRunId);
      const parentToolCallId = this.prefix + event.callId;
      return [{ type: "SUBAGENT_STARTED", subagentRunId, name, parentToolCallId }];
    }
    if (event.type !== "delegation-end") return [];
    const { runId: subagentRunId, agent: name, outcome } = event.delegation;
    const parentToolCallId = this.prefix + event.callId;
    // Only pages that follow the run now are told the beginning.
    const begins = this.inside.delete(subagentRunId)
      ? []
      : [{ type: "SUBAGENT_STARTED", subagentRunId, name, parentToolCallId }];
    const end =
      outcome === "answered"
        ? { type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "success" } }
        : {
            type: "SUBAGENT_ERROR",
            subagentRunId,
            code: outcome,
            message: `The run of ${name} is ${outcome}.`,
          };
    return [...begins, end];
  }

  /** The result of a call; nothing if the page already has it. */
  private result(callId: string, { status, text }: ToolResult): AguiEvent[] {
    const toolCallId = this.prefix + callId;
    const messageId = `${toolCallId}-result`;
    if (this.messages.some((message) => message.toolCallId === toolCallId)) return [];
    this.messages.push({ id: messageId, role: "tool", toolCallId, content: text });
    return [
      {
        type: "TOOL_CALL_RESULT",
        messageId,
        toolCallId,
        role: "tool",
        content: text,
        metadata: { status },
      },
    ];
  }

  /** Ends everything that is open: a run of AG-UI may not end before that. */
  private closed(): AguiEvent[] {
    const events = this.reply.close();
    for (const subagentRunId of this.inside)
      events.push({ type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "suspended" } });
    this.inside.clear();
    if (this.step !== undefined) events.push({ type: "STEP_FINISHED", stepName: this.step });
    this.step = undefined;
    return events;
  }

  private stateWith(output: Json): AguiEvent {
    return { type: "STATE_SNAPSHOT", snapshot: { ...this.state, output } };
  }
}

function usageOf({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  cacheWriteTokens: cacheWriteInputTokens,
  reasoningTokens,
}: Usage): readonly AguiUsage[] {
  if (inputTokens + outputTokens === 0) return [];
  return [
    {
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
      ...(cacheWriteInputTokens === undefined ? {} : { cacheWriteInputTokens }),
      ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    },
  ];
}

type AguiUsage = { readonly [count: string]: number };
