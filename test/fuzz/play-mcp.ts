import fc from "fast-check";
import { makeAgent } from "../../src/agent/agent.ts";
import type { McpClient, McpTool } from "../../src/adapters/mcp/client.ts";
import { mcpTools } from "../../src/adapters/mcp/tools.ts";
import { resolveModel } from "../../src/adapters/model/resolve.ts";
import type { RunResult } from "../../src/agent/runnable.ts";
import { isWritError } from "../../src/error/writ-error.ts";
import { labelOf } from "../../src/message/message.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import type { Tool } from "../../src/tool/tool.ts";
import type { Json } from "../../src/util/json.ts";
import { type Faults, transcriptFaults } from "./checks.ts";
import { anyJson, hostileNames, injections, oddErrors, oddValues } from "./hostile.ts";
import { strangers } from "./play-data.ts";
import { shown } from "./play-agent.ts";
import { openBook } from "./record.ts";

/** What a server offers and does. */
export interface McpScene {
  readonly offered: readonly {
    readonly name: string;
    readonly schema: number;
    readonly output: number;
    readonly about: string;
  }[];
  readonly list: "fine" | "never" | "throws" | "odd" | "pages";
  readonly answer: "text" | "structured" | "never" | "throws" | "odd" | "error" | "image";
  readonly text: string;
  readonly what: string;
  readonly args: Json;
}

const fine = fc.nat(strangers.length);

export const mcpScene: fc.Arbitrary<McpScene> = fc.record({
  offered: fc.array(
    fc.record({
      name: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom("look", "send.mail", "a/b", "pay") },
        { weight: 1, arbitrary: fc.constantFrom(...hostileNames) },
      ),
      schema: fc.oneof(
        { weight: 3, arbitrary: fc.constant(strangers.length) },
        { weight: 1, arbitrary: fine },
      ),
      output: fc.oneof({ weight: 6, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fine }),
      about: fc.constantFrom("a tool", ...injections),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  list: fc.oneof(
    { weight: 8, arbitrary: fc.constant("fine" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("never" as const, "throws" as const, "odd" as const, "pages" as const),
    },
  ),
  answer: fc.constantFrom("text", "text", "structured", "never", "throws", "odd", "error", "image"),
  text: fc.constantFrom(...injections),
  what: fc.constantFrom(...Object.keys(oddErrors)),
  args: anyJson,
});

const plain: Json = { type: "object", properties: { to: { type: "string" } } };
const schemaOf = (number: number): object => (strangers[number] ?? plain) as object;

function clientOf({ offered, list, answer, text, what }: McpScene, called: string[]): McpClient {
  const tools: McpTool[] = offered.map(({ name, schema, output, about }) => ({
    name,
    description: about,
    inputSchema: schemaOf(schema),
    ...(output === -1 ? {} : { outputSchema: schemaOf(output) }),
    annotations: { readOnlyHint: true },
  }));
  let pages = 0;
  const lists: Readonly<Record<McpScene["list"], () => unknown>> = {
    fine: () => ({ tools }),
    never: () => new Promise(() => undefined),
    throws: () => {
      throw oddErrors[what]?.();
    },
    odd: () => ({ tools: oddErrors[what]?.() }),
    pages: () => ({ tools: pages === 0 ? tools : [], nextCursor: `page ${(pages += 1)}` }),
  };
  const answers: Readonly<Record<McpScene["answer"], () => unknown>> = {
    text: () => ({ content: [{ type: "text", text }] }),
    structured: () => ({ content: [], structuredContent: { said: text } }),
    never: () => new Promise(() => undefined),
    throws: () => {
      throw oddErrors[what]?.();
    },
    odd: () =>
      what in oddValues ? { content: oddValues[what]?.(), structuredContent: oddValues[what]?.() } : null,
    error: () => ({ isError: true, content: [{ type: "text", text }] }),
    image: () => ({ content: [{ type: "image", mimeType: text, data: "AAAA" }, { type: text }, null, 5] }),
  };
  return {
    listTools: async () => lists[list]() as { tools: McpTool[] },
    callTool: async ({ name }) => {
      called.push(name);
      return answers[answer]() as object;
    },
  };
}

/** Takes the tools of a hostile server into an agent that calls each of them, and says what was wrong. */
export async function playMcp(scene: McpScene): Promise<Faults> {
  const called: string[] = [];
  let tools: readonly Tool[];
  try {
    tools = await mcpTools(clientOf(scene, called), { server: "srv", timeoutMs: 4 });
  } catch (error) {
    return isWritError(error) ? [] : [`taking the tools threw ${shown(error)}`];
  }
  const faults: Faults = tools.flatMap(({ name, effect, trusted }) =>
    name.startsWith("srv/") && effect === "undeclared" && trusted !== true
      ? []
      : [`${name} was believed: ${effect}`],
  );
  const book = openBook();
  const model = ({ messages, tools: told }: ModelRequest): object =>
    messages.some(({ role }) => role === "assistant")
      ? { text: "done" }
      : { calls: told.map(({ name }) => ({ name, arguments: scene.args })) };
  let result: RunResult<unknown> | undefined;
  const work = (async () => {
    try {
      const made = makeAgent<string, string>(
        { name: "reader", model: model as never, tools, budget: { toolMs: 3 } },
        { host: book.host, resolveModel },
      );
      result = await made.run("Look.", {});
    } catch (error) {
      if (!isWritError(error) || error.code === "run-broken")
        faults.push(`a run with a hostile server threw ${shown(error)}`);
    }
  })();
  if (!(await book.clock.drive(work))) return [...faults, "a run with a hostile server hangs"];
  await book.clock.drain();
  if (result === undefined) return faults;
  faults.push(...transcriptFaults(result.transcript.messages));
  const offered = new Set(scene.offered.map(({ name }) => name));
  for (const name of called) if (!offered.has(name)) faults.push(`${name} was called, and is not offered`);
  for (const message of result.transcript.messages)
    if (
      message.role === "tool" &&
      (message.status === "ok" || message.status === "error") &&
      labelOf(message).integrity === "trusted" &&
      message.text.includes(scene.text)
    )
      faults.push(`what the server said is trusted: ${message.status} ${message.text.slice(0, 80)}`);
  return faults;
}
