import type * as Mcp from "@modelcontextprotocol/server";
import { isWritError, WritError } from "../../error/writ-error.ts";
import { isJsonObject, type JsonObject } from "../../util/json.ts";
import type { Caller } from "../callers.ts";
import { problemOf, statusOf } from "../problems.ts";
import { type Calling, carryOut, followCall, type McpAround, type Place, type Round } from "./call.ts";
import type { Library } from "./library.ts";
import type { Offer, OfferedResource, OfferedTool } from "./offer.ts";
import { formName, formOf } from "./questions.ts";
import { failure } from "./result.ts";

/** What a server of the protocol is made of. */
export interface Serving {
  readonly library: Library;
  readonly offer: Offer;
  readonly around: McpAround;
  /** Told what a client was answered with an internal error for. */
  readonly onError: (error: unknown) => unknown;
}

/** Makes a server of the protocol for one caller, who sees what is theirs alone: of the rest it says nothing, also not that it is there. */
export function protocolServer(caller: Caller, serving: Serving): Mcp.Server {
  const { library, offer, around } = serving;
  const { tools, resources, prompts } = offer;
  const seen = <Each extends { readonly owner: string }>(all: ReadonlyMap<string, Each>): readonly Each[] =>
    [...all.values()].filter(({ owner }) => caller.mayUse(owner));
  const server = new library.Server(
    { name: "writ", version: "1.0.0" },
    {
      capabilities: {
        tools: {},
        ...(resources.size === 0 ? {} : { resources: {} }),
        ...(prompts.size === 0 ? {} : { prompts: {} }),
      },
    },
  );
  const none = (what: string): never => {
    throw new library.ProtocolError(library.ProtocolErrorCode.InvalidParams, `there is no such ${what}`);
  };
  const callOf = (args: JsonObject, context: Mcp.ServerContext): Calling => ({
    caller,
    args,
    answers: context.mcpReq.inputResponses ?? {},
    place: placeIn(context.mcpReq.requestState()),
    canAsk: canAsk(library, server, context),
    signal: context.mcpReq.signal,
    progress: progressTo(context),
  });
  /** The round as the protocol has it. */
  const told = <Result>(round: Round, result: (round: Extract<Round, { readonly result: unknown }>) => Result) =>
    "ask" in round ? asked(library, round) : result(round);

  server.setRequestHandler("tools/list", () => ({
    tools: [
      ...seen(tools).map(described),
      ...(around.approvals === "refuse" ? [] : [runResultTool]),
    ] as Mcp.Tool[],
  }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    answering({ ...serving, signal: context.mcpReq.signal }, async () => {
      const calling = callOf(jsonOf(params.arguments), context);
      if (around.approvals !== "refuse" && params.name === runResultTool.name)
        return told(await laterRound(seen(tools), calling, around), ({ result }) => result);
      const found = seen(tools).find(({ name }) => name === params.name) ?? none("tool");
      return told(await carryOut(found, calling, around), ({ result }) => result);
    }, failure),
  );
  if (resources.size > 0) {
    server.setRequestHandler("resources/list", () => ({ resources: seen(resources).map(shownResource) }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
    server.setRequestHandler("resources/read", ({ params: { uri } }, context) =>
      answering({ ...serving, signal: context.mcpReq.signal }, async () => {
        const found = seen(resources).find((each) => each.uri === uri);
        if (found === undefined) throw new library.ResourceNotFoundError(uri.slice(0, 200));
        return told(await carryOut(found, callOf({}, context), around), (round) => contentsOf(found, round));
      }),
    );
  }
  if (prompts.size > 0) {
    server.setRequestHandler("prompts/list", () => ({
      prompts: seen(prompts).map(({ name, description }) => ({ name, description, arguments: [inputArgument] })),
    }));
    server.setRequestHandler("prompts/get", ({ params }) => {
      const { description, text } = seen(prompts).find(({ name }) => name === params.name) ?? none("prompt");
      const input = params.arguments?.[inputArgument.name];
      const words = input === undefined ? text : `${text}\n\n${input}`;
      return { description, messages: [{ role: "user", content: { type: "text", text: words } }] };
    });
  }
  return server;
}

const inputArgument = { name: "input", description: "The task", required: false };

const runResultTool = {
  name: "run_result",
  description: "The result of a call that was not done because it waited for an approval",
  inputSchema: {
    type: "object",
    properties: { run: { type: "string", description: "The id of the run, as the call gave it" } },
    required: ["run"],
  },
  annotations: { readOnlyHint: true },
};

/** Looks at a run of the caller that was left waiting. @throws WritError `run-missing` */
async function laterRound(
  tools: readonly OfferedTool[],
  calling: Calling,
  around: McpAround,
): Promise<Round> {
  const id = String(calling.args["run"] ?? "");
  const run = await around.runs.show(calling.caller.prefix + id);
  const offered = tools.find(({ runner }) => runner.name === run?.agent);
  if (run === undefined || offered === undefined) throw new WritError("run-missing", { id: id.slice(0, 200) });
  return followCall(run.id, { offered, calling }, around);
}

const jsonOf = (args: unknown): JsonObject => (isJsonObject(args as never) ? (args as JsonObject) : {});

function described({ name, description, inputSchema, outputSchema, annotations }: OfferedTool): object {
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

const shownResource = ({ uri, name, description }: OfferedResource): Mcp.Resource => ({ uri, name, description });

/** @throws Error for knowledge that could not be read */
function contentsOf(
  { uri }: OfferedResource,
  { result, value }: Extract<Round, { readonly result: unknown }>,
): Mcp.ReadResourceResult {
  if (result.isError === true || value === undefined)
    throw new WritError("request-invalid", { where: "the resource", reason: value?.text ?? "it was not read" });
  const mimeType = typeof value.value === "string" ? "text/plain" : "application/json";
  return { contents: [{ uri, mimeType, text: value.text }] };
}

/** Questions as the protocol has them; the client comes back with the answers. */
function asked(library: Library, { ask, place }: Extract<Round, { readonly ask: unknown }>): Mcp.InputRequiredResult {
  const { inputRequired } = library;
  const inputRequests = Object.fromEntries(
    ask.map((question) => [formName(question), inputRequired.elicit(formOf(question))]),
  );
  return inputRequired({ inputRequests, requestState: `${place.seq} ${place.run}` });
}

/** The place that a client came back with: the id of a run of its own, or of none. */
function placeIn(state: unknown): Place | undefined {
  const [, seq, run] = (typeof state === "string" && /^(\d{1,15}) (.{1,300})$/.exec(state)) || [];
  return run === undefined ? undefined : { seq: Number(seq), run };
}

/** True for a client that shows forms to a person. */
function canAsk(library: Library, server: Mcp.Server, { mcpReq: { envelope } }: Mcp.ServerContext): boolean {
  const ofRequest: unknown = (envelope as Readonly<Record<string, unknown>> | undefined)?.[
    library.CLIENT_CAPABILITIES_META_KEY
  ];
  const { elicitation } = (ofRequest ?? server.getClientCapabilities() ?? {}) as Mcp.ClientCapabilities;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function progressTo({ mcpReq }: Mcp.ServerContext): Calling["progress"] {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return () => undefined;
  return (progress) => {
    const params = { ...progress, progressToken: token };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined); // nobody listens any more
  };
}

/** Gives what a client may know of an error; the server's own troubles stay with the server. */
async function answering<Result>(
  { library, onError, signal }: Serving & { readonly signal: AbortSignal },
  act: () => Promise<Result>,
  asResult?: (text: string) => Result,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof library.ProtocolError || signal.aborted) throw error;
    const { ProtocolError, ProtocolErrorCode } = library;
    if (statusOf(error) === undefined || !isWritError(error)) {
      onError(error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, "the server failed");
    }
    const { title, detail = title, status } = problemOf(error);
    if (asResult !== undefined && status < 500) return asResult(detail);
    throw new ProtocolError(
      status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      detail,
    );
  }
}

