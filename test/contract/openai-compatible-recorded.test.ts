import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { callsOf, userMessage } from "../../src/message/message.ts";
import { assemble, type Reply } from "../../src/model/assemble.ts";
import { type Recording, saidByOpenai, saidByWholeChat } from "./ai-sdk-recordings.ts";
import { expectSame } from "./expect-same.ts";
import { type Answer, playedServer, type PlayedServer } from "./played-server.ts";
import { recordedChats, recordedWholeChats } from "./recorded-chats.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(async () => {
  await server.close();
});

async function replayed(answer: Answer): Promise<Reply> {
  server.play(answer);
  const assembler = assemble("test", ({ id, name }) => ({ id, name }));
  const request = { messages: [userMessage("x")], tools: [], toolChoice: "auto", settings: {} } as const;
  const model = openaiCompatible("m", { baseUrl: server.url });
  for await (const delta of model.stream(request, { signal: new AbortController().signal }))
    assembler.push(delta);
  return assembler.reply();
}

/** Servers say `stop` after calls, too. */
function expectReply(reply: Reply, said: ReturnType<typeof saidByOpenai>): void {
  const called = callsOf(reply.message).length > 0 && said.finishReason === "stop";
  expectSame(reply, called ? { ...said, finishReason: "tool-calls" } : said);
}

describe.skipIf(recordedChats.length === 0)("recorded chat completions", () => {
  it.each(recordedChats)("%s", async (_name, recording) => {
    expectReply(await replayed({ sse: recording.sse }), saidByOpenai(recording));
  });
});

const wholes = recordedWholeChats.map((recording): readonly [string, Recording] => [
  recording.name,
  recording,
]);
describe.skipIf(wholes.length === 0)("recorded chat completions that came whole", () => {
  it.each(wholes)("%s", async (_name, recording) => {
    expectReply(await replayed({ json: recording.events[0] }), saidByWholeChat(recording));
  });
});

describe.skipIf(recordedChats.length === 0)("recorded chat completions, cut anywhere", () => {
  it("never give a whole reply, and throw what the catalogue has", async () => {
    for (const [, { sse, name }] of recordedChats.slice(0, 12)) {
      const end = sse.search(/"finish_reason": ?"/);
      for (const part of [0.2, 0.5, 0.9]) {
        const cut = sse.slice(0, Math.floor(end * part));
        await expect(replayed({ sse: cut }), `${name} at ${part}`).rejects.toMatchObject({
          code: "provider-failed",
        });
      }
    }
  });
});
