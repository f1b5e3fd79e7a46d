/** The contract between the suite and the adapter of a runtime. */
import type * as zod from "zod";

/** Features that a runtime may offer. A case names those that it needs; an adapter names those that its runtime lacks. Every runtime has all others. */
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

/** The effect of a tool on the world. Only runtimes that ask for it are given it. */
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
  /** The caller carries out the call: the runtime has no code for it. */
  readonly isClient: boolean;
  readonly execute: (args: unknown, given: { readonly signal?: AbortSignal | undefined }) => Promise<unknown>;
}

/** The agent that a case wants from a runtime. A field that is left out keeps the runtime's default. */
export interface Setup {
  /** The model: the address of a server that speaks OpenAI's chat completions, with `/v1`. */
  readonly address: string;
  /** A second model, to be asked when the first one fails. */
  readonly fallback?: string;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** The names of the tools that a person is asked about. */
  readonly asking: readonly string[];
  /** A folder of the case's own, for state that outlasts a process. */
  readonly folder: string;
  /** The greatest number of requests to the model. */
  readonly maxTurns?: number;
  readonly maxCalls?: number;
  readonly maxTokens?: number;
  /** Stop a model that makes the same call with the same result again and again. */
  readonly repeats?: boolean;
  readonly modelTimeoutMs?: number;
  /** Calls of one reply that change something run one after another. */
  readonly orderedWrites?: boolean;
  /** Once a stranger's text was read, only calls that the user asked for may have an effect. */
  readonly provenance?: boolean;
  readonly output?: Tool;
  readonly forcedCall?: boolean;
  /** The agent that the conversation can be handed to. */
  readonly handoff?: { readonly name: string; readonly instructions: string };
  readonly guardrail?: (message: string) => Promise<boolean>;
  /** The run is stored step by step, so that another process can continue it. */
  readonly durable?: boolean;
}

export interface Asked {
  readonly signal?: AbortSignal;
  /** The names of the only tools that this run may use. */
  readonly only?: readonly string[];
}

export interface Question {
  readonly id: string;
  readonly tool: string;
  readonly arguments: unknown;
  /** The caller carries out the call, which waits for its result. */
  readonly isClient?: boolean;
}

export interface Decision {
  readonly id: string;
  readonly approved: boolean;
  /** Arguments that replace those of the question. */
  readonly arguments?: Json;
  /** The result of a call that the caller carries out. */
  readonly result?: string;
}

/** The end of a run that did not throw. */
export interface End {
  readonly text: string;
  /** `stop` where the runtime says, or does not deny, that this is the model's whole answer; otherwise the runtime's word for the end. */
  readonly ended: string;
  readonly output?: unknown;
  /** The calls that wait for a person, or for the caller's result. */
  readonly questions?: readonly Question[];
  /** A click of the person: continues from this state. It may be called again, as by a page that was left open. */
  readonly answer?: (decisions: readonly Decision[]) => Promise<End>;
  /** The state as text, where the program stores it; empty where the runtime's own storage does. */
  readonly kept?: string;
}

export interface Streamed {
  readonly pieces: AsyncIterable<string>;
  /** The end of the run, once the pieces were read. */
  readonly end: () => Promise<End>;
}

/** An agent of a runtime. */
export interface Agent {
  /** Sends a message of the user. The second message continues the conversation of the first. */
  ask(message: string, asked?: Asked): Promise<End>;
  stream?(message: string, asked?: Asked): Promise<Streamed>;
  /** Returns a waiting run from its stored state, in any process. */
  restore?(kept: string): Promise<End>;
  /** Continues a run whose process died. */
  recover?(message: string): Promise<End>;
}

/** The function that the module `adapter.ts` of a runtime exports as `start`: makes the agent that a case wants. */
export type Start = (setup: Setup) => Agent | Promise<Agent>;

/** The contents of the file `about.json` of a runtime. */
export interface About {
  readonly name: string;
  /** The packages whose versions the page shows. */
  readonly packages: readonly string[];
  /** The API that the adapter uses, in the names of the runtime's documentation. */
  readonly way: string;
  /** The features that it does not offer, each with what replaces it, or where its documentation says so. */
  readonly lacks: Readonly<Partial<Record<Feature, string>>>;
  readonly causes?: readonly Cause[];
}

/** The reason why cases fail, as found in the source or the documentation of the versions that were played. */
export interface Cause {
  readonly cases: readonly string[];
  readonly cause: string;
  /** Lines of installed packages, as `package@version/path:line`, and addresses of documentation. */
  readonly where?: readonly string[];
}

export interface Adapter extends About {
  readonly start: Start;
}

/** The result of a case. */
export interface Verdict {
  readonly result: "pass" | "fail" | "not-offered";
  readonly reason?: string;
}
