import {
  convertToModelMessages,
  isToolUIPart,
  readUIMessageStream,
  type UIDataTypes,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Agent, agent, inMemorySessions, session, tool } from "../../src/index.ts";
import { account, inMemoryAccounts } from "../../src/policy.ts";
import { scripted } from "../../src/testing.ts";
import type { Server } from "../../src/server.ts";
import { ask, runsFile, serving, told, uiChunks } from "./scene.ts";

/** The tools as the author of a page declares them. */
type Shown = UIMessage<
  unknown,
  UIDataTypes,
  { weather: { input: { city: string; days: number }; output: { rain: boolean } } }
>;

const weather = tool({
  name: "weather",
  description: "",
  inputSchema: z.object({ city: z.string(), days: z.number().default(3) }),
  effect: "read",
  execute: ({ city }) => ({ rain: city === "Lima" }),
});

const call = (name: string, args: object) => ({ calls: [{ name, arguments: { ...args } }] });

function serverOf(one: Agent): Server {
  const store = inMemorySessions();
  return serving(runsFile(), { agents: [one], sessions: (id) => session(store, id) });
}

/** Each state of a message that the client of the AI SDK makes of an answer. */
async function states(server: Server, message: object, rest = {}): Promise<Shown[]> {
  const answer = await ask(server, "POST /chat/clerk", { body: { id: "c", messages: [message], ...rest } });
  const chunks = uiChunks(answer);
  const seen: Shown[] = [];
  const before = "role" in message && message.role === "assistant" ? { message: message as Shown } : {};
  for await (const state of readUIMessageStream<Shown>({ stream: chunks, terminateOnError: true, ...before }))
    seen.push(structuredClone(state));
  return seen;
}

const user = { id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] };
const kept = async (server: Server): Promise<UIMessage[]> =>
  (await told(ask(server, "GET /chat/clerk/c"))).messages ?? [];

const typed = (message: Shown | undefined) =>
  (message?.parts ?? []).flatMap((part) => (part.type === "tool-weather" ? [part] : []));

describe("the parts of calls in a chat", () => {
  it("have the names of the agent's tools as their types, with arguments and results of their types", async () => {
    const model = scripted([call("weather", { city: "Lima" }), "Rain."]);
    const server = serverOf(agent({ name: "clerk", tools: [weather], model }));
    const seen = await states(server, user);
    const part = { type: "tool-weather", state: "output-available", output: { rain: true } };
    expect(typed(seen.at(-1))).toMatchObject([{ ...part, input: { city: "Lima", days: 3 } }]);
    expect((await kept(server))[1]?.parts[1]).toMatchObject(part);
    const messages = await validateUIMessages<Shown>({ messages: await kept(server) });
    expect(JSON.stringify(await convertToModelMessages(messages))).toContain('"toolName":"weather"');
  });

  it("are dynamic for tools of servers, and for names that the model made up", async () => {
    const origin = { server: "town", pin: "0", approved: true };
    const model = scripted([
      {
        calls: [
          { name: "weather", arguments: { city: "Lima" } },
          { name: "no_such", arguments: {} },
        ],
      },
      "Rain.",
    ]);
    const server = serverOf(agent({ name: "clerk", tools: [{ ...weather, origin }], model }));
    const parts = (await states(server, user)).at(-1)?.parts.filter(isToolUIPart);
    expect(parts?.map(({ type }) => type)).toEqual(["dynamic-tool", "dynamic-tool"]);
  });

  it("never say of wrong arguments that they are there", async () => {
    const model = scripted([call("weather", { town: 5 }), "I cannot."]);
    const server = serverOf(agent({ name: "clerk", tools: [weather], model }));
    const seen = await states(server, user);
    expect(new Set(seen.flatMap((message) => typed(message).map(({ state }) => state)))).toEqual(
      new Set(["output-error"]),
    );
    expect((await kept(server))[1]?.parts[1]).toMatchObject({ state: "output-error" });
  });

  it("have the no of a policy, as pages look for it in denied parts", async () => {
    const policy = () => ({ verdict: "deny", rule: "closed", reason: "the office is closed" }) as const;
    const model = scripted([call("weather", { city: "Lima" }), "Closed."]);
    const server = serverOf(agent({ name: "clerk", tools: [weather], model, policy }));
    const last = (await states(server, user)).at(-1);
    for (const message of [last, (await kept(server))[1]]) {
      const approval = { approved: false, reason: expect.stringContaining("the office is closed") };
      expect(message?.parts[1]).toMatchObject({ state: "output-denied", approval });
      expect(await validateUIMessages({ messages: [message] })).toHaveLength(1);
    }
  });

  it("have the arguments that a person is asked about, and those that a person wrote", async () => {
    const model = scripted([call("weather", { city: "Lima" }), "Rain."]);
    const asking = agent({
      name: "clerk",
      tools: [weather],
      model,
      hooks: [
        {
          name: "far",
          beforeToolCall: ({ arguments: args }) =>
            JSON.stringify(args).includes("Lima") ? { arguments: { city: "Oslo" } } : undefined,
        },
      ],
      policy: () => ({ verdict: "ask", rule: "all", reason: "it asks" }),
    });
    const server = serverOf(asking);
    const message = (await states(server, user)).at(-1);
    const [part] = typed(message);
    expect(part).toMatchObject({ state: "approval-requested", input: { city: "Oslo", days: 3 } });
    const approval = { id: part?.approval?.id ?? "", approved: true };
    const parts = message?.parts.map((one) =>
      one === part ? { ...one, state: "approval-responded", approval } : one,
    );
    const rest = { arguments: { [approval.id]: { city: "Rome", days: 1 } } };
    const seen = await states(server, { ...message, parts }, rest);
    const ran = { state: "output-available", input: { city: "Rome", days: 1 }, output: { rain: false } };
    expect(typed(seen.at(-1))).toMatchObject([ran]);
    expect((await kept(server))[1]?.parts[1]).toMatchObject(ran);
  });

  it("end with the bound that the run met, in words", async () => {
    const accounts = inMemoryAccounts();
    const limited = account({ store: accounts, key: "kim", limits: { runs: 1 }, per: "day" });
    const server = serverOf(agent({ name: "clerk", model: () => "Hi.", account: limited }));
    await states(server, user);
    await expect(states(server, { ...user, id: "m2" })).rejects.toThrow(
      'The run exceeded the runs limit of 1 per day of account "kim"',
    );
  });
});
