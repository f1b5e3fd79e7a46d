import { expect, it } from "vitest";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { agent, type AgentEvent } from "../../../src/index.ts";
import { openaiChunk as chunk } from "../../contract/openai-wire.ts";
import { sse } from "../../contract/played-server.ts";

it("keeps what a server says of its reply: its word for the end, logprobs, tier and what stopped it, in the event of the reply", async () => {
  const probable = (token: string): object => ({ content: [{ token, logprob: -0.5 }], refusal: null });
  const piece = (text: string): object => {
    const { choices, ...rest } = chunk({ content: text }) as { choices: readonly object[] };
    return { ...rest, service_tier: "flex", choices: [{ ...choices[0], logprobs: probable(text) }] };
  };
  const {
    choices: [last],
    ...named
  } = chunk({}, "eos_token") as { choices: readonly object[] };
  const stopped = {
    ...named,
    choices: [{ ...last, stop_details: { type: "refusal" } }],
    moderation: { flagged: false },
  };
  const events = [piece("Hel"), piece("lo."), stopped];
  const fetch = (): Promise<Response> =>
    Promise.resolve(new Response(sse(events, true), { headers: { "content-type": "text/event-stream" } }));
  const told: AgentEvent[] = [];
  const model = openaiCompatible("m", { baseUrl: "http://127.0.0.1:1/v1", fetch });
  await agent({ name: "a", model }).run("Hi", { onEvent: (event) => told.push(event) });
  expect(told.find(({ type }) => type === "message-end")).toMatchObject({
    response: {
      finishReason: "eos_token",
      metadata: {
        "openai-compatible": {
          logprobs: { content: [{ token: "Hel" }, { token: "lo." }] },
          service_tier: "flex",
          stop_details: { type: "refusal" },
          moderation: { flagged: false },
        },
      },
    },
  });
});
