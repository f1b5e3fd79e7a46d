import type { Message, ReplyMessage, ResultMessage, ToolCall } from "../message/message.ts";
import { readArguments } from "../model/assemble.ts";
import type { ToolDescription } from "../model/model.ts";
import { matchName, type WireNames, withoutNamespace } from "../model/tool-names.ts";
import { storableName } from "../message/message.ts";
import { type AllowList, toldFirst } from "../policy/allow-list.ts";
import type { Tool } from "../tool/tool.ts";
import { isJsonObject } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";

/**
 * One tool through which a model calls every tool that it is told of after its run began: another list of tools would make its provider read all
 * messages anew. Only the provider sees it. In the transcript each call has its own tool, to which allow-list, policy and schema apply.
 */
export interface Caller {
  readonly description: ToolDescription;
  /** True for a tool that is called through the caller. */
  calls(this: void, name: string): boolean;
  /** The message as the provider gets it; the same object for the same message. */
  toWire(this: void, message: Message): Message;
  /** The call that the model means by one that it made; the same object for a call that was not made through the caller. */
  meant(this: void, call: ToolCall): ToolCall;
}

/** The caller for a list of tools; undefined for a list that is described completely when the run begins. */
export function callerFor(allowed: AllowList, names: WireNames): Caller | undefined {
  const { tools, before = tools } = allowed;
  const first = new Set(toldFirst(allowed).map((tool) => tool.name));
  const late = new Map([...before].filter(([name, tool]) => tool.isCatalogued === true && !first.has(name)));
  if (late.size === 0) return undefined;
  const taken = [...before.keys()].map((each) => names.toWire(each));
  const free = (name: string): boolean => !taken.some((each) => matchName(each, [name]) === name);
  const name = ["call_tool", "call_found_tool", "call_late_tool"].find(free) ?? "call_";
  return {
    description: { name, ...described },
    calls: (tool) => late.has(tool),
    // Depends on: the tools that are called through it, and their names; the message.
    toWire: remembered((message: Message): Message => {
      if (message.role === "tool") return told(message, { name, late });
      if (message.role !== "assistant") return message;
      const isLate = (part: ReplyMessage["parts"][number]): part is ToolCall =>
        part.type === "tool-call" && part.providerExecuted !== true && late.has(part.name);
      if (!message.parts.some(isLate)) return message;
      return {
        ...message,
        parts: message.parts.map((part) => (isLate(part) ? wrapped(part, name) : part)),
      };
    }),
    meant(call) {
      if (withoutNamespace(call.name) !== name || call.providerExecuted === true) return call;
      const { tool, ...inner } = innerCall(call);
      const meant = tool === undefined ? undefined : names.fromWire(tool);
      return meant === undefined || !storableName.test(meant) ? call : { ...call, ...inner, name: meant };
    },
  };
}

const described = {
  description: "Call a tool that a result has told you of: its name in `tool`, what it takes in `arguments`.",
  inputSchema: {
    type: "object",
    properties: { tool: { type: "string" }, arguments: { type: "object" } },
    required: ["tool", "arguments"],
    additionalProperties: false,
  },
} as const;

interface Naming {
  readonly name: string;
  readonly late: ReadonlyMap<string, Tool>;
}

/** The result with the arguments of the tools that it introduces. */
function told(message: ResultMessage, { name, late }: Naming): ResultMessage {
  const { offers = [] } = message;
  const lines = offers.flatMap((offered) => {
    const tool = late.get(offered);
    if (tool === undefined) return [];
    const schema = JSON.stringify(tool.input.jsonSchema);
    return message.text.includes(schema) ? [] : [`- ${offered}: ${schema}`];
  });
  const isTold = offers.some((offered) => late.has(offered));
  const what = lines.length === 0 ? "" : ` What they take:\n${lines.join("\n")}`;
  const text = isTold ? `${message.text}\n[Call them with ${name}.${what}]` : message.text;
  return { ...message, name: late.has(message.name) ? name : message.name, text };
}

function wrapped(call: ToolCall, name: string): ToolCall {
  return { ...call, name, arguments: { tool: call.name, arguments: call.arguments } };
}

interface InnerCall extends Partial<Pick<ToolCall, "arguments" | "malformed">> {
  readonly tool?: string;
}

/** The call inside a call of the caller. A model that leaves out `arguments` wrote them beside the name. */
function innerCall({ arguments: written }: ToolCall): InnerCall {
  if (typeof written === "string") return { tool: /^\s*\{\s*"tool"\s*:\s*"([^"\\]+)"/.exec(written)?.[1] };
  if (!isJsonObject(written)) return {};
  const { tool, arguments: given, ...others } = written;
  return typeof tool === "string" ? { tool, ...readArguments(given ?? others) } : {};
}
