import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { AgentEvent } from "../../event/event.ts";
import type { Label } from "../../message/label.ts";
import { contentText } from "../../message/message.ts";
import type { Decision } from "../../policy/decision.ts";
import type { Telling } from "./measures.ts";
import type { Tellers, Told } from "./tellers.ts";

/** A call that has not ended. */
interface OpenCall {
  span?: Span;
  name?: string;
  startedAt?: number;
  decision?: Decision;
  approval?: Told<"approval-request">;
  answer?: Told<"approval-answer">;
  /** The number of times that it asked for access and was refused. */
  refused: number;
}

/** The statuses of calls that failed. Calls that a rule or a person refused did not fail. */
const failures = new Set(["error", "invalid", "timeout", "unknown"]);

/** The spans of the calls of one run: each has the decision about it, and the sources of its result. */
export class CallSpans {
  private static readonly tellers: Tellers<CallSpans> = {
    "call-decided": (calls, event) => calls.decided(event),
    "approval-request": (calls, event) => void (calls.of(event).approval = event),
    "approval-answer": (calls, event) => calls.answered(event),
    "capability-checked": (calls, event) => void (calls.of(event).refused += event.granted ? 0 : 1),
    "tool-start": (calls, event) => calls.started(event),
    "tool-end": (calls, event) => calls.ended(event),
    "knowledge-used": (calls, event) => calls.read(event),
  };

  private readonly telling: Telling;
  private readonly around: (at: number) => Context;
  private readonly calls = new Map<string, OpenCall>();
  private readonly refused: Told<"tool-end">[] = [];

  constructor(telling: Telling, around: (at: number) => Context) {
    this.telling = telling;
    this.around = around;
  }

  /** Takes an event of an earlier process about a call that may still be under way. A later answer is told with the events after it. */
  remember(event: AgentEvent): void {
    if (event.type === "call-decided") this.of(event).decision = event.decision;
    if (event.type === "approval-request") this.of(event).approval = event;
    if (event.type === "approval-answer") this.of(event).answer = event;
    if (event.type === "tool-start") this.begun(event);
    if (event.type === "message-end") this.refused.length = 0; // the earlier process has told these
    if (event.type !== "tool-end") return;
    const isRefused = event.result.status === "denied" && this.calls.get(event.callId)?.answer !== undefined;
    if (isRefused) this.refused.push(event);
    else this.calls.delete(event.callId);
  }

  /** Tells the calls that a person denied while no process carried the run out. */
  goOn(): void {
    if (this.refused.length > 0) for (const event of this.refused.splice(0)) this.ended(event);
  }

  tell(event: AgentEvent): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is the one of this type
    const own = CallSpans.tellers[event.type] as ((calls: CallSpans, event: AgentEvent) => void) | undefined;
    own?.(this, event);
  }

  /** The context of a run or request that begins inside a call. */
  contextOf(callId: string, at: number): Context | undefined {
    const name = this.calls.get(callId)?.name;
    return name === undefined ? undefined : trace.setSpan(this.around(at), this.spanOf({ callId, name, at }));
  }

  /** Ends the open spans of the run, which waits or was handed over. */
  end(at: number): void {
    for (const { span, approval, answer } of this.calls.values()) {
      if (approval !== undefined && answer === undefined) this.approval(approval, at);
      span?.end(at);
    }
    this.calls.clear();
  }

  private of({ callId }: { readonly callId: string }): OpenCall {
    let call = this.calls.get(callId);
    if (call === undefined) this.calls.set(callId, (call = { refused: 0 }));
    return call;
  }

  private decided(event: Told<"call-decided">): void {
    this.of(event).decision = event.decision;
    const { verdict, rule } = event.decision;
    this.telling.measures.decisions.add(1, { "writ.decision.verdict": verdict, "writ.decision.rule": rule });
  }

  private answered(event: Told<"approval-answer">): void {
    const call = this.of(event);
    call.answer = event;
    const { approval } = call;
    if (approval === undefined) return;
    const about = { "writ.approval.approved": event.approved };
    this.telling.measures.approvals.record((event.at - approval.at) / 1000, about);
    this.approval(approval, event.at, event);
  }

  /** Tells a question, until its answer, or until the run stopped to wait for it. */
  private approval(request: Told<"approval-request">, at: number, answer?: Told<"approval-answer">): void {
    const { name, callId, request: asked } = request;
    const attributes: Attributes = {
      "gen_ai.tool.name": name,
      "gen_ai.tool.call.id": callId,
      "writ.decision.rule": asked.rule,
    };
    Object.assign(addLabel(attributes, asked.label), answerOf(answer));
    const options = { startTime: request.at, attributes };
    this.telling.tracer.startSpan(`approval ${name}`, options, this.around(request.at)).end(at);
  }

  private started(event: Told<"tool-start">): void {
    this.begun(event);
    this.spanOf(event);
  }

  private begun(event: Told<"tool-start">): void {
    const call = this.of(event);
    call.name = event.name;
    call.startedAt = event.at;
  }

  private spanOf({ callId, name, at }: Pick<Told<"tool-start">, "callId" | "name" | "at">): Span {
    const call = this.of({ callId });
    const startTime = call.startedAt ?? at;
    return (call.span ??= this.telling.tracer.startSpan(
      `execute_tool ${name}`,
      { kind: SpanKind.INTERNAL, startTime },
      this.around(startTime),
    ));
  }

  private ended(event: Told<"tool-end">): void {
    const { name, durationMs, result } = event;
    const { label = { integrity: "untrusted", secrecy: "public", sources: [`tool/${name}`] } } = result;
    const type = label.sources.some(isOfMcp) ? "extension" : "function";
    const about = this.close(event, { type, label });
    if (durationMs > 0 || result.status === "ok")
      this.telling.measures.tools.record(durationMs / 1000, about);
  }

  /** Tells a use of knowledge. Its fact comes after the reading, so it has no beginning. */
  private read(event: Told<"knowledge-used">): void {
    this.of(event).startedAt = event.at - event.durationMs;
    this.close(event, { type: "datastore", label: event.result.label });
  }

  /** Ends the span of a call. Returns the attributes that all calls of its tool with this end share. */
  private close(
    event: Told<"tool-end" | "knowledge-used">,
    { type, label }: { readonly type: string; readonly label: Label | undefined },
  ): Attributes {
    const call = this.of(event);
    const span = this.spanOf(event);
    const { name, callId, result, at } = event;
    const { status } = result;
    const { content } = this.telling;
    const about: Attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name };
    if (failures.has(status)) {
      about["error.type"] = status;
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.setAttributes(about);
    const attributes: Attributes = {
      "gen_ai.tool.call.id": callId,
      "gen_ai.tool.type": type,
      "writ.result.status": status,
    };
    if (label !== undefined) addLabel(attributes, label);
    addDecision(attributes, call.decision, content);
    if (call.approval !== undefined) Object.assign(attributes, answerOf(call.answer));
    if (call.refused > 0) attributes["writ.capabilities.refused"] = call.refused;
    if (content) {
      attributes["gen_ai.tool.call.arguments"] = contentText(event.arguments);
      attributes["gen_ai.tool.call.result"] = result.text;
    }
    span.setAttributes(attributes);
    span.end(at);
    this.calls.delete(callId);
    return about;
  }
}

const isOfMcp = (source: string): boolean => source.startsWith("mcp/");

function addLabel(to: Attributes, { integrity, secrecy, sources }: Label): Attributes {
  to["writ.label.integrity"] = integrity;
  to["writ.label.secrecy"] = typeof secrecy === "string" ? secrecy : "readers";
  to["writ.label.sources"] = [...sources];
  return to;
}

function addDecision(to: Attributes, decision: Decision | undefined, content: boolean): void {
  if (decision === undefined) return;
  const { verdict, rule, reason, flags } = decision;
  to["writ.decision.verdict"] = verdict;
  to["writ.decision.rule"] = rule;
  if (flags !== undefined) to["writ.decision.flags"] = [...flags];
  if (content) to["writ.decision.reason"] = reason;
}

function answerOf(answer: Told<"approval-answer"> | undefined): Attributes {
  if (answer === undefined) return { "writ.approval.waits": true };
  const { approved, by, edited, expired } = answer;
  return {
    "writ.approval.approved": approved,
    ...(by === undefined ? {} : { "writ.approval.by": by }),
    ...(edited === undefined ? {} : { "writ.approval.edited": true }),
    ...(expired === undefined ? {} : { "writ.approval.expired": true }),
  };
}
