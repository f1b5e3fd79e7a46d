import type * as Mcp from "@modelcontextprotocol/server";
import { messageOf, WritError } from "../../error/writ-error.ts";
import type { StoredRun } from "../../durable/run-store.ts";
import type { Caller } from "../callers.ts";
import { ownError, problemOf } from "../problems.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Calling, McpAround, Place } from "./call.ts";
import { formName, formOf } from "./questions.ts";
import type { Library } from "./library.ts";
import type { Offer, OfferedTool } from "./offer.ts";

/** The parts of a server of the protocol. */
export interface Serving {
  readonly library: Library;
  readonly offer: Offer;
  readonly around: McpAround;
  /** Called with each error that a client was told as an internal error. */
  readonly onError: (error: unknown) => unknown;
  /** The calls that have no answer yet. */
  readonly atWork: Set<Promise<unknown>>;
}

/** A server of the protocol, for one caller. */
export interface Side extends Serving {
  readonly caller: Caller;
  readonly server: Mcp.Server;
}

/** Refuses a name. The refusal does not say whether it is another caller's or does not exist. */
export function noSuch({ library: { ProtocolError, ProtocolErrorCode } }: Side, what: string): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no such ${what}`);
}

/** The run that a client names, and the tool that it calls. @throws WritError `run-missing` if the run is not the caller's */
export async function ofRun(
  tools: readonly OfferedTool[],
  asked: unknown,
  { caller, around }: Pick<Side, "caller" | "around">,
): Promise<{ readonly id: string; readonly offered: OfferedTool; readonly run: StoredRun }> {
  const id = typeof asked === "string" ? asked : "";
  const run = await around.runs.show(caller.prefix + id);
  const offered = tools.find(({ runner }) => runner.name === run?.agent);
  if (run === undefined || offered === undefined)
    throw new WritError("run-missing", { id: caller.prefix + id.slice(0, 200) });
  return { id: run.id, offered, run };
}

/** The features of a client, from its request or from the beginning of its session. */
export function abilitiesOf(
  { library, server }: Side,
  { mcpReq: { envelope = {} } }: Mcp.ServerContext,
): Mcp.ClientCapabilities {
  const ofRequest: unknown = Reflect.get(envelope, library.CLIENT_CAPABILITIES_META_KEY);
  return ofRequest ?? server.getClientCapabilities() ?? {}; // the library has read those of the request
}

/** True of requests of 2026-07-28, each of which names its client; false of those of a session. */
export const isStateless = ({ mcpReq: { envelope } }: Mcp.ServerContext): boolean => envelope !== undefined;

/** The milliseconds that a person at a client has for an answer. */
const timeout = 600_000;

/** Asks the person at the client of a session, one question after another. `more` is sent with each question. */
export function elicitIn(
  { around: { leaving } }: Side,
  { mcpReq }: Mcp.ServerContext,
  more: object = {},
): NonNullable<Calling["elicit"]> {
  const signal = AbortSignal.any([mcpReq.signal, leaving]);
  return async (questions) => {
    const answers: Record<string, unknown> = {};
    try {
      for (const question of questions)
        answers[formName(question)] = await mcpReq.elicitInput(
          { ...formOf(question), ...more },
          { timeout, signal },
        );
      return answers;
    } catch (error) {
      signal.throwIfAborted();
      throw new WritError(
        "request-invalid",
        { where: "the form", reason: messageOf(error) },
        { cause: error },
      );
    }
  };
}

export function callingOf(side: Side, args: JsonObject, context: Mcp.ServerContext): Calling {
  const { mcpReq } = context;
  return {
    caller: side.caller,
    args,
    answers: mcpReq.inputResponses ?? {},
    place: placeIn(mcpReq.requestState()),
    canAsk: canAsk(side, context),
    elicit: isStateless(context) ? undefined : elicitIn(side, context),
    signal: mcpReq.signal,
    progress: progressTo(context),
  };
}

/** The place that a client sent back, if it has the form of a place; the run may be another caller's. */
function placeIn(state: unknown): Place | undefined {
  const [, seq, run] = (typeof state === "string" && /^(\d{1,15}) (.{1,300})$/.exec(state)) || [];
  return run === undefined ? undefined : { seq: Number(seq), run };
}

/** True for a client that shows forms to a person. */
function canAsk(side: Side, context: Mcp.ServerContext): boolean {
  const { elicitation } = abilitiesOf(side, context);
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function progressTo({ mcpReq }: Mcp.ServerContext): Calling["progress"] {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return undefined;
  return (progress) => {
    const params = { ...progress, progressToken: token };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined); // nobody listens any more
  };
}

interface Answering<Result> {
  readonly act: () => Promise<Result>;
  /** Makes a result of an error that the caller can mend. Default: the caller gets an error of the protocol. */
  readonly asResult?: (text: string) => Result;
}

/** Answers with the part of an error that a client may know; faults of the server stay with the server. */
export async function answering<Result>(
  { library: { ProtocolError, ProtocolErrorCode }, onError, atWork, caller }: Side,
  { mcpReq: { signal } }: Mcp.ServerContext,
  { act, asResult }: Answering<Result>,
): Promise<Result> {
  const working = act();
  atWork.add(working);
  try {
    return await working;
  } catch (error) {
    if (error instanceof ProtocolError || signal.aborted) throw error;
    const { title, detail = title, status } = problemOf(ownError(error, caller));
    if (status === 500) onError(error);
    if (status < 500 && asResult !== undefined) return asResult(detail);
    const { InvalidParams, InternalError } = ProtocolErrorCode;
    throw new ProtocolError(status < 500 ? InvalidParams : InternalError, detail);
  } finally {
    atWork.delete(working);
  }
}
