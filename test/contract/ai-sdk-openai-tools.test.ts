import { createOpenAI } from "@ai-sdk/openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { aiSdk, type AiSdkOptions } from "../../src/adapters/model/ai-sdk.ts";
import { agent, tool } from "../../src/index.ts";
import { image } from "../../src/tools.ts";
import { at } from "./ai-sdk-recordings.ts";
import { playedServer, type PlayedServer, sse } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const response = { id: "resp_1", object: "response", created_at: 1, model: "gpt-5.1", output: [], usage };
/** A reply of OpenAI's Responses with these items, told in events. */
const replying = (
  item: { readonly id: string; readonly type: string },
  ...between: readonly object[]
): string =>
  sse([
    { type: "response.created", response: { ...response, usage: null } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
    ...between,
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ]);
const text = "Done.";
const done = replying(
  {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [] }],
  } as never,
  {
    type: "response.content_part.added",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    part: { type: "output_text", text: "" },
  },
  { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: text },
);

const diff = '@@\n-a\n+"b"\n';
const operation = { type: "update_file", path: "main.ts", diff };
const patchCall = {
  id: "apc_1",
  type: "apply_patch_call",
  call_id: "call_1",
  status: "completed",
  operation,
};
const patching = replying(
  patchCall,
  {
    type: "response.apply_patch_call_operation_diff.delta",
    item_id: "apc_1",
    output_index: 0,
    delta: diff.slice(0, 4),
  },
  {
    type: "response.apply_patch_call_operation_diff.delta",
    item_id: "apc_1",
    output_index: 0,
    delta: diff.slice(4),
  },
  { type: "response.apply_patch_call_operation_diff.done", item_id: "apc_1", output_index: 0, diff },
);
const action = { commands: ["ls", "pwd"], timeout_ms: 1_000, max_output_length: null };
const shellCall = { id: "sh_1", type: "shell_call", call_id: "call_1", status: "completed", action };
const exec = { type: "exec", command: ["ls", "-l"], env: {} };
const localCall = {
  id: "ls_1",
  type: "local_shell_call",
  call_id: "call_1",
  status: "completed",
  action: exec,
};

const shell = ["shell", replying(shellCall)] as const;
const localShell = ["local_shell", replying(localCall)] as const;
const patch = ["apply_patch", patching] as const;

const openai = () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "played" });
const { tools } = createOpenAI({ apiKey: "played" });
const boundTools = {
  shell: tools.shell({}),
  local_shell: tools.localShell({}),
  apply_patch: tools.applyPatch({}),
  computer: tools.computer({}),
} as AiSdkOptions["boundTools"];
const kept = { settings: { providerOptions: { openai: { store: false } } } };

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

interface Ran {
  readonly seen: readonly unknown[];
  readonly requests: readonly unknown[];
}

interface Options extends AiSdkOptions {
  readonly trusted?: boolean;
}

/** A run in which the model calls the one tool, whose result is what `gives` makes; the bodies of its two requests. */
async function run(
  [name, call]: readonly [string, string],
  gives: () => unknown,
  options: Options = {},
): Promise<Ran> {
  const { trusted = true, ...more } = options;
  const seen: unknown[] = [];
  server.play({ sse: call }, { sse: done });
  const before = server.requests.length;
  const own = tool({
    name,
    description: "Runs it",
    inputSchema: { type: "object", additionalProperties: true },
    trusted,
    execute: (args) => {
      seen.push(args);
      return gives();
    },
  });
  const model = aiSdk(openai().responses("gpt-5.1"), { boundTools, ...more });
  const { outcome } = await agent({ name: "a", model, tools: [own] }).run("Go");
  expect(outcome).toMatchObject({ type: "answered", content: text });
  return { seen, requests: server.requests.slice(before).map(({ body }) => body) };
}

/** What the second request has after the user's question. */
const input = ({ requests }: Ran): readonly unknown[] =>
  (requests[1] as { input: { role?: string }[] }).input.filter(({ role }) => role === undefined);

it("a tool of the agent is OpenAI's shell: called with its commands, answered in its form", async () => {
  const ran = await run(shell, () => "main.ts\n/home");
  expect(at(ran.requests[0], "tools")).toMatchObject([{ type: "shell" }, { name: "read_result" }]);
  expect(ran.seen).toEqual([{ action: { commands: ["ls", "pwd"], timeoutMs: 1_000 } }]);
  const outcome = { type: "exit", exit_code: 0 };
  const output = [{ stdout: "main.ts\n/home", stderr: "", outcome }];
  expect(input(ran)).toEqual([
    { type: "item_reference", id: "sh_1" },
    { type: "shell_call_output", call_id: "call_1", output },
  ]);
});

it("sends the call whole to an account that keeps nothing", async () => {
  const ran = await run(shell, () => "x", kept);
  const sent = { commands: ["ls", "pwd"], timeout_ms: 1_000 };
  expect(input(ran)[0]).toEqual({ ...shellCall, action: sent });
  const patched = await run(patch, () => "ok", kept);
  expect(input(patched)[0]).toEqual(patchCall);
});

it("sends what a shell gives in OpenAI's form as it is, and says how it failed", async () => {
  const ends = [
    { stdout: "a", stderr: "b", outcome: { type: "exit", exitCode: 3 } },
    { stdout: "", stderr: "", outcome: { type: "timeout" } },
  ];
  const ran = await run(shell, () => ({ output: ends, maxOutputLength: 9 }));
  expect(input(ran).at(-1)).toEqual({
    type: "shell_call_output",
    call_id: "call_1",
    max_output_length: 9,
    output: [
      { stdout: "a", stderr: "b", outcome: { type: "exit", exit_code: 3 } },
      { stdout: "", stderr: "", outcome: { type: "timeout" } },
    ],
  });
  const marked = await run(shell, () => ({ output: ends }), { trusted: false });
  expect(at(input(marked).at(-1), "output")).toEqual([
    {
      stdout: '{"tool":"shell","trusted":false,"value":"a"}',
      stderr: '{"tool":"shell","trusted":false,"value":"b"}',
      outcome: { type: "exit", exit_code: 3 },
    },
    { stdout: "", stderr: "", outcome: { type: "timeout" } },
  ]);
  const almost = await run(shell, () => ({ output: [{ stdout: 1 }] }));
  expect(at(input(almost).at(-1), "output", 0, "stdout")).toBe('{"output":[{"stdout":1}]}');
  const failed = await run(shell, () => {
    throw new Error("no shell here");
  });
  expect(at(input(failed).at(-1), "output", 0)).toEqual({
    stdout: "",
    stderr: "Tool 'shell' failed: no shell here",
    outcome: { type: "exit", exit_code: 1 },
  });
});

it("a tool of the agent is OpenAI's apply_patch: called with the whole patch, answered in its form", async () => {
  const ran = await run(patch, () => "Updated main.ts");
  expect(at(ran.requests[0], "tools")).toMatchObject([{ type: "apply_patch" }, { name: "read_result" }]);
  expect(ran.seen).toEqual([{ callId: "call_1", operation }]);
  const sent = { type: "apply_patch_call_output", call_id: "call_1" };
  expect(input(ran)).toEqual([
    { type: "item_reference", id: "apc_1" },
    { ...sent, status: "completed", output: "Updated main.ts" },
  ]);
  const own = await run(patch, () => ({ status: "failed", output: "no such line" }));
  expect(input(own).at(-1)).toEqual({ ...sent, status: "failed", output: "no such line" });
});

it("a patch that is not allowed is told as one that failed", async () => {
  server.play({ sse: patching }, { sse: done });
  const own = tool({ name: "apply_patch", description: "", inputSchema: {}, execute: () => "never" });
  const model = aiSdk(openai().responses("gpt-5.1"), { boundTools });
  const policy = () => ({ verdict: "deny" as const, rule: "no", reason: "main.ts is not yours" });
  const { calls } = await agent({ name: "a", model, tools: [own], policy }).run("Go");
  expect(calls).toMatchObject([{ name: "apply_patch", status: "denied" }]);
  const sent = list(server.requests.at(-1)?.body["input"]).at(-1);
  expect(sent).toMatchObject({ type: "apply_patch_call_output", status: "failed" });
  expect(at(sent, "output")).toContain("main.ts is not yours");
});

it("a tool of the agent is OpenAI's local_shell", async () => {
  const ran = await run(localShell, () => "main.ts");
  expect(at(ran.requests[0], "tools")).toMatchObject([{ type: "local_shell" }, { name: "read_result" }]);
  expect(ran.seen).toEqual([{ action: { type: "exec", command: ["ls", "-l"], env: {} } }]);
  const sent = { type: "local_shell_call_output", call_id: "call_1", output: "main.ts" };
  expect(input(ran).at(-1)).toEqual(sent);
  const own = await run(localShell, () => ({ output: "main.ts" }));
  expect(input(own).at(-1)).toEqual(sent);
});

const screenCall = {
  id: "cu_1",
  type: "computer_call",
  call_id: "call_1",
  status: "completed",
  actions: [{ type: "click", button: "left", x: 3, y: 4 }],
  pending_safety_checks: [{ id: "s1", code: "malicious", message: "Look again" }],
};
const computer = ["computer", replying(screenCall)] as const;
const dot = "iVBORw0KGgo=";

it("a tool of the agent is OpenAI's computer: called with what to do, answered with the screen", async () => {
  const ran = await run(computer, () => image(Buffer.from(dot, "base64"), "image/png"));
  expect(at(ran.requests[0], "tools")).toMatchObject([{ type: "computer" }, { name: "read_result" }]);
  expect(ran.seen).toMatchObject([
    { actions: [{ type: "click", x: 3, y: 4 }], pendingSafetyChecks: [{ id: "s1" }] },
  ]);
  const output = { type: "computer_screenshot", image_url: `data:image/png;base64,${dot}` };
  expect(input(ran).at(-1)).toEqual({ type: "computer_call_output", call_id: "call_1", output });
  const acknowledgedSafetyChecks = [{ id: "s1" }];
  const seen = { output: { type: "computer_screenshot", fileId: "file_1" }, acknowledgedSafetyChecks };
  const own = await run(computer, () => seen);
  expect(input(own).at(-1)).toEqual({
    type: "computer_call_output",
    call_id: "call_1",
    output: { type: "computer_screenshot", file_id: "file_1" },
    acknowledged_safety_checks: acknowledgedSafetyChecks,
  });
  const failing = await run(computer, () => {
    throw new Error("no screen");
  });
  expect(at(input(failing).at(-1), "output", "image_url")).toMatch(/^data:image\/png;base64,iVBOR/);
  const back = input(ran).find((item) => at(item, "type") === "computer_call");
  expect(back ?? input(ran)[0]).toMatchObject({ id: "cu_1" });
});
