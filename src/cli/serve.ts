import { originShape } from "../server/origins.ts";
import { serve as serverOf, type ServeOptions } from "../server/serve.ts";
import { fits } from "../util/shape.ts";
import { WritError } from "../error/writ-error.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { type AnyAgent, loadAgents } from "./load-agent.ts";
import { listening, portOf } from "./listening.ts";
import { countOf, listOf } from "./options.ts";
import { oneLine, processOutput } from "./output.ts";
import { openPlace } from "./run-store.ts";
import { readPrincipals } from "./tokens.ts";
import { toldToEnd } from "./interrupts.ts";
import { acceptedParts, type WorkFlags } from "./work.ts";

/** The options of `writ serve`. */
export interface ServeFlags extends WorkFlags {
  readonly port: string;
  readonly host: string;
  readonly tokens?: string;
  readonly origin?: string;
}

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

/** `writ serve <file…>`: serves agents over HTTP, until it is told to end (SIGTERM, Ctrl-C); then their runs are handed over. */
export async function serve(files: readonly string[], flags: ServeFlags): Promise<ExitCode> {
  return serveAgents(await loadAgents(files), flags);
}

/** Serves agents that were loaded. @throws WritError `option-invalid` */
export async function serveAgents(
  agents: readonly AnyAgent[],
  flags: ServeFlags,
  more: Pick<ServeOptions, "mcp"> = {},
): Promise<ExitCode> {
  const concurrency = countOf("--concurrency", flags.concurrency);
  const port = portOf(flags.port);
  const principals = flags.tokens === undefined ? undefined : readPrincipals(flags.tokens);
  if (principals === undefined && !loopback.test(flags.host)) {
    const advice =
      "Other machines can reach it there: give the callers tokens with `writ token <name>` and --tokens.";
    throw new WritError("option-invalid", { option: "--host", value: flags.host, advice });
  }
  const origins = flags.origin === undefined ? undefined : originsOf(flags.origin);
  await using listener = await listening(port, flags.host);
  await using place = await openPlace(flags);
  await using server = serverOf({
    ...more,
    store: place.store,
    sessions: place.sessions,
    agents,
    work: { concurrency },
    ...(principals === undefined ? {} : { principals }),
    ...(origins === undefined ? {} : { origins }),
    ...acceptedParts(flags),
    onError: (error) => processOutput.progress(`${oneLine(String(error), 500)}\n`),
  });
  listener.answer(server.fetch);
  const names = agents.map(({ name }) => name).join(", ");
  const address = `${listener.address}${more.mcp === undefined ? "" : "/mcp"}`;
  processOutput.progress(`Serving ${oneLine(names)} at ${address}. Ctrl-C hands over and ends.\n`);
  await toldToEnd();
  processOutput.progress("Handing over.\n");
  await listener.close(server.drain());
  return exitCodes.answered;
}

/** @throws WritError `option-invalid` for a word that is not an origin */
function originsOf(given: string): readonly string[] {
  const origins = listOf(given);
  const other = origins.find((origin) => !fits(originShape, origin));
  if (other === undefined) return origins;
  const advice = `Give ${originShape.wanted}, several separated by commas.`;
  throw new WritError("option-invalid", { option: "--origin", value: other, advice });
}
