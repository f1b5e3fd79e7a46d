/** What the suite and the adapter of a runtime say to each other. */
import type * as zod from "zod";
import type { Scene } from "./scene.ts";

/** What a runtime may offer. A case says which of these it needs; an adapter says which its runtime lacks. All others every runtime has. */
export const features = {
  hidden: "one run can be given some of the agent's tools only",
  stream: "the text of a run can be read while the model writes it",
  conversation: "a second message goes on with the conversation of the first",
  cancel: "a run can be stopped from outside",
  "tool-timeout": "a tool has a time limit",
  "model-timeout": "a silent model has a time limit",
  turns: "a run is bounded in requests to its model",
  "call-limit": "a run is bounded in calls of tools",
  tokens: "a run is bounded in tokens",
  repeats: "a model that makes the same call again and again is stopped before the bound on requests",
  retries: "a failed request is made again, without code of one's own",
  "ordered-writes": "calls of one reply that change something can be kept one after another",
  approval: "a person is asked before a call runs, and the run goes on later",
  "approval-singly": "of several questions each can be answered by itself",
  "approval-edit": "the person may say yes to other arguments than the model wrote",
  "kept-state": "a run that waits is kept, and goes on in another process",
  durable: "a run whose process was killed goes on in another process",
  provenance: "what strangers wrote is told apart from what the user wrote, and decides which calls may run",
  "text-calls": "a call that a model writes as text is read as a call",
  output: "the answer is an object that fits a schema",
  "forced-call": "the model can be made to call a tool",
  handoff: "the model hands the conversation over to another agent, which answers the user from then on",
  fallback: "another model is asked when the first one fails",
  guardrail: "a check of the user's message that runs beside the model, and stops the run",
  "client-tool": "a call is handed to the caller, who sends the result with the next request",
} as const;

export type Feature = keyof typeof features;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [field: string]: Json };

/** What a tool does to the world. Runtimes that do not ask are not told. */
export type Effect = "read" | "write" | "irreversible";

/** A tool of a case, before a runtime made its own tool of it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  readonly zodSchema: (z: typeof zod.z) => zod.ZodObject;
  readonly effect: Effect;
  /** A person is asked before each call. */
  readonly approval: boolean;
  readonly timeoutMs?: number;
  /** The call is the caller's to carry out: the runtime has no code for it. */
  readonly isClient: boolean;
  readonly execute: (args: unknown, given: { readonly signal?: AbortSignal | undefined }) => Promise<unknown>;
}

/** What a case asks a runtime to make an agent of. What is left out is the runtime's default. */
export interface Setup {
  /** The model: the address of a server that speaks OpenAI's chat completions, with `/v1`. */
  readonly address: string;
  /** A second model, for the case that the first one fails. */
  readonly fallback?: string;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** The names of the tools that a person is asked about. */
  readonly asking: readonly string[];
  /** A folder of the case's own, for state that outlasts a process. */
  readonly folder: string;
  /** Requests to the model, at most. */
  readonly maxTurns?: number;
  readonly maxCalls?: number;
  readonly maxTokens?: number;
  /** Stop a model that makes the same call with the same result. */
  readonly repeats?: boolean;
  readonly modelTimeoutMs?: number;
  /** Calls of one reply that change something run one after another. */
  readonly orderedWrites?: boolean;
  /** Only calls that the user asked for may have an effect, once a stranger's words were read. */
  readonly provenance?: boolean;
  readonly output?: Tool;
  readonly forcedCall?: boolean;
  /** The agent that the conversation can be handed over to. */
  readonly handoff?: { readonly name: string; readonly instructions: string };
  readonly guardrail?: (message: string) => Promise<boolean>;
  /** The run is kept step by step, so that another process can go on with it. */
  readonly durable?: boolean;
}

export interface Asked {
  readonly signal?: AbortSignal;
  /** The names of the only tools of this run. */
  readonly only?: readonly string[];
}

export interface Question {
  readonly id: string;
  readonly tool: string;
  readonly arguments: unknown;
  /** The call is the caller's to carry out, and waits for its result. */
  readonly isClient?: boolean;
}

export interface Decision {
  readonly id: string;
  readonly approved: boolean;
  /** Other arguments than those that were asked about. */
  readonly arguments?: Json;
  /** The result of a call that is the caller's to carry out. */
  readonly result?: string;
}

/** How a run ended, in so far as it did not throw. */
export interface End {
  readonly text: string;
  /** `stop` where the runtime says, or does not deny, that this is the model's whole answer; else its word for what happened. */
  readonly ended: string;
  readonly output?: unknown;
  /** The calls that wait for a person, or for the caller to carry them out. */
  readonly questions?: readonly Question[];
  /** A click of the person: goes on from this state. It may be called again, as a page does that was left open. */
  readonly answer?: (decisions: readonly Decision[]) => Promise<End>;
  /** The state as text, where the program keeps it; empty where the runtime's own storage does. */
  readonly kept?: string;
}

export interface Streamed {
  readonly pieces: AsyncIterable<string>;
  /** How the run ended, once the pieces were read. */
  readonly end: () => Promise<End>;
}

/** An agent of a runtime. */
export interface Agent {
  /** A message of the user. The second one goes on with the conversation of the first. */
  ask(message: string, asked?: Asked): Promise<End>;
  stream?(message: string, asked?: Asked): Promise<Streamed>;
  /** Gives a waiting run back from what was kept of it, in whatever process. */
  restore?(kept: string): Promise<End>;
  /** Goes on with a run whose process died. */
  recover?(message: string): Promise<End>;
}

/** What the module `adapter.ts` of a runtime exports as `start`: makes an agent of what a case asks for. */
export type Start = (setup: Setup) => Agent | Promise<Agent>;

/** What the file `about.json` of a runtime says. */
export interface About {
  readonly name: string;
  /** The packages whose versions the page tells. */
  readonly packages: readonly string[];
  /** How it was asked, in the names of its documentation. */
  readonly way: string;
  /** What it does not offer, and what there is instead, or where its documentation says so. */
  readonly lacks: Readonly<Partial<Record<Feature, string>>>;
  readonly causes?: readonly Cause[];
}

/** Why cases fail, as it was found in the source or the documentation of the versions that were played. */
export interface Cause {
  readonly cases: readonly string[];
  readonly cause: string;
  /** Lines of installed packages, as `package@version/path:line`, and addresses of documentation. */
  readonly where?: readonly string[];
}

export interface Adapter extends About {
  readonly start: Start;
}

/** How a case came out. */
export interface Verdict {
  readonly result: "pass" | "fail" | "not-offered";
  readonly reason?: string;
}

/** A case of the suite. */
export interface Case {
  /** `area/name`. */
  readonly id: string;
  /** What is asked of a runtime, in one sentence. */
  readonly asks: string;
  /** Why it matters to who uses an agent built on it. */
  readonly why: string;
  readonly needs?: readonly Feature[];
  /** The case is about a model that is not asked. Any other fails where it was not. */
  readonly asksNobody?: true;
  readonly play: (scene: Scene) => Promise<void>;
  /** What a process of its own does, for cases that kill one. Gives what it reports. */
  readonly phase?: (scene: Scene, phase: string) => Promise<unknown>;
}
