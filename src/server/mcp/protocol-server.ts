import type * as Mcp from "@modelcontextprotocol/server";
import { WritError } from "../../error/writ-error.ts";
import { asObject } from "../../util/json.ts";
import type { Caller } from "../callers.ts";
import { type Calling, carryOut, followCall, type McpAround, type Round } from "./call.ts";
import type { Library } from "./library.ts";
import type { OfferedResource, OfferedTool } from "./offer.ts";
import { formName, formOf } from "./questions.ts";
import { failure } from "./result.ts";
import { answering, callingOf, noSuch, ofRun, type Serving, type Side } from "./side.ts";
import { createdTask, offerTasks, taskCapabilities, taskWish } from "./tasks.ts";

/** Makes a server of the protocol for one caller. It shows only what the caller may use, and does not say that there is more. */
export function protocolServer(caller: Caller, serving: Serving): Mcp.Server {
  const { resources, prompts } = serving.offer;
  const capabilities = {
    tools: {},
    ...taskCapabilities,
    ...(resources.size === 0 ? {} : { resources: {} }),
    ...(prompts.size === 0 ? {} : { prompts: {} }),
  };
  const server = new serving.library.Server({ name: "writ", version: "1.0.0" }, { capabilities });
  const side = { ...serving, caller, server };
  offerTools(side);
  offerTasks(side, seenBy(caller, serving.offer.tools));
  if (resources.size > 0) offerResources(side);
  if (prompts.size > 0) offerPrompts(side);
  return server;
}

/** The parts of an offer that the caller may use. */
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
      const calling = callingOf(side, asObject(params.arguments), context);
      const isLater = waits && params.name === runResultTool.name;
      const task = taskWish(side, params, context);
      const round = isLater
        ? await laterRound(tools, calling, around)
        : await carryOut(named(tools, params.name) ?? noSuch(side, "tool"), { ...calling, task }, around);
      if ("task" in round) return createdTask(side, round.task, context);
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

const named = <Each extends { readonly name: string }>(
  all: readonly Each[],
  wanted: string,
): Each | undefined => all.find(({ name }) => name === wanted);

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

/** Follows a run of the caller that an earlier round left waiting. @throws WritError `run-missing` */
async function laterRound(
  tools: readonly OfferedTool[],
  calling: Calling,
  around: McpAround,
): Promise<Round> {
  const { run: asked } = calling.args;
  const { id, offered } = await ofRun(tools, asked, { caller: calling.caller, around });
  return followCall(id, { offered, calling }, around);
}

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
    ...(name === runResultTool.name ? {} : { execution: { taskSupport: "optional" } }),
  } as Mcp.Tool;
}

const shownResource = ({ uri, name, description }: OfferedResource): Mcp.Resource => ({
  uri,
  name,
  description,
});

/** @throws Error for knowledge that could not be read */
function contentsOf({ uri }: OfferedResource, round: Round): Mcp.ReadResourceResult {
  const { result, value } = "result" in round ? round : {};
  if (result?.isError === true || value === undefined)
    throw new WritError("request-invalid", {
      where: "the resource",
      reason: value?.text ?? "it was not read",
    });
  const mimeType = typeof value.value === "string" ? "text/plain" : "application/json";
  return { contents: [{ uri, mimeType, text: value.text }] };
}

/** Questions in the form of the protocol; the client sends another request with the answers. */
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
