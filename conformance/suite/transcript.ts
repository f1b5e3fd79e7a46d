/** The requests that a provider refuses: the rules of OpenAI's chat completions for calls and results, which other providers share. */

/** A message of a request. */
export interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly {
    readonly id?: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** Says in the provider's words what is wrong with the messages; undefined where nothing is. */
export function faultOf(messages: readonly Message[]): string | undefined {
  let open = new Set<string>();
  for (const [index, { role, tool_calls: calls = [], tool_call_id: id = "" }] of messages.entries()) {
    if (role === "tool") {
      if (!open.delete(id))
        return `messages[${index}]: a message with role 'tool' must answer a preceding message with 'tool_calls', once; '${id}' is not open`;
      continue;
    }
    if (open.size > 0) return unanswered(open);
    const ids = calls.map((call) => call.id ?? "");
    open = new Set(ids);
    if (open.size < ids.length)
      return `messages[${index}]: duplicate value for 'tool_call_id' in ${ids.join(", ")}`;
    if (open.has("")) return `messages[${index}]: a tool call has no id`;
  }
  return open.size > 0 ? unanswered(open) : undefined;
}

function unanswered(open: ReadonlySet<string>): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages for each; without: ${[...open].join(", ")}`;
}
