/** One run of one peer against a server: node bench/failure-worker.ts <peer> <address> [defaults]. Lines that begin with a mark say what happened. */

/** The function that a peer exports: it asks `question` of the server at `address`, with one tool, in the documented way. */
export type Ask = (asked: {
  readonly address: string;
  readonly question: string;
  /** Whether each parameter of the tool has the default 0. */
  readonly defaults: boolean;
  /** The body of the tool: notes the arguments, returns the sum. */
  readonly add: (args: { readonly a: number; readonly b: number }) => number;
}) => Promise<Answer>;

export interface Answer {
  readonly text: unknown;
  /** The end as the peer reports it, beside the text: the finish reason. */
  readonly ended?: string | undefined;
  /** For peers that return the end of a run as data: their report where the run did not answer. */
  readonly failed?: string;
  readonly usage?: unknown;
}

/** The report in the last line. */
export type Reported = (Answer | { readonly threw: string; readonly message: string }) & {
  readonly ms: number;
};

export const ranMark = "@@ran ";
export const endMark = "@@end ";

/** The name of a thrown error, and its code where it has one. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? String(error);
  const code = "code" in error && typeof error.code === "string" ? ` ${error.code}` : "";
  return `${error.name}${code}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

if (import.meta.main) {
  const { question } = await import("./failure-scenarios.ts");
  const quiet = {
    OTEL_SDK_DISABLED: "true",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    MASTRA_TELEMETRY_DISABLED: "1",
  };
  Object.assign(process.env, quiet);
  const [, , peer = "", address = "", defaults] = process.argv;
  const say = (mark: string, value: unknown): void =>
    void process.stdout.write(`\n${mark}${JSON.stringify(value)}\n`);
  for (const level of ["log", "info", "debug", "warn", "error"] as const) console[level] = () => undefined;
  const { ask } = (await import(`./peers/${peer}/failures.ts`)) as { readonly ask: Ask };
  const add = (args: { readonly a: number; readonly b: number }): number => {
    say(ranMark, args);
    return args.a + args.b;
  };
  const begun = performance.now();
  const ms = (): number => Math.round(performance.now() - begun);
  try {
    say(endMark, { ...(await ask({ address, question, defaults: defaults !== undefined, add })), ms: ms() });
  } catch (error) {
    say(endMark, { threw: codeOf(error), message: messageOf(error), ms: ms() });
  }
  process.exit(0); // some peers keep timers running
}
