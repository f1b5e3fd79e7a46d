const watching = ["onStepFinish", "onStepEnd", "onFinish", "onEnd", "callbacks"];

/** Field names of other libraries, each with the field to use here: of an agent, and of one run. */
const meant: Readonly<Record<"agent" | "run", Readonly<Record<string, string>>>> = {
  agent: {
    ...alike("instructions", "system", "systemPrompt", "prompt", "systemMessage"),
    ...alike("budget: { turns }", "maxSteps", "maxTurns", "maxIterations", "stopWhen"),
    ...alike("budget: { durationMs }", "timeoutMs"),
    ...alike("retry: { attempts }", "maxRetries", "retries"),
    ...alike("output", "outputSchema", "outputType", "responseFormat", "structuredOutput"),
    ...alike("input", "inputSchema"),
    ...alike("subagents(...)", "agents", "handoffs", "subagents"),
    ...alike("hooks: [{ beforeModel }]", "prepareStep", "prepareCall"),
    ...alike("hooks", "middleware", "guardrails", "inputGuardrails", "outputGuardrails"),
    ...alike("onEvent", ...watching),
    ...alike("run(input, { tools })", "activeTools"),
    ...alike(
      'policy: policy({ name, rules: [ask("name_of_tool")] })',
      "toolApproval",
      "interruptBefore",
      "interruptOn",
    ),
    ...alike("durableRuns({ store, agents })", "checkpointer"),
  },
  run: {
    ...alike("signal", "abort", "abortController"),
    ...alike("session: session(store, id)", "sessionId", "threadId", "thread_id", "conversationId"),
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
  const write = Object.hasOwn(meant[of], field) ? meant[of][field] : undefined;
  if (write !== undefined) return `write \`${write}\` in place of \`${field}\`.`;
  if (of === "agent" && Object.hasOwn(known.run, field))
    return `\`${field}\` is given to each run: write \`run(input, { ${field} })\`.`;
  if (of === "run" && (Object.hasOwn(known.agent, field) || Object.hasOwn(meant.agent, field))) {
    const own = meant.agent[field]?.replace("(...)", "") ?? field;
    return `\`${field}\` belongs to the agent: write \`agent.with({ ${own} }).run(input)\`.`;
  }
  const setting = settingOf[field] ?? field;
  if (!Object.hasOwn(known.settings, setting)) return undefined;
  const own = `settings: { ${setting} }`;
  return `\`${field}\` is a setting of the model: write \`${of === "agent" ? own : `agent.with({ ${own} }).run(input)`}\`.`;
}

/** Settings under the names of other libraries. */
const settingOf: Readonly<Record<string, string>> = alike("maxOutputTokens", "maxTokens", "max_tokens");

/** Says what a setting is called here; undefined if it is not known. */
export function settingText(field: string): string | undefined {
  const setting = settingOf[field];
  return setting === undefined
    ? undefined
    : `write \`${setting}\` in place of \`${field}\`; what a provider alone knows goes into \`providerOptions\`.`;
}
