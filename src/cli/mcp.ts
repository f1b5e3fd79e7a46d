import { basename } from "node:path";
import { agent } from "../adapters/node.ts";
import { WritError } from "../error/writ-error.ts";
import type { McpOffer } from "../server/mcp/options.ts";
import { serveMcpStdio } from "../server/mcp/stdio.ts";
import type { Tool } from "../tool/tool.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { type AnyAgent, checkAgentNames, loadAgent, loadAgentOrTools } from "./load-agent.ts";
import { countOf, listOf, wordOf } from "./options.ts";
import { oneLine, processOutput } from "./output.ts";
import { openPlace, type OpenPlace } from "./run-store.ts";
import { serveAgents, type ServeFlags } from "./serve.ts";
import { toldToEnd } from "./interrupts.ts";
import { acceptedParts } from "./work.ts";

/** The options of `writ mcp`. A list of names is true if its option has no value: all of them. */
export interface McpFlags extends Omit<ServeFlags, "port"> {
  readonly port?: string;
  readonly tools?: string | true;
  readonly knowledge?: string | true;
  readonly skills?: string | true;
  readonly approvals: string;
}

/** `writ mcp <file…>`: serves agents and tools to MCP clients, over standard input and output, or over HTTP if a port is given. */
export async function mcp(files: readonly string[], flags: McpFlags): Promise<ExitCode> {
  const { port } = flags;
  if (port === undefined) refuseHttp(flags);
  const concurrency = countOf("--concurrency", flags.concurrency);
  const loaded = await Promise.all(files.map(load));
  const offer: McpOffer = { ...offerOf(flags, loaded) };
  const agents = loaded.map(({ served }) => served);
  checkAgentNames(agents, files);
  if (port !== undefined) return serveAgents(agents, { ...flags, port }, { mcp: offer });
  await using place = await placeOf(flags);
  const told = new AbortController();
  void toldToEnd().then(() => told.abort());
  await serveMcpStdio({
    store: place.store,
    sessions: place.sessions,
    agents,
    offer,
    work: { concurrency },
    ...acceptedParts(flags),
    signal: told.signal,
    onError: (error) => processOutput.progress(`${oneLine(String(error), 500)}\n`),
  });
  return exitCodes.answered;
}

/** @throws WritError `option-invalid` for an option that holds for HTTP alone */
function refuseHttp({ host, tokens, origin }: McpFlags): void {
  const given = { "--host": host === "127.0.0.1" ? undefined : host, "--tokens": tokens, "--origin": origin };
  const advice = "It applies to HTTP: give `--port` too.";
  for (const [option, value] of Object.entries(given))
    if (value !== undefined) throw new WritError("option-invalid", { option, value, advice });
}

/** An agent of a file, or one made for the tools of a file without an agent. */
interface Loaded {
  readonly served: AnyAgent;
  readonly tools: readonly Tool[] | undefined;
}

async function load(path: string): Promise<Loaded> {
  const found = /\.[cm]?[jt]s$/.test(path) ? await loadAgentOrTools(path) : await loadAgent(path);
  if (typeof found === "function") return { served: found, tools: undefined };
  const name = basename(path).replace(/\..*$/, "").replaceAll(/\W/g, "_").replace(/^\d/, "_");
  return { served: agent({ name: name.slice(0, 30), model: () => "", tools: found }), tools: found };
}

/** The offer of the loaded files. All tools of a file without an agent are offered, because there is nothing else in it. */
function offerOf(flags: McpFlags, loaded: readonly Loaded[]): McpOffer {
  const { tools, knowledge, skills } = flags;
  const alone = loaded.flatMap(({ tools: own = [] }) => own.map(({ name }) => name));
  const named = tools === undefined ? [] : namesOf(tools);
  return {
    agents: loaded.flatMap(({ served, tools: own }) => (own === undefined ? [served.name] : [])),
    tools: named === true ? true : [...named, ...alone],
    ...(knowledge === undefined ? {} : { knowledge: namesOf(knowledge) }),
    ...(skills === undefined ? {} : { skills: namesOf(skills) }),
    approvals: wordOf("--approvals", flags.approvals, ["refuse", "wait", "elsewhere"]),
  };
}

const namesOf = (names: string | true): readonly string[] | true => (names === true ? true : listOf(names));

/** The place of the runs of one client: memory, if nothing need outlast it. @throws WritError `option-invalid` */
async function placeOf(flags: McpFlags): Promise<OpenPlace> {
  if (flags.store !== undefined || process.env["WRIT_STORE"] !== undefined) return openPlace(flags);
  if (flags.approvals === "refuse") return openPlace({ ...flags, store: ":memory:" });
  const advice = "Name the store in which runs wait: `--store runs.db`; `writ approvals` answers there.";
  throw new WritError("option-invalid", { option: "--approvals", value: flags.approvals, advice });
}
