import { asking } from "../error/check-shape.ts";

const watching = ["onStepFinish", "onStepEnd", "onFinish", "onEnd", "onChunk", "onError", "callbacks"];
const contexts = ["context", "experimentalContext", "toolsContext", "runtimeContext", "requestContext"];

const sessionIds = ["sessionId", "threadId", "thread", "conversationId", "previousResponseId"];

/** Field names of other libraries in camel case, each with the field to use here: of an agent, and of one run. */
const meant: Readonly<Record<"agent" | "run", Readonly<Record<string, string>>>> = {
  agent: {
    ...alike("name", "id"),
    ...alike("description", "handoffDescription"),
    ...alike("instructions", "system", "systemPrompt", "prompt", "systemMessage"),
    ...alike("budget: { turns }", "maxSteps", "maxTurns", "maxIterations", "recursionLimit", "stopWhen"),
    ...alike("budget: { durationMs }", "timeoutMs"),
    ...alike("budget: { costUsd }", "maxBudgetUsd"),
    ...alike("concurrency", "toolCallConcurrency", "maxConcurrency", "parallelToolCalls"),
    ...alike("settings", "modelSettings"),
    ...alike("recover: { invalidArguments }", "experimentalRepairToolCall", "repairToolCall"),
    ...alike("retry: { attempts }", "maxRetries", "retries"),
    ...alike(
      "output",
      "outputSchema",
      "outputType",
      "responseFormat",
      "structuredOutput",
      "experimentalOutput",
    ),
    ...alike("input", "inputSchema"),
    ...alike("subagents(...)", "agents", "handoffs", "subagents"),
    ...alike("hooks: [{ beforeModel }]", "prepareStep", "prepareCall"),
    ...alike(
      "hooks",
      "middleware",
      "guardrails",
      "inputGuardrails",
      "outputGuardrails",
      "inputProcessors",
      "outputProcessors",
    ),
    ...alike("onEvent", ...watching),
    ...alike("onEvent: telemetry()", "telemetry", "experimentalTelemetry", "tracing"),
    ...alike("tools: (await connectMcp({ name, url })).tools", "mcpServers"),
    ...alike("tools: toolsOf(user)", ...contexts, "contextSchema", "callOptionsSchema"),
    ...alike("run(input, { tools })", "activeTools"),
    ...alike(
      asking,
      "toolApproval",
      "needsApproval",
      "requireApproval",
      "requireToolApproval",
      "canUseTool",
      "interruptBefore",
      "interruptOn",
    ),
    ...alike("durableRuns({ store, agents })", "checkpointer"),
  },
  run: {
    ...alike("signal", "abort", "abortController"),
    ...alike("session: session(store, id)", "memory", "configurable", ...sessionIds),
    ...alike("runId", "id", "requestId"),
    ...alike("agent.stream(input)", "stream", "streamMode"),
    ...alike("onEvent", ...watching),
    ...alike("tools", "activeTools"),
  },
};

function alike(write: string, ...fields: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(fields.map((field) => [field, write]));
}

/** The fields of a definition, of its settings, and of one run. */
export interface KnownFields {
  readonly agent: object;
  readonly run: object;
  readonly settings: object;
}

/** Says where an unknown field belongs; undefined if no such place is known. */
export function meantText(of: "agent" | "run", field: string, known: KnownFields): string | undefined {
  const name = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const write = Object.hasOwn(meant[of], name) ? meant[of][name] : undefined;
  if (write !== undefined) return `write \`${write}\` in place of \`${field}\`.`;
  if (of === "agent" && Object.hasOwn(known.run, field))
    return `\`${field}\` is given to each run: write \`run(input, { ${field} })\`.`;
  if (of === "run" && (Object.hasOwn(known.agent, field) || Object.hasOwn(meant.agent, name))) {
    const own = meant.agent[name]?.replace("(...)", "") ?? field;
    return `\`${field}\` belongs to the agent: write \`agent.with({ ${own} }).run(input)\`.`;
  }
  const setting = settingOf[name] ?? name;
  if (!Object.hasOwn(known.settings, setting)) return undefined;
  const own = `settings: { ${setting} }`;
  return `\`${field}\` is a setting of the model: write \`${of === "agent" ? own : `agent.with({ ${own} }).run(input)`}\`.`;
}

/** Settings under the names of other libraries. */
const settingOf: Readonly<Record<string, string>> = alike(
  "maxOutputTokens",
  "maxTokens",
  "maxCompletionTokens",
);

/** Says what a setting is called here; undefined if it is not known. */
export function settingText(field: string): string | undefined {
  const setting = settingOf[field];
  return setting === undefined
    ? undefined
    : `write \`${setting}\` in place of \`${field}\`; what a provider alone knows goes into \`providerOptions\`.`;
}
