import type { Command } from "commander";
import { jsonErrors, withStore } from "./durable-commands.ts";
import type { InspectFlags } from "./inspect.ts";
import type { McpFlags } from "./mcp.ts";
import { personOf } from "./options.ts";
import type { Act } from "./run-command.ts";
import type { ServeFlags } from "./serve.ts";
import type { TokenFlags } from "./tokens.ts";

/** Adds `writ serve`, `writ mcp`, `writ inspect` and `writ token`. */
export function addServer(program: Command, act: Act): void {
  withStore(
    withServing(
      program
        .command("serve")
        .description(
          "serve agents over HTTP, with runs that outlast this process, until told to end (Ctrl-C, SIGTERM)",
        )
        .argument("<file...>", "programs (.ts, .js) that export an agent, or definitions (.md, .json)")
        .option("--port <n>", "0 takes any free port", "8787"),
    ),
    jsonErrors,
  ).action((files: string[], flags: ServeFlags) =>
    act(flags, async () => (await import("./serve.ts")).serve(files, flags)),
  );
  withStore(
    withServing(
      program
        .command("mcp")
        .description("offer agents and tools to MCP clients, over standard input and output, or over HTTP")
        .argument("<file...>", "programs that export an agent, or only tools; definitions (.md, .json)")
        .option("--tools [names]", "also offer these tools of the agents one by one; without names, all")
        .option("--knowledge [names]", "offer their knowledge as resources")
        .option("--skills [names]", "offer the instructions of their skills as prompts")
        .option(
          "--approvals <way>",
          "refuse or wait: ask the person at the client; if the client cannot ask, deny the call, or wait for an answer from elsewhere; elsewhere: never ask the client",
          "refuse",
        )
        .option("--port <n>", "speak over HTTP at this port, under /mcp; 0 takes any free port"),
    ),
    jsonErrors,
  ).action((files: string[], flags: McpFlags) =>
    act(flags, async () => (await import("./mcp.ts")).mcp(files, flags)),
  );
  addInspect(program, act);
  program
    .command("token")
    .description("make a token for a caller of the server; it is printed only once, and its hash is kept")
    .argument("<name>", "letters, digits, `.`, `_` or `-`; only this caller sees its runs")
    .option("--tokens <file>", "the file of the hashes", "tokens.json")
    .option("--agents <names>", "the agents that the caller may use; default: all")
    .option("--operator", "the caller may read why runs failed, in the words of providers and tools")
    .option("--json", "print one JSON object")
    .action((name: string, flags: TokenFlags) =>
      act(flags, async () => (await import("./tokens.ts")).makeToken(name, flags)),
    );
}

function addInspect(program: Command, act: Act): void {
  withStore(
    program
      .command("inspect")
      .description("show runs on a page of this machine: each call, and why it was allowed or refused")
      .argument(
        "[file...]",
        "programs or definitions of agents, to explain their runs in full, to answer and to fork them",
      )
      .option("--port <n>", "0 takes any free port", "0")
      .option("--work", "also carry out runs of these agents here")
      .option("--by <name>", "the name under which answers are kept; default: the user's", personOf)
      .option(
        "--accept <parts>",
        "the parts of runs that were changed on purpose since, like tools,instructions",
      ),
    jsonErrors,
  ).action((files: string[], flags: InspectFlags) =>
    act(flags, async () => (await import("./inspect.ts")).inspect(files, flags)),
  );
}

/** Adds the options of every command that answers over HTTP. */
function withServing(command: Command): Command {
  return command
    .option("--host <address>", "the address to listen at; without --tokens one of this machine", "127.0.0.1")
    .option("--tokens <file>", "the file of the callers that may use it; `writ token <name>` makes it")
    .option("--origin <origins>", "the origins of other pages that may use it, like https://app.example")
    .option("--concurrency <n>", "the number of runs at a time", "10")
    .option(
      "--accept <parts>",
      "the parts of runs that were changed on purpose since, like tools,instructions",
    );
}
