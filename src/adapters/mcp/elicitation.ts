import { hash } from "node:crypto";
import { contentText } from "../../message/message.ts";
import type { ApprovalRequest } from "../../policy/rules/approval-request.ts";
import { untrustedFrom } from "../../message/label.ts";
import { readAnswer } from "../../call/ask.ts";
import { scopeOf } from "../../run/scope.ts";
import type { ToolContext } from "../../tool/tool.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { untilAborted } from "../../util/interrupt.ts";
import { oneAfterAnother } from "../one-after-another.ts";
import { boundedText } from "./remote-call.ts";

/** A question of a server to a person during a call. */
export interface Elicited {
  readonly message: string;
  /** The form, as JSON Schema; undefined if the server wants an address opened, which is not supported. */
  readonly schema: JsonObject | undefined;
}

/** The answer, in the form of the protocol. */
export type ElicitedAnswer =
  | { readonly action: "accept"; readonly content: Record<string, Field> }
  | { readonly action: "decline" | "cancel" };

/** The most questions of a call that a person is asked: a server could ask without end. */
const mostQuestions = 10;

/** A call that is under way, with the number of questions that were asked in it. */
interface AskingCall {
  readonly tool: string;
  readonly context: ToolContext;
  asked: number;
  /** Aborted at its end: then nobody waits for an answer. */
  readonly over: AbortController;
}

/**
 * The calls of a connection that are under way; a question of the server belongs to one of them. The protocol does not say to which one: while several runs
 * have calls under way, nobody can be asked. Among the calls of one run the question is that of the first, and names the tools of the others.
 */
export class Elicitations {
  private readonly server: string;
  private readonly atWork = new Set<AskingCall>();
  private readonly inTurn = oneAfterAnother();

  constructor(server: string) {
    this.server = server;
  }

  /** Counts a call as under way until the returned function is called. */
  begin(tool: string, context: ToolContext): () => void {
    const call = { tool, context, asked: 0, over: new AbortController() };
    this.atWork.add(call);
    return () => {
      this.atWork.delete(call);
      call.over.abort();
    };
  }

  /** Asks the approver of the run, one question at a time. The fields of the form are the arguments, which the approver may change. */
  answer(elicited: Elicited): Promise<ElicitedAnswer> {
    return this.inTurn("", () => this.answerNow(elicited));
  }

  private async answerNow({ message, schema }: Elicited): Promise<ElicitedAnswer> {
    const runs = new Set([...this.atWork].map(({ context }) => context.run.runId));
    const calls = [...this.atWork];
    const [call] = calls;
    if (schema === undefined || call === undefined || runs.size > 1) return { action: "cancel" };
    const { approve } = scopeOf(call.context.run);
    if (approve === undefined || call.asked === mostQuestions) return { action: "cancel" };
    call.asked += 1;
    try {
      const request = this.requestOf(call, { message, schema }, calls);
      const asking = (async () => approve(request))();
      const given = await untilAborted(asking, allOver(calls), () => new Error("the call has ended"));
      const { approved, edited = defaultsOf(schema) } =
        typeof given === "boolean" ? readAnswer({ approved: given }) : readAnswer(given);
      return approved ? { action: "accept", content: contentOf(edited) } : { action: "decline" };
    } catch {
      return { action: "cancel" }; // an error is not consent
    }
  }

  private requestOf(
    { tool, context }: Pick<AskingCall, "tool" | "context">,
    { message, schema }: { readonly message: string; readonly schema: JsonObject },
    atWork: readonly AskingCall[],
  ): ApprovalRequest {
    const { agent, skill, turn } = context.run;
    const { around, agents = [] } = scopeOf(context.run);
    const args = defaultsOf(schema);
    const values = Object.entries(fieldsOf(schema)).map(([path]) => ({
      path,
      value: Object.hasOwn(args, path) ? (args[path] ?? "") : "",
      bound: false,
    }));
    return {
      agent,
      skill,
      turn,
      callId: context.callId,
      tool,
      effect: "undeclared",
      arguments: args,
      rule: "elicitation",
      reason: `its server asks${otherTools(tool, atWork)}: ${boundedText(message)}${formText(schema)}`,
      values,
      label: untrustedFrom(`mcp/${this.server}`),
      intent: { text: around.intent.text, hash: around.intent.hash },
      links: [],
      show: [],
      inputSchema: schema,
      hash: hash("sha256", JSON.stringify([this.server, tool, message, schema]), "hex"),
      path: [...agents, agent],
      policy: "",
    };
  }
}

/** The words for the other tools with a call that a question may belong to. */
function otherTools(own: string, atWork: readonly AskingCall[]): string {
  const names = new Set(atWork.map(({ tool }) => tool).filter((tool) => tool !== own));
  return names.size === 0 ? "" : `, in this call or in one of ${[...names].join(", ")}`;
}

/** Aborted once all of the calls have ended. */
function allOver(calls: readonly AskingCall[]): AbortSignal {
  const all = new AbortController();
  const left = new Set(calls);
  for (const call of calls)
    call.over.signal.addEventListener("abort", () => {
      left.delete(call);
      if (left.size === 0) all.abort();
    });
  return all.signal;
}

const fieldsOf = (schema: JsonObject): JsonObject => {
  const { properties } = schema;
  return asObject(properties);
};

/** The most text beside the fields of a form that a person would read. */
const longestForm = 1_500;

/** The server's text beside the fields of its form: a person agrees to this too. */
function formText(schema: JsonObject): string {
  const said = Object.entries(fieldsOf(schema)).flatMap(([name, field]) => {
    const words = isJsonObject(field) ? wordsBeside(field) : [];
    return words.length === 0 ? [] : [`${name}: ${words.join(", ")}`];
  });
  const text = said.join("; ");
  if (text === "") return "";
  return ` [${text.length > longestForm ? `${text.slice(0, longestForm).toWellFormed()}…` : text}]`;
}

function wordsBeside({ title, description, oneOf, items, enumNames }: JsonObject): readonly string[] {
  const choices = oneOf ?? (isJsonObject(items) ? items["anyOf"] : undefined);
  const listed = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
  const named = Array.isArray(enumNames) ? enumNames : [];
  const titles = listed.map(
    ({ const: value = "", title: name = "" }) => `${contentText(value)} ${contentText(name)}`,
  );
  return [title, description, ...titles, ...named].filter((word) => typeof word === "string");
}

/** The values that the server proposes. */
function defaultsOf(schema: JsonObject): JsonObject {
  const fields = Object.entries(fieldsOf(schema));
  return Object.fromEntries(
    fields.flatMap(([name, field]) =>
      isJsonObject(field) && field["default"] !== undefined ? [[name, field["default"]] as const] : [],
    ),
  );
}

/** A value of a form. */
type Field = string | number | boolean | string[];

const isField = (value: Json): value is Field =>
  ["string", "number", "boolean"].includes(typeof value) ||
  (Array.isArray(value) && value.every((each) => typeof each === "string"));

function contentOf(args: JsonObject): Record<string, Field> {
  const entries = Object.entries(args);
  return Object.fromEntries(entries.flatMap(([name, value]) => (isField(value) ? [[name, value]] : [])));
}
