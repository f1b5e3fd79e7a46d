import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import { nodeHost } from "../adapters/clock.ts";
import { WritError } from "../error/writ-error.ts";
import { inspectorOf } from "../inspect/inspector.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { loadAgents } from "./load-agent.ts";
import { listening, portOf } from "./listening.ts";
import { oneLine, processOutput } from "./output.ts";
import { knownStore, nameOfStore, openPlace, openStore, type StoreFlags } from "./run-store.ts";
import { toldToEnd } from "./interrupts.ts";
import { acceptedParts, type CheckFlags } from "./work.ts";

/** The options of `writ inspect`. */
export interface InspectFlags extends StoreFlags, CheckFlags {
  readonly port: string;
  readonly by?: string;
  readonly work?: boolean;
}

/** `writ inspect [file…]`: serves a page on this machine that shows runs, until it is told to end (SIGTERM, Ctrl-C). */
export async function inspect(files: readonly string[], flags: InspectFlags): Promise<ExitCode> {
  const port = portOf(flags.port);
  const agents = await loadAgents(files);
  await using listener = await listening(port, "127.0.0.1");
  if (flags.work === true && files.length === 0) {
    const reason = "`--work` carries out runs of agents: name their files, `writ inspect --work agent.ts`";
    throw new WritError("command-invalid", { reason });
  }
  await using place = await openPlace(flags, flags.work === true ? openStore : knownStore);
  const token = randomBytes(24).toString("base64url");
  await using inspector = await inspectorOf({
    store: place.store,
    sessions: place.sessions,
    agents,
    token,
    place: nameOfStore(flags),
    by: flags.by ?? ownName(),
    works: flags.work === true,
    host: nodeHost,
    ...acceptedParts(flags),
    onError: (error) => processOutput.progress(`${oneLine(String(error), 500)}\n`),
  });
  listener.answer(inspector.fetch);
  processOutput.progress(
    `Inspecting ${oneLine(nameOfStore(flags))} at ${listener.address}/#token=${token}\n`,
  );
  if (agents.length === 0)
    processOutput.progress(
      "Runs cannot be answered or forked there: that needs the agent's program, `writ inspect agent.ts`.\n",
    );
  processOutput.progress("Ctrl-C ends it.\n");
  await toldToEnd();
  await listener.close(inspector.drain());
  return exitCodes.answered;
}

/** The name of the person who started it, as far as answers can be kept under it. */
function ownName(): string {
  try {
    return (
      userInfo()
        .username.replaceAll(/[^\w.@-]/g, "-")
        .slice(0, 200) || "inspector"
    );
  } catch {
    return "inspector"; // a container may have no name for its user
  }
}
