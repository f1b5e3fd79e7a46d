import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { agent, type Message } from "../../src/index.ts";
import type { Server } from "../../src/server.ts";
import { fakeTool } from "../../src/testing.ts";
import { ask, questionsOf, runsFile, serving, talker, told } from "./scene.ts";

const clientOf = (server: Pick<Server, "fetch">, apiKey = "web-token"): OpenAI =>
  new OpenAI({
    apiKey,
    baseURL: "http://localhost/v1",
    maxRetries: 0,
    fetch: async (url, init) => server.fetch(new Request(url, init)),
  });

const parameters = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};
const open = {
  type: "function" as const,
  function: { name: "open_page", description: "Opens a page", parameters },
};
const user = { role: "user" as const, content: "Show me order 17" };

/** One who looks by a tool of its own, and has its client open pages. */
const guide = () =>
  agent({
    name: "guide",
    tools: [fakeTool("look", "order 17 is at /orders/17")],
    model: ({ messages, tools }) => {
      const results = messages.filter(({ role }) => role === "tool");
      if (results.length === 0) return { text: "I look.", calls: [{ name: "look", arguments: {} }] };
      if (results.length === 1)
        return {
          calls: ["/orders/17", "/help"].map((path) => ({ name: "open_page", arguments: { path } })),
        };
      const shown = results.map((message) => ("text" in message ? message.text : ""));
      return `Done with ${tools.map(({ name }) => name).join()}: ${shown.slice(1).join("; ")}`;
    },
  });

/** A picture of one pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** One whose client takes pictures, and the results that its model was given. */
function photographer() {
  const given: (Message & { readonly role: "tool" })[] = [];
  const one = agent({
    name: "photographer",
    model: ({ messages }) => {
      const results = messages.filter((message) => message.role === "tool");
      given.splice(0, given.length, ...results);
      return results.length === 0 ? { calls: [{ name: "shoot", arguments: {} }] } : "Seen.";
    },
  });
  return { one, given };
}

const inChat = [
  { type: "text", text: "the page" },
  { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
  { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" } },
];
const inResponses = [
  { type: "input_text", text: "the page" },
  { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${png}` },
  { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" },
];
const asFiles = [
  { type: "file", mediaType: "image/png", data: expect.stringContaining(png) },
  { type: "file", mediaType: "application/pdf", data: expect.stringContaining("JVBERg==") },
];

describe("pictures in results of the client's tools", () => {
  const shoot = { type: "function" as const, name: "shoot", parameters: { type: "object" }, strict: true };

  it("reach the model, from chat completions", async () => {
    const { one, given } = photographer();
    const client = clientOf(serving(runsFile(), { agents: [one] }));
    const asked = { model: "photographer", messages: [user], tools: [{ type: "function", function: shoot }] };
    const first = await client.chat.completions.create(asked as never);
    const reply = first.choices[0]?.message;
    const bring = (content: unknown) => {
      const result = { role: "tool", tool_call_id: reply?.tool_calls?.[0]?.id, content };
      return client.chat.completions.create({ ...asked, messages: [user, reply, result] } as never);
    };
    for (const part of [{ type: "input_image", file_id: "file-1" }, { type: "hologram" }, 7])
      await expect(bring([...inChat, part])).rejects.toMatchObject({
        status: 400,
        code: "request-invalid",
        message: expect.stringMatching(/result of a call of "shoot".*data or address/),
      });
    expect((await bring(inChat)).choices[0]?.message.content).toBe("Seen.");
    expect(given).toMatchObject([
      { status: "ok", text: expect.stringContaining("[image: image/png, 70 bytes]"), files: asFiles },
    ]);
  });

  it("reach the model, from responses", async () => {
    const { one, given } = photographer();
    const client = clientOf(serving(runsFile(), { agents: [one] }));
    const asked = { model: "photographer", tools: [shoot] };
    const first = await client.responses.create({ ...asked, input: "Look" });
    const [call] = first.output;
    const input = [
      {
        type: "function_call_output" as const,
        call_id: call !== undefined && "call_id" in call ? String(call.call_id) : "",
        output: inResponses as never,
      },
    ];
    const next = await client.responses.create({ ...asked, input, previous_response_id: first.id });
    expect(next.output_text).toBe("Seen.");
    expect(given).toMatchObject([{ status: "ok", files: asFiles }]);
  });
});

describe("tools of the client, in chat completions", () => {
  it("are called by the client, beside those of the agent", async () => {
    const file = runsFile();
    const client = clientOf(serving(file, { agents: [guide()] }));
    const asked = { model: "guide", messages: [user], tools: [open] };
    const first = await client.chat.completions.create(asked);
    const [choice] = first.choices;
    expect(choice).toMatchObject({ finish_reason: "tool_calls", message: { content: "I look." } });
    const calls = choice?.message.tool_calls ?? [];
    expect(calls.map((call) => "function" in call && call.function)).toEqual([
      { name: "open_page", arguments: '{"path":"/orders/17"}' },
      { name: "open_page", arguments: '{"path":"/help"}' },
    ]);
    const results = calls.map(({ id }, place) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: place === 0 ? "opened" : [{ type: "text" as const, text: "not found" }],
    }));
    const messages = [...asked.messages, ...(choice === undefined ? [] : [choice.message]), ...results];
    // Another process of the same store.
    const other = clientOf(serving(file, { agents: [guide()] }));
    const second = await other.chat.completions.create({ ...asked, messages });
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop" });
    const said = second.choices[0]?.message.content;
    expect(said).toMatch(/^Done with look,open_page/);
    expect(said).toMatch(/opened.*not found/);
    const again = await client.chat.completions.create({ ...asked, messages }); // the answer was lost on its way
    expect(again.choices[0]?.message.content).toBe(said);
    const others = messages.map((message) =>
      message.role === "tool" ? { ...message, content: "closed" } : message,
    );
    await expect(client.chat.completions.create({ ...asked, messages: others })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("its run was given another one before") as string,
    });
    const whole = [...messages, { role: "assistant" as const, content: said ?? "" }, user];
    const later = await client.chat.completions.create({ ...asked, messages: whole });
    expect(later.choices[0]?.finish_reason).toBe("stop"); // what was called before is part of the conversation
  });

  it("are answered to the one whose result counts, where two clients send different ones at once", async () => {
    const file = runsFile();
    const clients = [0, 1].map(() => clientOf(serving(file, { agents: [guide()] })));
    const asked = { model: "guide", messages: [user], tools: [open] };
    for (let round = 0; round < 5; round += 1) {
      const reply = (await clients[0]?.chat.completions.create(asked))?.choices[0]?.message;
      const ends = await Promise.allSettled(
        clients.map(async (client, nth) => {
          const results = (reply?.tool_calls ?? []).map(({ id }) => ({
            role: "tool" as const,
            tool_call_id: id,
            content: `${nth}`,
          }));
          const messages = [user, ...(reply === undefined ? [] : [reply]), ...results];
          return (await client.chat.completions.create({ ...asked, messages })).choices[0]?.message.content;
        }),
      );
      const answered = ends.flatMap((end, nth) =>
        end.status === "fulfilled" ? [[nth, end.value] as const] : [],
      );
      expect(answered.length).toBeLessThan(2);
      for (const [nth, said] of answered)
        expect(said).toMatch(new RegExp(`"value":"${nth}".*"value":"${nth}"`));
      for (const end of ends)
        if (end.status === "rejected") expect(String(end.reason)).toContain("was given another one before");
    }
  });

  it.each([
    { what: "a message of the user", more: [user] },
    { what: "an answer of its own", more: [{ role: "assistant" as const, content: "Later" }, user] },
  ])("end the run that waits for their results where the client goes on with $what", async ({ more }) => {
    const server = serving(runsFile(), { agents: [guide()] });
    const client = clientOf(server);
    const asked = { model: "guide", messages: [user], tools: [open] };
    const reply = (await client.chat.completions.create(asked)).choices[0]?.message;
    const results = (reply?.tool_calls ?? []).map(({ id }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: "opened",
    }));
    const messages = [user, ...(reply === undefined ? [] : [reply]), ...results, ...more];
    const next = await client.chat.completions.create({ ...asked, messages });
    expect(next.choices[0]?.message.content).toContain("opened");
    expect(await questionsOf(server)).toEqual([]);
    const { runs } = await told(ask(server, "GET /runs"));
    expect(runs).toMatchObject([
      { status: "answered" },
      { status: "cancelled", end: { outcome: { reason: expect.stringContaining("went on") } } },
    ]);
  });

  it("are streamed, and run by the client's own helper", async () => {
    const client = clientOf(serving(runsFile(), { agents: [guide()] }));
    const opened: unknown[] = [];
    const runner = client.chat.completions.runTools({
      model: "guide",
      stream: true,
      messages: [user],
      tools: [
        {
          type: "function",
          function: {
            ...open.function,
            parse: JSON.parse,
            function: (args: { path: string }) => {
              opened.push(args.path);
              return `opened ${args.path}`;
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain("opened /help");
    expect(opened).toEqual(["/orders/17", "/help"]);
  });

  it("are left out where the client wants none", async () => {
    const plain = agent({ name: "plain", model: ({ tools }) => `tools: ${tools.length}` });
    const client = clientOf(serving(runsFile(), { agents: [plain] }));
    const said = async (more: object) =>
      (await client.chat.completions.create({ model: "plain", messages: [user], tools: [open], ...more }))
        .choices[0]?.message.content;
    expect(await said({})).toBe("tools: 1");
    expect(await said({ tool_choice: "none" })).toBe("tools: 0");
    expect(await said({ tools: [] })).toBe("tools: 0");
  });

  it("are judged by the agent's policy", async () => {
    const bounded = guide().with({
      policy: ({ tool }) =>
        tool === "open_page"
          ? { verdict: "deny", rule: "closed", reason: "no pages" }
          : { verdict: "allow", rule: "free", reason: "" },
    });
    const client = clientOf(serving(runsFile(), { agents: [bounded] }));
    const { choices } = await client.chat.completions.create({
      model: "guide",
      messages: [user],
      tools: [open],
    });
    expect(choices[0]).toMatchObject({ finish_reason: "stop" });
    expect(choices[0]?.message.content).toContain("no pages");
  });

  it("answers what is wrong with 400", async () => {
    const server = serving(runsFile(), { agents: [guide(), talker()] });
    const client = clientOf(server);
    const wrong = (more: object) =>
      expect(
        client.chat.completions.create({ model: "guide", messages: [user], ...more }),
      ).rejects.toMatchObject({ status: 400, code: "request-invalid" });
    const named = (name: unknown) => ({ type: "function", function: { name, parameters } });
    await wrong({ tools: [named("look")] }); // the agent has one of that name
    await wrong({ tools: [named("open_page"), named("open_page")] });
    await wrong({ tools: [named("open page")] });
    await wrong({ tools: [named(7)] });
    await wrong({ tools: [{ type: "custom", custom: { name: "x" } }] });
    await wrong({ tools: [{ type: "function", function: { name: "x", parameters: { type: "nonsense" } } }] });
    await wrong({ tools: [open], tool_choice: "required" });
    await wrong({ tools: Array.from({ length: 129 }, (_, place) => named(`tool_${place}`)) });
    await wrong({ messages: [user, { role: "tool", tool_call_id: "call_1", content: "x" }] });
    const { choices } = await client.chat.completions.create({
      model: "guide",
      messages: [user],
      tools: [open],
    });
    const id = choices[0]?.message.tool_calls?.[0]?.id;
    const result = { role: "tool", tool_call_id: id, content: "x" };
    await wrong({ model: "talker", messages: [user, result] }); // the call of another agent
    const stranger = clientOf(server, "shop-token");
    await expect(
      stranger.chat.completions.create({ model: "talker", messages: [user, result as never] }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

describe("tools of the client, in responses", () => {
  const flat = { type: "function" as const, name: "open_page", parameters, strict: true };

  it("are called by the client, which goes on with their results", async () => {
    const client = clientOf(serving(runsFile(), { agents: [guide()] }));
    const first = await client.responses.create({ model: "guide", input: "Show me", tools: [flat] });
    expect(first.output_text).toBe("I look.");
    const calls = first.output.filter(({ type }) => type === "function_call");
    expect(calls).toMatchObject([
      { name: "open_page", arguments: '{"path":"/orders/17"}' },
      { status: "completed" },
    ]);
    const outputs = calls.map((call) => ({
      type: "function_call_output" as const,
      call_id: "call_id" in call ? String(call.call_id) : "",
      output: "opened",
    }));
    const second = await client.responses.create({
      model: "guide",
      tools: [flat],
      input: outputs,
      previous_response_id: first.id,
    });
    expect(second.output_text).toMatch(/^Done with look,open_page/);
    const whole = [{ role: "user" as const, content: "Show me" }, ...first.output, ...outputs] as never;
    const again = await client.responses.create({ model: "guide", tools: [flat], input: whole });
    expect(again.output_text).toBe(second.output_text);
  });

  it("lose no message beside their results: a request with both is refused, and the call still waits", async () => {
    const client = clientOf(serving(runsFile(), { agents: [guide()] }));
    const asked = { model: "guide", tools: [flat] };
    const first = await client.responses.create({ ...asked, input: "Show me" });
    const outputs = first.output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "opened" }]
        : [],
    );
    const words = { role: "user" as const, content: "And order 18" };
    const previous = { previous_response_id: first.id };
    for (const [input, more] of [
      [[...outputs, words], previous],
      [[words, ...outputs], previous],
      [[words, ...outputs], {}],
    ] as const)
      await expect(client.responses.create({ ...asked, input: [...input], ...more })).rejects.toMatchObject({
        status: 400,
        code: "request-invalid",
        message: expect.stringMatching(/`input`.*results.*alone.*next request/),
      });
    // A message in the place of the results.
    await expect(client.responses.create({ ...asked, input: "Well?", ...previous })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/`previous_response_id`.*open_page.*results/),
    });
    const second = await client.responses.create({ ...asked, input: outputs, ...previous });
    expect(second.output_text).toMatch(/^Done with look,open_page/);
    // The whole conversation, with its calls, is another one.
    const whole = [{ role: "user", content: "Show me" }, ...first.output, ...outputs, words] as never;
    expect((await client.responses.create({ ...asked, input: whole })).status).toBe("completed");
  });

  it("are streamed", async () => {
    const client = clientOf(serving(runsFile(), { agents: [guide()] }));
    const stream = client.responses.stream({ model: "guide", input: "Show me", tools: [flat] });
    const args: string[] = [];
    for await (const event of stream)
      if (event.type === "response.function_call_arguments.done") args.push(event.arguments);
    expect(args).toEqual(['{"path":"/orders/17"}', '{"path":"/help"}']);
    const { output, status } = await stream.finalResponse();
    expect(output.map(({ type }) => type)).toEqual(["message", "function_call", "function_call"]);
    expect(status).toBe("completed");
  });
});
