import { expect, it } from "vitest";
import { ask, events, runsFile, serving, talker, told } from "./scene.ts";

it("shows the messages of a chat and of a thread in whose session many other runs were begun later", async () => {
  const server = serving(runsFile(), { agents: [talker()], work: false });
  const start = (more: object) =>
    ask(server, "POST /runs", { body: { agent: "talker", input: "Hi", ...more } });
  for (const session of ["chat/talker/c", "agui/talker/c"]) {
    await start({ session, id: `${session}/m` });
    for (let count = 0; count < 50; count += 1) await start({ session });
  }
  const { messages } = await told(ask(server, "GET /chat/talker/c"));
  expect(messages).toMatchObject([{ id: "m", role: "user" }]);
  const body = { threadId: "c", runId: "r", messages: [] };
  const shown: object[] = [];
  for await (const event of events(await ask(server, "POST /v1/agui/talker", { body }))) {
    shown.push(event);
    if (shown.length === 2) break; // nobody carries the run out
  }
  expect(shown[1]).toMatchObject({ type: "MESSAGES_SNAPSHOT", messages: [{ id: "m", role: "user" }] });
});
