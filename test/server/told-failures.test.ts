import { expect, onTestFinished, test } from "vitest";
import { agent, tool } from "../../src/index.ts";
import { hashToken, serve, type ServeOptions } from "../../src/server.ts";
import { sqliteRuns } from "../../src/sqlite.ts";

const secret = "http://10.1.1.1 refused the key sk-1";
const broken = agent({
  name: "broken",
  model: () => {
    throw new Error(secret);
  },
});
const reader = agent({
  name: "reader",
  model: ({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? "I could not look."
      : { calls: [{ name: "look", arguments: {} }] },
  tools: [
    tool({
      name: "look",
      description: "Looks",
      effect: "read",
      inputSchema: { type: "object" },
      execute() {
        throw new Error(secret);
      },
    }),
  ],
});

function served(options: Partial<ServeOptions> = {}) {
  const faults: string[] = [];
  const server = serve({
    store: sqliteRuns(":memory:"),
    agents: [broken, reader],
    principals: [
      { name: "web", tokens: [hashToken("web")] },
      { name: "ops", tokens: [hashToken("ops")], operator: true },
    ],
    onError: (error) => faults.push(String(error)),
    ...options,
  });
  onTestFinished(() => server.drain());
  const ask = async (path: string, body?: object, token = "web"): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, "a2a-version": "1.0" };
    const more = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await server.fetch(new Request(`http://localhost${path}`, { headers, ...more }))).text();
  };
  return { ask, faults };
}

const said = (name: string): readonly (readonly [path: string, body?: object])[] => [
  [
    `/chat/${name}`,
    { id: "c", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Look" }] }] },
  ],
  [`/chat/${name}/c`],
  [`/runs/chat%2F${name}%2Fc%2Fm`],
  [`/runs/chat%2F${name}%2Fc%2Fm/events`],
  [`/runs/chat%2F${name}%2Fc%2Fm/events?inside=true`],
  ["/runs"],
  [
    `/v1/agui/${name}`,
    {
      threadId: "t",
      runId: "r",
      state: {},
      tools: [],
      context: [],
      forwardedProps: {},
      messages: [{ id: "m", role: "user", content: "Look" }],
    },
  ],
  [
    `/v1/agui/${name}`,
    { threadId: "t", runId: "r", state: {}, tools: [], context: [], forwardedProps: {}, messages: [] },
  ],
  [
    `/v1/a2a/${name}`,
    {
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "Look" }] } },
    },
  ],
  ["/v1/chat/completions", { model: name, messages: [{ role: "user", content: "Look" }] }],
  ["/v1/responses", { model: name, input: "Look" }],
];

test("a caller is told the code of a failure, and not the words of the provider or the tool, at every door", async () => {
  const { ask, faults } = served();
  for (const name of ["broken", "reader"])
    for (const [path, body] of said(name)) expect(await ask(path, body), path).not.toContain("10.1.1.1");
  expect(await ask("/chat/broken/c/stream")).toBe("");
  const [[path, body] = ["/"]] = said("broken");
  expect(await ask(path, body)).toContain(
    '"errorText":"provider-failed: The run failed. The operator of the server can see why."',
  );
  expect(faults.filter((fault) => fault.includes(secret))).toHaveLength(5);
  expect(faults[0]).toContain("web/chat/broken/c/m");
});

test("an operator is told the words, and so is everybody at a server without principals", async () => {
  const own = served();
  const open = served({ hosts: ["localhost"], principals: undefined });
  for (const [path, body] of said("broken").filter(([one]) => one !== "/chat/broken/c")) {
    expect(await own.ask(path, body, "ops"), path).toContain("10.1.1.1");
    expect(await open.ask(path, body), path).toContain("10.1.1.1");
  }
  const [[path, body] = ["/"]] = said("reader");
  expect(await own.ask(path, body, "ops")).toContain(`Tool 'look' failed: ${secret}`);
});
