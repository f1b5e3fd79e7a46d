/** Keeps runtimes from talking to the console and to their makers; gives what prints a line. */
export function quiet(): (line: string) => void {
  Object.assign(process.env, {
    OTEL_SDK_DISABLED: "true",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    MASTRA_TELEMETRY_DISABLED: "1",
    LANGCHAIN_TRACING_V2: "false",
    OPENAI_API_KEY: "key",
  });
  for (const level of ["log", "info", "debug", "warn", "error"] as const) console[level] = () => undefined;
  process.on("unhandledRejection", () => undefined); // a runtime whose run was left may still fail somewhere
  process.on("uncaughtException", () => undefined);
  const write = process.stdout.write.bind(process.stdout);
  return (line) => void write(`${line}\n`);
}
