import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closedUrl, makeProject, type Project, writ } from "./command-line.ts";

let project: Project;
/** A server that answers each request with an error: Ollama's, or that of chat completions by the first part of the path. */
let server: Server;
let url = "";
const errors: Readonly<
  Record<string, readonly [status: number, body: object, headers?: Readonly<Record<string, string>>]>
> = {
  key: [401, { error: { message: "Incorrect API key provided.", code: "invalid_api_key" } }],
  rate: [429, { error: { message: "Rate limit reached." } }, { "retry-after": "99" }],
  long: [
    400,
    {
      error: {
        message: "This model's maximum context length is 8192 tokens.",
        code: "context_length_exceeded",
      },
    },
  ],
};

beforeAll(async () => {
  project = makeProject();
  project.file(
    "desk.ts",
    `import { agent, deny, policy, tool } from "writ"; import { scripted } from "writ/testing";
const inputSchema = { type: "object", properties: { euro: { type: "number" } }, required: ["euro"] };
const pay = tool({ name: "pay", description: "Pays", inputSchema, effect: "irreversible", execute: () => "paid" });
const call = (name, args) => ({ calls: [{ name, arguments: args }] });
const model = scripted([call("paj", {}), call("pay", { euro: "many" }), call("pay", { euro: 5 }), "Nothing was paid."]);
const money = policy({ name: "money", rules: [deny("pay").because("the desk pays nobody")] });
export default agent({ name: "desk", model, tools: [pay], policy: money, retry: false });
`,
  );
  project.file(
    "broken.ts",
    'import { agent } from "writ";\n\nexport default agent({ name: "b", modle: () => "" });\n',
  );
  server = createServer(({ url: path = "" }, response) => {
    const [status, body, headers = {}] = errors[path.split("/")[1] ?? ""] ?? [
      404,
      { error: "model 'qwen3:8b' not found" },
    ];
    const isList = path === "/api/tags";
    response.writeHead(isList ? 200 : status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(isList ? { models: [{ name: "qwen3:4b", model: "qwen3:4b" }] } : body));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
});
afterAll(() => {
  project.remove();
  server.close();
});

const asking = ["run", "desk.ts", "Pay Ada"];

/** What goes wrong for people who begin, and what they are told: what, where, why, what to do. */
const cases: readonly (readonly [
  name: string,
  words: readonly string[],
  env: () => Record<string, string> | Promise<Record<string, string>>,
  told: readonly (string | RegExp)[],
  exitCode: number,
])[] = [
  [
    "no server",
    [...asking, "-m", "ollama/qwen3:8b"],
    async () => ({ OLLAMA_HOST: await closedUrl() }),
    ["error[provider-unreachable]", /http:\/\/127\.0\.0\.1:\d+/, "ollama serve"],
    5,
  ],
  [
    "a model that was not pulled",
    [...asking, "-m", "ollama/qwen3:8b"],
    () => ({ OLLAMA_HOST: url }),
    [
      'error[model-not-found] The model "qwen3:8b" is not on Ollama',
      "It has: qwen3:4b.",
      "ollama pull qwen3:8b",
    ],
    5,
  ],
  [
    "a key that is refused",
    [...asking, "-m", "openai-compatible/m"],
    () => ({ OPENAI_BASE_URL: `${url}/key/v1`, OPENAI_API_KEY: "sk-never-shown" }),
    ["error[provider-refused-key]", "Incorrect API key provided. (HTTP 401)", "OPENAI_API_KEY"],
    5,
  ],
  [
    "a key that is missing",
    [...asking, "-m", "openai/gpt-5"],
    () => ({ OPENAI_API_KEY: "" }),
    ["error[model-key-missing]", "OPENAI_API_KEY is not set", "Set OPENAI_API_KEY"],
    5,
  ],
  [
    "too many requests",
    [...asking, "-m", "openai-compatible/m"],
    () => ({ OPENAI_BASE_URL: `${url}/rate/v1` }),
    ["error[model-rate-limited]", "Rate limit reached. (HTTP 429)", "raise the limit"],
    5,
  ],
  [
    "a conversation that is too long for the model",
    [...asking, "-m", "openai-compatible/m"],
    () => ({ OPENAI_BASE_URL: `${url}/long/v1` }),
    ["maximum context length is 8192 tokens", /compaction|shorter/],
    5,
  ],
  [
    "an unknown tool, wrong arguments and a refused call",
    asking,
    () => ({}),
    [
      /✗ 1 paj .*denied \(allow-list\).*Allowed: \[pay\]/,
      '✗ 2 pay {"euro":"many"}  wrong arguments: euro: must be a number, got "many"',
      /✗ 3 pay \{"euro":5\} {2}denied \(deny pay .*\): the desk pays nobody/,
    ],
    0,
  ],
  [
    "a bound",
    [...asking, "--max-turns", "1"],
    () => ({}),
    ["error[budget-exhausted] Agent 'desk' exceeded budget of 1 turns"],
    4,
  ],
  [
    "a fault in the user's file",
    ["run", "broken.ts", "hi"],
    () => ({}),
    [
      "error[agent-file-broken] broken.ts cannot be loaded:",
      '"modle"',
      'did you mean "model"',
      "(broken.ts:3:16)",
    ],
    2,
  ],
  ["a typo in a command", ["rnu", "desk.ts"], () => ({}), ["(Did you mean run?)"], 2],
  ["a typo in an option", [...asking, "--modle", "x"], () => ({}), ["(Did you mean --model?)"], 2],
];

describe("what goes wrong on the command line", () => {
  it.each(cases)(
    "tells of %s: what, where, why and what to do",
    async (...[, words, env, told, exitCode]) => {
      const { code, stderr } = await writ(words, { cwd: project.folder, env: await env() });
      for (const text of told) {
        if (typeof text === "string") expect(stderr).toContain(text);
        else expect(stderr).toMatch(text);
      }
      expect(stderr).not.toContain("sk-never-shown");
      expect(stderr).not.toMatch(/^\s+at /m); // no stack unless it is asked for
      expect(code).toBe(exitCode);
    },
  );
});
