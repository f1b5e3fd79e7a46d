/** Keeps runtimes from writing to the console and from reporting to their makers; returns a function that prints a line. */
export function quiet(): (line: string) => void {
  Object.assign(process.env, {
    OTEL_SDK_DISABLED: "true",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    MASTRA_TELEMETRY_DISABLED: "1",
    LANGCHAIN_TRACING_V2: "false",
    OPENAI_API_KEY: "key",
  });
  for (const level of ["log", "info", "debug", "warn", "error"] as const) console[level] = () => undefined;
  process.on("unhandledRejection", () => undefined); // a runtime whose run was abandoned may still fail later
  process.on("uncaughtException", () => undefined);
  const write = process.stdout.write.bind(process.stdout);
  return (line) => void write(`${line}\n`);
}
