import { WritError } from "../error/writ-error.ts";
import type { UserMessage } from "../message/message.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { json, type Route } from "../server/route.ts";
import type { Json } from "../util/json.ts";
import type { KnownAgent, RunsToInspect } from "./load-run.ts";
import { playCall } from "./play-call.ts";
import type { RunsBegunHere } from "./runs-begun-here.ts";
import type { PlayableTool, PlayedCall } from "./view.ts";

/** The agents and the store of the playground. */
export interface Playing {
  readonly around: RunsToInspect;
  readonly begunHere: RunsBegunHere;
}

const text: JsonSchema = { type: "string", maxLength: 1_000_000 };
const ofAgent = { agent: text };
const callSchema: JsonSchema = {
  type: "object",
  properties: {
    tool: text,
    arguments: {},
    asked: text,
    stranger: text,
    mode: { enum: ["judge", "run", "approve"] },
  },
  required: ["tool", "arguments", "asked", "mode"],
  additionalProperties: false,
};
const chatSchema: JsonSchema = {
  type: "object",
  properties: {
    said: {
      type: "array",
      minItems: 1,
      maxItems: 1000,
      items: {
        type: "object",
        properties: { by: { enum: ["user", "agent"] }, text },
        required: ["by", "text"],
        additionalProperties: false,
      },
    },
  },
  required: ["said"],
  additionalProperties: false,
};

/** The routes of the playground: conversations with an agent, and calls that are tried on it. */
export function playRoutes({ around, begunHere }: Playing): readonly Route[] {
  const { host, known } = around;
  return [
    {
      method: "get",
      path: "/api/play",
      summary: "The tools of an agent, with their schemas",
      query: ofAgent,
      answer: { status: 200 },
      act: ({ query }) => json({ tools: toolsOf(knownAgent(query["agent"], known)) }),
    },
    {
      method: "post",
      path: "/api/play/call",
      summary: "Tries one call on an agent, and gives the view of that run, which is not kept",
      query: ofAgent,
      body: callSchema,
      answer: { status: 200 },
      async act({ query, body }) {
        const found = knownAgent(query["agent"], known);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
        return json(await playCall(found.agent, body as unknown as PlayedCall, { host, known: found }));
      },
    },
    {
      method: "post",
      path: "/api/play/chat",
      summary: "Begins a run of an agent with what was said, and carries it out here",
      query: ofAgent,
      body: chatSchema,
      answer: { status: 201 },
      async act({ runs, query, body }) {
        const { agent } = knownAgent(query["agent"], known);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
        const { said } = body as unknown as { readonly said: readonly Said[] };
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is read by the agent's own schema
        return begunHere.begin(await runs.start(agent, conversationOf(said) as never));
      },
    },
  ];
}

interface Said {
  readonly by: "user" | "agent";
  readonly text: string;
}

/** The messages as an agent takes them: one text, or the conversation with the earlier ones. */
function conversationOf(said: readonly Said[]): Json | readonly (UserMessage | object)[] {
  const [only] = said;
  if (said.length === 1 && only !== undefined) return only.text;
  return said.map(({ by, text: words }) => ({
    role: by === "user" ? "user" : "assistant",
    parts: [{ type: "text", text: words }],
  }));
}

/** @throws WritError `request-forbidden` */
function knownAgent(
  name: string | undefined,
  known: RunsToInspect["known"],
): KnownAgent & Required<Pick<KnownAgent, "agent">> {
  const found = known.get(name ?? "");
  if (found?.agent !== undefined) return { ...found, agent: found.agent };
  const reason = `there is no program of "${name ?? ""}" here that can be tried: name it, \`writ inspect agent.ts\``;
  throw new WritError("request-forbidden", { reason });
}

/** The tools that a definition lists, for a form. */
function toolsOf({ tools = [], manifest }: KnownAgent): readonly PlayableTool[] {
  const effects = new Map(
    Object.values(manifest?.skills ?? {}).flatMap((skill) =>
      Object.entries(skill.tools).map(([name, { effect }]) => [name, effect] as const),
    ),
  );
  return tools.map(({ name, input }) => {
    const effect = effects.get(name);
    return {
      name,
      schema: input?.jsonSchema ?? { type: "object" },
      ...(effect === undefined ? {} : { effect }),
    };
  });
}
