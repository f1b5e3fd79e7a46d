/** The parts that a case works with: tools that note their calls, a model with a script, the runtime, and the demands on it. */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Adapter, Agent, Asked, Effect, End, Setup, Streamed, Tool } from "./contract.ts";
import { type Parameters, schemasOf } from "./parameters.ts";
import type { Call, Dialogue, Reply, Request, Script } from "./provider.ts";
import type { Message } from "./transcript.ts";

/** Ends a case as failed. */
export class Failed extends Error {}

/** Ends a case as not offered: the runtime turned out to lack what the case needs. */
export class NotOffered extends Error {}

/** A tool that notes the arguments of its calls. */
export interface Probe extends Tool {
  readonly ran: unknown[];
}

/** The end of a run, or the value that it threw. */
export type Outcome = End & { readonly threw?: string };

export interface ToolOptions {
  readonly effect?: Effect;
  readonly approval?: boolean;
  readonly timeoutMs?: number;
  readonly isClient?: boolean;
  readonly description?: string;
}

type Body = (args: never, given: { readonly signal?: AbortSignal | undefined }) => unknown;

/** Replies as a list; after the last one the model says that it is done. */
export function says(...replies: readonly Reply[]): Script {
  return (_request, index) => replies[index] ?? { text: "Done." };
}

/** A reply that calls tools. */
export function calls(
  ...made: readonly (readonly [name: string, args: unknown, id?: string | null])[]
): Reply {
  return {
    calls: made.map(([name, args, id]): Call => {
      const text = typeof args === "string" ? args : JSON.stringify(args);
      return { name, arguments: text, ...(id === undefined ? {} : { id }) };
    }),
  };
}

export const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Waits until a condition holds, for about `ms` milliseconds at most: it counts its checks, so that a busy machine gets more time. True if it held. */
export async function until(condition: () => boolean, ms: number): Promise<boolean> {
  for (let left = ms; left > 0 && !condition(); left -= 10) await wait(10);
  return condition();
}

/** Fails the case with the reason unless the condition holds. */
export function demand(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Failed(reason);
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content))
    return content === null || content === undefined ? "" : JSON.stringify(content);
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("");
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error))
    return typeof error === "string" ? error : (JSON.stringify(error) ?? String(error));
  const line = `${error.name}: ${error.message}`.replaceAll(/\s+/g, " ");
  return line.length <= 160 ? line : `${line.slice(0, 160)}…`;
}

/** The report of a phase in a process of its own. */
export interface Report {
  readonly killed?: true;
  readonly threw?: string;
  readonly text?: string;
  readonly kept?: string;
  readonly questions?: number;
}

/** The place where a scene plays. */
export interface Stage {
  readonly adapter: Adapter;
  readonly runtime: string;
  readonly caseId: string;
  readonly address: string;
  readonly fallback: string;
  readonly folder: string;
  readonly dialogue: Dialogue;
  readonly fallbackDialogue: Dialogue;
  /** In a process of its own the tools note their calls in a file. */
  readonly isChild?: boolean;
}

export class Scene {
  /** The calls of tools, their ends, and what the case notes, in order. */
  readonly log: string[] = [];
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  get requests(): readonly Request[] {
    return this.stage.dialogue.requests;
  }

  /** Writes the script of the model. */
  model(script: Script): void {
    this.stage.dialogue.script = script;
  }

  tool(
    name: string,
    parameters: Parameters,
    ...[body = () => "ok", options = {}]: [Body?, ToolOptions?]
  ): Probe {
    const ran: unknown[] = [];
    const {
      effect = "read",
      approval = false,
      isClient = false,
      description = `Does ${name}`,
      timeoutMs,
    } = options;
    const execute: Tool["execute"] = async (args, given) => {
      ran.push(args);
      this.log.push(`${name} begins`);
      if (this.stage.isChild) appendFileSync(this.#ranFile, `${JSON.stringify({ name, args })}\n`);
      try {
        return await body(args as never, given);
      } finally {
        this.log.push(`${name} ends`);
      }
    };
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    return {
      name,
      description,
      effect,
      approval,
      isClient,
      execute,
      ran,
      ...schemasOf(parameters),
      ...limit,
    };
  }

  async start(setup: Partial<Setup> & Pick<Setup, "tools">): Promise<Agent> {
    const { adapter, address, folder } = this.stage;
    const asking = setup.tools.filter(({ approval }) => approval).map(({ name }) => name);
    return adapter.start({ instructions: "Be brief.", address, folder, asking, ...setup });
  }

  /** Asks an agent; a thrown error is an outcome too. */
  async ask(
    agent: Agent | (Partial<Setup> & Pick<Setup, "tools">),
    message: string,
    asked?: Asked,
  ): Promise<Outcome> {
    return this.outcome(async () => ("ask" in agent ? agent : await this.start(agent)).ask(message, asked));
  }

  async outcome(begin: () => Promise<End>): Promise<Outcome> {
    try {
      return await begin();
    } catch (error) {
      if (error instanceof Failed || error instanceof NotOffered) throw error;
      return { text: "", ended: "threw", threw: messageOf(error) };
    } finally {
      this.log.push("run ends");
    }
  }

  /** Opens a stream; the case reads it. */
  async stream(agent: Agent, message: string, asked?: Asked): Promise<Streamed> {
    if (agent.stream === undefined) throw new NotOffered("the adapter has no stream");
    return agent.stream(message, asked);
  }

  /** Reads a stream to its end. */
  async read(agent: Agent, message: string, asked?: Asked): Promise<Outcome & { readonly shown: string }> {
    let shown = "";
    const outcome = await this.outcome(async () => {
      const { pieces, end } = await this.stream(agent, message, asked);
      for await (const piece of pieces) shown += piece;
      return end();
    });
    return { ...outcome, shown };
  }

  /** Waits until nothing more happens: no event, no request and no piece of a reply for 0.3 seconds. */
  async settled(): Promise<void> {
    const seen = (): string => `${this.log.length} ${this.requests.map(({ written }) => written).join(" ")}`;
    let last = seen();
    for (let calm = 0; calm < 15; calm = seen() === last ? calm + 1 : 0) {
      last = seen();
      await wait(20);
    }
  }

  /** The results of the last calls before a request, as the model received them, in their order. */
  results(index = this.requests.length - 1): readonly string[] {
    const messages = this.requests[index]?.messages ?? [];
    const asking = messages.findLast(({ tool_calls: made = [] }) => made.length > 0);
    return (asking?.tool_calls ?? []).map(({ id }) =>
      textOf(messages.find((message) => message.role === "tool" && message.tool_call_id === id)?.content),
    );
  }

  /** The contents of all messages of a request, as text. */
  sent(index: number): string {
    return this.requests[index]?.messages.map(({ content }: Message) => textOf(content)).join("\n") ?? "";
  }

  /** Fails the case when it sent a request that a provider refuses. */
  demandValid(): void {
    const [fault] = this.stage.dialogue.refused;
    demand(fault === undefined, `sent what a provider refuses: ${fault}`);
  }

  /** Plays a phase of this case in a process of its own, until it ends or dies. Returns the report of the phase. */
  async process(phase: string): Promise<Report> {
    const { runtime, caseId, address, folder } = this.stage;
    const file = fileURLToPath(new URL("child.ts", import.meta.url));
    const child = spawn(process.execPath, ["--no-warnings", file, runtime, caseId, address, folder, phase], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 30_000 * Number(process.env["CONFORMANCE_PATIENCE"] ?? 1),
      killSignal: "SIGKILL",
    });
    let out = "";
    let errors = "";
    child.stdout.on("data", (data: Buffer) => void (out += data.toString()));
    child.stderr.on("data", (data: Buffer) => void (errors += data.toString()));
    const signal = await new Promise((resolve) => void child.on("close", (_code, why) => resolve(why)));
    const line = out.split("\n").find((one) => one.startsWith("@@"));
    if (line !== undefined) return JSON.parse(line.slice(2)) as Report;
    return signal === "SIGKILL" ? { killed: true } : { threw: errors.trim().split("\n").at(-1) ?? "" };
  }

  /** Stores a text for a later process of this case. */
  keep(text: string): void {
    writeFileSync(this.#keptFile, text);
  }

  kept(): string {
    return readFileSync(this.#keptFile, "utf8");
  }

  /** The calls that the processes of this case noted. */
  ranInAll(name: string): readonly unknown[] {
    if (!existsSync(this.#ranFile)) return [];
    const lines = readFileSync(this.#ranFile, "utf8").trim().split("\n");
    const ran = lines.map((line) => JSON.parse(line) as { readonly name: string; readonly args: unknown });
    return ran.filter((one) => one.name === name).map(({ args }) => args);
  }

  get #keptFile(): string {
    return join(this.stage.folder, "kept");
  }

  get #ranFile(): string {
    return join(this.stage.folder, "ran.jsonl");
  }
}
