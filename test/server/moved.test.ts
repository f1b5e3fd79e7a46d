import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import type { AgentEvent } from "../../src/index.ts";
import { ask, events, payer, runsFile, serving, web } from "./scene.ts";

it("tells what is known of a run that was moved to another store, and that it goes on there", async () => {
  const store = memoryRuns();
  const server = serving(runsFile(), { store, agents: [payer()] });
  const message = { id: "m", role: "user", parts: [{ type: "text", text: "Pay Ada" }] };
  await (await ask(server, "POST /chat/payer", { body: { id: "c", messages: [message] } })).text();
  const id = encodeURIComponent("chat/payer/c/m");
  const path = `/runs/${id}/events`;
  const followed = ask(server, `GET ${path}`, { headers: web });
  const seen: AgentEvent[] = [];
  for await (const event of events(await followed)) {
    seen.push(event);
    if (seen.length === 1) await durableRuns({ store, agents: [payer()] }).export("web/chat/payer/c/m");
  }
  const detail: unknown = expect.stringContaining('The run "chat/payer/c/m" was');
  expect(seen.at(-1)).toMatchObject({ status: 409, code: "run-moved", detail });
  const again = await Array.fromAsync(events(await ask(server, `GET ${path}`)));
  expect(again.map(({ type }) => type)).toEqual(seen.map(({ type }) => type));
  expect(again.length).toBeGreaterThan(3);
  // A page of the chat has nothing to go on with.
  expect((await ask(server, "GET /chat/payer/c/stream")).status).toBe(204);
});
