import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { serve as listen } from "@hono/node-server";
import { describe, expect, it, onTestFinished } from "vitest";
import { memoryRuns } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";
import { hashToken, serve } from "../../src/server.ts";
import { fakeTool } from "../../src/testing.ts";

// A Python that has the package `openai` of PyPI: `python3 -m venv /tmp/venv && /tmp/venv/bin/pip install openai`, and WRIT_PYTHON=/tmp/venv/bin/python.
const python = process.env["WRIT_PYTHON"] ?? "python3";
const isThere = spawnSync(python, ["-c", "import openai"], { stdio: "ignore" }).status === 0;
if (!isThere) console.log(`skipped: ${python} has no package openai (WRIT_PYTHON names another one)`);

const guide = agent({
  name: "guide",
  tools: [fakeTool("look", "order 17")],
  model: ({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").length;
    if (results === 0) return { text: "I look.", calls: [{ name: "look", arguments: {} }] };
    if (results === 1) return { calls: [{ name: "open_page", arguments: { path: "/17" } }] };
    return "It is open.";
  },
});

const program = `
import json, sys
from openai import OpenAI, BadRequestError
client = OpenAI(base_url=sys.argv[1] + "/v1", api_key="tried", max_retries=0)
parameters = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": False}
function = {"name": "open_page", "description": "Opens a page", "parameters": parameters}
tools = [{"type": "function", "function": function}]
messages = [{"role": "user", "content": "Show me order 17"}]
said = []
first = client.chat.completions.create(model="guide", messages=messages, tools=tools).choices[0]
call = first.message.tool_calls[0]
said.append([first.finish_reason, first.message.content, call.function.name, json.loads(call.function.arguments)])
messages += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "opened"}]
with client.chat.completions.stream(model="guide", messages=messages, tools=tools) as stream:
    for event in stream:
        pass
    last = stream.get_final_completion().choices[0]
said.append([last.finish_reason, last.message.content])
response = client.responses.create(model="guide", input="Show me", tools=[{"type": "function", "strict": True, **function}])
call = response.output[-1]
said.append([response.output_text, call.type, call.name])
outputs = [{"type": "function_call_output", "call_id": call.call_id, "output": "opened"}]
with client.responses.stream(model="guide", previous_response_id=response.id, input=outputs) as stream:
    for event in stream:
        pass
    said.append([stream.get_final_response().output_text])
try:
    client.chat.completions.create(model="guide", messages=messages[:1], tools=tools * 2)
except BadRequestError as error:
    said.append([error.status_code, error.code])
said.append([model.id for model in client.models.list()])
print(json.dumps(said))
`;

describe.skipIf(!isThere)("OpenAI's client for Python", () => {
  it("drives an agent through both endpoints, with tools of its own", async () => {
    const principals = [{ name: "tried", tokens: [hashToken("tried")] }];
    const server = serve({ store: memoryRuns(), agents: [guide], principals });
    const http = listen({ fetch: server.fetch, hostname: "127.0.0.1", port: 0 });
    onTestFinished(async () => {
      http.close();
      await server.drain({ graceMs: 0 });
    });
    await once(http, "listening");
    const address = http.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const child = spawn(python, ["-c", program, `http://127.0.0.1:${port}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.on("data", (chunk) => (printed += String(chunk)));
    const [status] = (await once(child, "close")) as [number];
    expect(status).toBe(0);
    expect(JSON.parse(printed)).toEqual([
      ["tool_calls", "I look.", "open_page", { path: "/17" }],
      ["stop", "It is open."],
      ["I look.", "function_call", "open_page"],
      ["It is open."],
      [400, "request-invalid"],
      ["guide"],
    ]);
  });
});
