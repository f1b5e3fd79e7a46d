/** The provider's behaviour in each scenario of bench/failures.ts, as functions over the response: the same for every peer. */
import type { ServerResponse } from "node:http";

/** The question of every run, and the reply of the server's model where nothing goes wrong. */
export const question = "What is 2 + 35?";
export const answer = "2 + 35 is 37.";
const written = '{"a":2,"b":35}';

/** One request: how many were before it, and whether it has a tool's result with the right sum in it. */
export interface Asked {
  readonly before: number;
  readonly afterTool: boolean;
  /** The requests before it that had the right sum in a result too. */
  readonly toolsBefore: number;
}

export interface Scenario {
  readonly name: string;
  /** The behaviour of the server, in the words of the page. */
  readonly does: string;
  /** Each parameter of the tool has a default, so that a call without arguments is a right one. */
  readonly defaults?: true;
  /** The arguments that the model wrote whole in this scenario, apart from `written`. */
  readonly alsoWritten?: readonly string[];
  readonly respond: (asked: Asked, response: ServerResponse) => void | Promise<void>;
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

const adding: Call = { id: "call_1", name: "add", arguments: written };

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  chunk(response, { role: "assistant", content: "" });
}

function send(response: ServerResponse, data: unknown): void {
  response.write(`data: ${JSON.stringify(data)}\n\n`);
}

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "mock" };

function chunk(response: ServerResponse, delta: object, finish?: string): void {
  send(response, { ...head, choices: [{ index: 0, delta, finish_reason: finish ?? null }] });
}

function end(response: ServerResponse, finish: string, usage = true): void {
  chunk(response, {}, finish);
  if (usage)
    send(response, {
      ...head,
      choices: [],
      usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 },
    });
  response.end("data: [DONE]\n\n");
}

function text(response: ServerResponse, words: string): void {
  for (const word of words.split(/(?<= )/)) chunk(response, { content: word });
}

/** The start of a call, and its arguments in two pieces. */
function call(response: ServerResponse, { id, name, arguments: args }: Call, index = 0): void {
  chunk(response, { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
  const half = Math.ceil(args.length / 2);
  for (const piece of [args.slice(0, half), args.slice(half)])
    chunk(response, { tool_calls: [{ index, function: { arguments: piece } }] });
}

function calls(response: ServerResponse, ...all: readonly Call[]): void {
  begin(response);
  for (const [index, one] of all.entries()) call(response, one, index);
  end(response, "tool_calls");
}

function says(response: ServerResponse, words: string, finish = "stop"): void {
  begin(response);
  text(response, words);
  end(response, finish);
}

/** A call of `add` with an id of its own, and after its result the answer. */
function well({ afterTool, before }: Asked, response: ServerResponse): void {
  if (afterTool) says(response, answer);
  else calls(response, { ...adding, id: `call_${before + 1}` });
}

function fault(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ error: { message: `status ${status}`, type: "server_error", code: null } }));
}

/** Waits until the pieces so far are sent, then closes the connection. */
async function breakOff(response: ServerResponse): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  response.destroy();
}

/** The first reply is `first`, and from then on all is well: a second call is `adding`, its result brings the answer. */
function firstCalls(...first: readonly Call[]): Scenario["respond"] {
  return ({ before }, response) => {
    if (before === 0) calls(response, ...first);
    else if (before === 1) calls(response, { ...adding, id: "call_2" });
    else says(response, answer);
  };
}

/** A reply that stops in the middle, once: with the connection broken, or with an end of the stream that lacks its finish reason. */
function cut(where: "text" | "arguments", how: "broken" | "ended"): Scenario {
  const stop = how === "broken" ? "the connection breaks" : "the stream just ends";
  const partial = '{"a":2,"b":3';
  const respond: Scenario["respond"] = async (asked, response) => {
    const now = where === "text" ? asked.afterTool && asked.toolsBefore === 0 : asked.before === 0;
    if (!now) return well(asked, response);
    begin(response);
    if (where === "text") text(response, "2 + 35 ");
    else call(response, { ...adding, arguments: partial });
    if (how === "broken") return await breakOff(response);
    response.end();
  };
  const does = where === "text" ? "after `2 + 35 `" : `after \`${partial}\``;
  return { name: `cut in ${where}, ${how}`, does: `${does} ${stop}, once`, respond };
}

export const scenarios: readonly Scenario[] = [
  { name: "all well", does: "one call, then the answer", respond: well },
  {
    name: "429",
    does: "the first request gets 429 with `retry-after: 1`",
    respond: (asked, response) =>
      asked.before === 0 ? fault(response, 429, { "retry-after": "1" }) : well(asked, response),
  },
  {
    name: "500 once",
    does: "the first request gets 500",
    respond: (asked, response) => (asked.before === 0 ? fault(response, 500) : well(asked, response)),
  },
  {
    name: "503 in turn two",
    does: "the two requests after the call get 503, then the answer",
    respond: (asked, response) =>
      asked.afterTool && asked.toolsBefore < 2 ? fault(response, 503) : well(asked, response),
  },
  cut("text", "broken"),
  cut("text", "ended"),
  cut("arguments", "broken"),
  cut("arguments", "ended"),
  {
    name: "arguments that are no JSON",
    does: "the first call has the arguments `two and 35`, the second is right",
    respond: firstCalls({ ...adding, arguments: "two and 35" }),
  },
  {
    name: "no JSON, all with defaults",
    does: "the same, and each parameter of the tool has the default 0",
    defaults: true,
    respond: firstCalls({ ...adding, arguments: "two and 35" }),
  },
  {
    name: "unknown tool",
    does: "the first call is of `multiply`, the second of `add`",
    respond: firstCalls({ ...adding, name: "multiply" }),
  },
  {
    name: "one id twice",
    does: "two calls in one reply, 2 + 35 and 3 + 4, both `call_1`",
    alsoWritten: ['{"a":3,"b":4}'],
    respond: ({ afterTool }, response) => {
      if (afterTool) says(response, answer);
      else calls(response, adding, { ...adding, arguments: '{"a":3,"b":4}' });
    },
  },
  {
    name: "usage missing",
    does: "no reply says what it used",
    respond: ({ afterTool }, response) => {
      begin(response);
      if (afterTool) text(response, answer);
      else call(response, adding);
      end(response, afterTool ? "stop" : "tool_calls", false);
    },
  },
  {
    name: "content filter",
    does: "`I ca`, then finish reason `content_filter`",
    respond: (_asked, response) => says(response, "I ca", "content_filter"),
  },
  {
    name: "empty reply",
    does: "every reply is empty, with finish reason `stop`",
    respond: (_asked, response) => says(response, ""),
  },
  {
    name: "endless loop",
    does: "every reply is the same call, with a new id",
    respond: ({ before }, response) => calls(response, { ...adding, id: `call_${before}` }),
  },
  {
    name: "HTML with 200",
    does: "every request gets a page of a proxy with status 200",
    respond: (_asked, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!doctype html><html><body><h1>Sign in</h1></body></html>");
    },
  },
  {
    name: "error in the stream",
    does: "after `2 + 35 ` an error object stands in the stream, once",
    respond: (asked, response) => {
      if (!asked.afterTool || asked.toolsBefore > 0) return well(asked, response);
      begin(response);
      text(response, "2 + 35 ");
      send(response, { error: { message: "The server is overloaded.", type: "server_error", code: 503 } });
      response.end("data: [DONE]\n\n");
    },
  },
];

/** All arguments that were written whole in a scenario. */
export function writtenIn({ alsoWritten = [] }: Scenario): readonly string[] {
  return [written, ...alsoWritten];
}
