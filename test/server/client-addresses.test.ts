import { expect, it } from "vitest";
import { agent, tool } from "../../src/index.ts";
import { ask, runsFile, serving, told } from "./scene.ts";

const seeing = () => agent({ name: "seer", model: ({ messages }) => JSON.stringify(messages) });

const bodies = (url: string): Readonly<Record<string, object>> => ({
  "/v1/chat/completions": {
    model: "seer",
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
  },
  "/v1/responses": {
    model: "seer",
    input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }],
  },
  "/runs": { agent: "seer", input: [{ type: "file", mediaType: "image/png", data: url }] },
});

it.each(Object.keys(bodies("")))(
  "takes addresses of the web alone from a client, for the model's server reads them: %s",
  async (path) => {
    const server = serving(runsFile(), { agents: [seeing()] });
    const post = (url: string): Promise<{ readonly status: number | string }> =>
      told(ask(server, `POST ${path}`, { body: bodies(url)[path] }));
    for (const url of ["file:///etc/passwd", "ftp://x.example/a.png", "gs://bucket/a.png"])
      expect(await post(url)).toMatchObject({ status: 400 });
    for (const url of ["https://x.example/a.png", "data:image/png;base64,aGk="])
      expect((await post(url)).status).toBe(path === "/runs" ? 201 : 200);
  },
);

it("takes no other address in the result of a client's own tool", async () => {
  const caller = agent({
    name: "seer",
    model: ({ messages }) =>
      messages.some(({ role }) => role === "tool") ? "Seen." : { calls: [{ name: "look", arguments: {} }] },
    tools: [tool({ name: "other", description: "d", inputSchema: { type: "object" }, execute: () => "" })],
  });
  const server = serving(runsFile(), { agents: [caller] });
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const messages = [{ role: "user", content: "Look" }];
  const first = await ask(server, "POST /v1/chat/completions", { body: { model: "seer", messages, tools } });
  const said = ((await first.json()) as { choices: { message: { tool_calls: { id: string }[] } }[] })
    .choices[0]?.message;
  const answer = (url: string): Promise<{ readonly status: number | string }> => {
    const result = {
      role: "tool",
      tool_call_id: said?.tool_calls[0]?.id,
      content: [{ type: "image_url", image_url: { url } }],
    };
    const body = { model: "seer", messages: [...messages, said, result], tools };
    return told(ask(server, "POST /v1/chat/completions", { body }));
  };
  expect(await answer("file:///etc/passwd")).toMatchObject({ status: 400 });
  expect(await answer("https://x.example/a.png")).toMatchObject({ status: 200 });
});
