import type * as Mcp from "@modelcontextprotocol/server";
import { WritError } from "../../error/writ-error.ts";
import { isJsonObject, type JsonObject } from "../../util/json.ts";
import type { Caller } from "../callers.ts";
import { problemOf } from "../problems.ts";
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
  /** The calls that have no answer yet. */
  readonly atWork: Set<Promise<unknown>>;
}

/** A server of the protocol, for one caller. */
interface Side extends Serving {
  readonly caller: Caller;
  readonly server: Mcp.Server;
}

/** Makes a server of the protocol for one caller, who sees what is theirs alone: of the rest it says nothing, also not that it is there. */
export function protocolServer(caller: Caller, serving: Serving): Mcp.Server {
  const { resources, prompts } = serving.offer;
  const capabilities = {
    tools: {},
    ...(resources.size === 0 ? {} : { resources: {} }),
    ...(prompts.size === 0 ? {} : { prompts: {} }),
  };
  const server = new serving.library.Server({ name: "writ", version: "1.0.0" }, { capabilities });
  const side = { ...serving, caller, server };
  offerTools(side);
  if (resources.size > 0) offerResources(side);
  if (prompts.size > 0) offerPrompts(side);
  return server;
}

/** Those of an offer that the caller may use. */
function seenBy<Each extends { readonly owner: string }>(
  { mayUse }: Caller,
  all: ReadonlyMap<string, Each>,
): readonly Each[] {
  return [...all.values()].filter(({ owner }) => mayUse(owner));
}

function offerTools(side: Side): void {
  const { server, around, caller, library } = side;
  const tools = seenBy(caller, side.offer.tools);
  const waits = around.approvals !== "refuse";
  server.setRequestHandler("tools/list", () => ({
    tools: [...tools, ...(waits ? [runResultTool] : [])].map(described),
  }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const act = async (): Promise<Mcp.CallToolResult | Mcp.InputRequiredResult> => {
      const calling = callingOf(side, jsonOf(params.arguments), context);
      const isLater = waits && params.name === runResultTool.name;
      const round = isLater
        ? await laterRound(tools, calling, around)
        : await carryOut(named(tools, params.name) ?? noSuch(side, "tool"), calling, around);
      return "ask" in round ? askedIn(library, round) : round.result;
    };
    return answering(side, context, { act, asResult: failure });
  });
}

function offerResources(side: Side): void {
  const { server, around, caller, library } = side;
  const resources = seenBy(caller, side.offer.resources);
  server.setRequestHandler("resources/list", () => ({ resources: resources.map(shownResource) }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params: { uri } }, context) => {
    const act = async (): Promise<Mcp.ReadResourceResult | Mcp.InputRequiredResult> => {
      const found = resources.find((each) => each.uri === uri);
      if (found === undefined) throw new library.ResourceNotFoundError(uri.slice(0, 200));
      const round = await carryOut(found, callingOf(side, {}, context), around);
      return "ask" in round ? askedIn(library, round) : contentsOf(found, round);
    };
    return answering(side, context, { act });
  });
}

function offerPrompts(side: Side): void {
  const prompts = seenBy(side.caller, side.offer.prompts);
  side.server.setRequestHandler("prompts/list", () => ({
    prompts: prompts.map(({ name, description }) => ({ name, description, arguments: [inputArgument] })),
  }));
  side.server.setRequestHandler("prompts/get", ({ params }) => {
    const { description, text } = named(prompts, params.name) ?? noSuch(side, "prompt");
    const input = params.arguments?.[inputArgument.name];
    const words = input === undefined ? text : `${text}\n\n${input}`;
    return { description, messages: [{ role: "user", content: { type: "text", text: words } }] };
  });
}

/** Refuses a name. Of what is not the caller's nothing is said that is not said of what is not there. */
function noSuch({ library: { ProtocolError, ProtocolErrorCode } }: Side, what: string): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no such ${what}`);
}

const named = <Each extends { readonly name: string }>(
  all: readonly Each[],
  wanted: string,
): Each | undefined => all.find(({ name }) => name === wanted);

function callingOf(side: Side, args: JsonObject, context: Mcp.ServerContext): Calling {
  const { mcpReq } = context;
  return {
    caller: side.caller,
    args,
    answers: mcpReq.inputResponses ?? {},
    place: placeIn(mcpReq.requestState()),
    canAsk: canAsk(side, context),
    signal: mcpReq.signal,
    progress: progressTo(context),
  };
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
  const { run: asked } = calling.args;
  const id = typeof asked === "string" ? asked : "";
  const run = await around.runs.show(calling.caller.prefix + id);
  const offered = tools.find(({ runner }) => runner.name === run?.agent);
  if (run === undefined || offered === undefined)
    throw new WritError("run-missing", { id: id.slice(0, 200) });
  return followCall(run.id, { offered, calling }, around);
}

const jsonOf = (args: unknown): JsonObject => (isJsonObject(args) ? args : {});

function described({
  name,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: Pick<OfferedTool, keyof typeof runResultTool | "outputSchema">): Mcp.Tool {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schemas of tools are of objects
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  } as Mcp.Tool;
}

const shownResource = ({ uri, name, description }: OfferedResource): Mcp.Resource => ({
  uri,
  name,
  description,
});

/** @throws Error for knowledge that could not be read */
function contentsOf(
  { uri }: OfferedResource,
  { result, value }: Extract<Round, { readonly result: unknown }>,
): Mcp.ReadResourceResult {
  if (result.isError === true || value === undefined)
    throw new WritError("request-invalid", {
      where: "the resource",
      reason: value?.text ?? "it was not read",
    });
  const mimeType = typeof value.value === "string" ? "text/plain" : "application/json";
  return { contents: [{ uri, mimeType, text: value.text }] };
}

/** Questions as the protocol has them; the client comes back with the answers. */
function askedIn(
  library: Library,
  { ask, place }: Extract<Round, { readonly ask: unknown }>,
): Mcp.InputRequiredResult {
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
function canAsk({ library, server }: Side, { mcpReq: { envelope = {} } }: Mcp.ServerContext): boolean {
  const ofRequest: unknown = Reflect.get(envelope, library.CLIENT_CAPABILITIES_META_KEY);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library has read them
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

interface Answering<Result> {
  readonly act: () => Promise<Result>;
  /** Tells an error that the caller can mend as a result. Default: it is an error of the protocol. */
  readonly asResult?: (text: string) => Result;
}

/** Gives what a client may know of an error; the server's own troubles stay with the server. */
async function answering<Result>(
  { library: { ProtocolError, ProtocolErrorCode }, onError, atWork }: Side,
  { mcpReq: { signal } }: Mcp.ServerContext,
  { act, asResult }: Answering<Result>,
): Promise<Result> {
  const working = act();
  atWork.add(working);
  try {
    return await working;
  } catch (error) {
    if (error instanceof ProtocolError || signal.aborted) throw error;
    const { title, detail = title, status } = problemOf(error);
    if (status === 500) onError(error);
    if (status < 500 && asResult !== undefined) return asResult(detail);
    const { InvalidParams, InternalError } = ProtocolErrorCode;
    throw new ProtocolError(status < 500 ? InvalidParams : InternalError, detail);
  } finally {
    atWork.delete(working);
  }
}
