/** One measurement in this process: node bench/worker.ts <peer> <case> <size>. The last line on stdout is the result as JSON. */
import type { Figure } from "./bench-case.ts";
import { cases } from "./cases.ts";
import type { Prepare } from "./script.ts";

/** What a worker prints, after `resultMark`. */
export type WorkerResult = { readonly figures: readonly Figure[] } | { readonly error: string };

export const resultMark = "\n@@";

async function main(peer: string, name: string, size: number): Promise<WorkerResult> {
  try {
    const chosen = cases[name];
    if (chosen === undefined) throw new Error(`No case is called ${name}.`);
    const adapter = (await import(`./peers/${peer}/adapter.ts`)) as { readonly prepare: Prepare };
    return { figures: await chosen.run(adapter.prepare, size) };
  } catch (error) {
    return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}

if (import.meta.main) {
  // Before the peer loads, so that none measures its tracing.
  const quiet = {
    OTEL_SDK_DISABLED: "true",
    LANGSMITH_TRACING: "false",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    MASTRA_TELEMETRY_DISABLED: "1",
  };
  Object.assign(process.env, quiet);
  const [, , peer = "", name = "", size = "0"] = process.argv;
  const log = console.log.bind(console);
  if (process.env["BENCH_VERBOSE"] === undefined)
    for (const level of ["log", "info", "debug", "warn", "error"] as const) console[level] = () => undefined;
  const result = await main(peer, name, Number(size));
  log(`${resultMark}${JSON.stringify(result)}`);
  process.exit(0); // some peers keep timers
}
