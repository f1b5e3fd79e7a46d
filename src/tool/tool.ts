import type { StandardSchemaV1 } from "@standard-schema/spec";
import { checkShape, closed } from "../error/check-shape.ts";
import { otherWord } from "../error/other-words.ts";
import { WritError } from "../error/writ-error.ts";
import type { ToolCall } from "../message/message.ts";
import type { JsonSchema, Schema } from "../schema/schema.ts";
import { type InferInput, type InferOutput, type SchemaSource, toSchema } from "../schema/to-schema.ts";
import type { Json, JsonObject } from "../util/json.ts";
import {
  boolean,
  callable,
  fits,
  map,
  number,
  oneOf,
  optional,
  record,
  shapeOf,
  shownValue,
  string as text,
  anything,
  type Shape,
  either,
  named,
} from "../util/shape.ts";
import { kindOf } from "../util/shape.ts";
import type { Label, Secrecy } from "../message/label.ts";
import type { CallScope } from "./call-scope.ts";
import type { Capability } from "./capability.ts";
import type { Reconcile, RetryAfterCrash } from "./after-crash.ts";
import { checkNotation } from "./check-notation.ts";
import { checkParameters, securityFields } from "./check-security.ts";
import { checkConstraints, type Constraints } from "./constraints.ts";
import type { Enforcement } from "./enforcement.ts";
import { exclusiveKeyOf } from "./exclusive-key.ts";
import type { HandlesOf } from "./handles.ts";
import type { Labelled } from "./labelled.ts";
import type { Parameters, ValueType } from "./parameters.ts";
import type { AgreedAct, PlannedAct } from "./planned-act.ts";
import type { Waits } from "./waits.ts";
import { checkRecovery, type Recovery } from "./recovery.ts";
import type { WithFiles } from "./with-files.ts";
import { argumentSchema } from "./argument-schema.ts";
import type { ToolPage } from "./tool-page.ts";

/**
 * The effect of a call on the world: `none` computes, `read` looks, `write` changes, `irreversible` cannot be
 * undone; `undeclared` if the author did not say. Only `none` and `read` may start while the model still
 * writes.
 */
export type Effect = "none" | "read" | "write" | "irreversible" | "undeclared";

/**
 * The context of a call, which a tool gets beside its arguments. Pass the whole object on: `signal` and `call` are made when you first read them, and a
 * copy made by spreading has neither.
 */
export interface ToolContext extends Waits {
  /** Aborted when the run is cancelled or the tool's time is over. */
  readonly signal: AbortSignal;
  /** The id of the call in events and in the transcript. */
  readonly callId: string;
  /** The same at every attempt of this call: pass it to services that can recognise a repetition. */
  readonly idempotencyKey: string;
  /** Tells watchers the progress of the call while it goes on; the model never sees it. Each watcher gets a copy; a value that is not JSON becomes null. */
  readonly progress: (value: Json) => void;
  /** The call as the model made it, after hooks. */
  readonly call: ToolCall;
  /** The run that the call belongs to. Passed to an agent's `run({ parent })`, it makes that run one inside this: it shares its bounds and may do no more. */
  readonly run: CallScope;
  /** The join of the labels of everything that the model had seen when it made the call, and of all that runs inside the call have read by now. */
  readonly label: Label;
}

/** A change of the run after a call. It can narrow the tools that may be called, and can tell the model of more of them. */
export interface Mode {
  /** The only names that may be called from now on, out of those that may be called already. */
  readonly restrictTo?: readonly string[];
  /** Tools whose calls need no question any more, although the policy asks. A call that the policy denies stays denied. */
  readonly preapproved?: readonly string[];
  /** Tools of a catalogue that the model is told of from now on. They could be called before too. */
  readonly offer?: readonly string[];
  /** The number of bytes at a time with which the model may read on in results, because one was too long. */
  readonly reads?: number;
  /** The acts that are planned from now on, in addition to earlier ones. The runtime adds their planner. */
  readonly plan?: readonly (PlannedAct | AgreedAct)[];
}

/** The server that a tool comes from. */
export interface ToolOrigin {
  /** The author's name for the server. */
  readonly server: string;
  /** SHA-256 of the server's approved description of the tool. */
  readonly pin: string;
  /**
   * True if a pin of the author, or a function that was asked, approved the server's description. Default: nobody did, and a run that offers the tool to a
   * model begins untrusted.
   */
  readonly approved?: boolean;
}

/**
 * A tool without the types of its arguments and result: code that takes any tool needs no type parameters.
 */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  readonly output?: Schema;
  readonly effect: Effect;
  /** Calls with the same key run one after another; undefined lets the call run beside any other. */
  readonly exclusiveKey: (args: unknown) => string | undefined;
  readonly timeoutMs?: number;
  /** The form of a call on one line, `{a} + {b}`, for models too weak for JSON. */
  readonly notation?: string;
  /** `knowledge` is the author's content to read: told as `knowledge-used`, not as a tool. */
  readonly kind?: "knowledge" | "memory";
  /** True if it declares what the run is going to do, and is judged by those acts. */
  readonly plans?: true;
  /** The author's reason for running a stranger's code without isolation. Told with every decision about a call. */
  readonly unenforced?: string;
  /** The only capabilities that it may use, if they are granted. Undefined if the author did not declare them. */
  readonly needs?: readonly Capability[];
  /** The roles of its arguments. */
  readonly parameters?: Parameters;
  /**
   * True if its results are the author's own data. Otherwise they are untrusted, except for a tool that only
   * computes.
   */
  readonly trusted?: boolean;
  /** The type of values to which a policy restricts its trust: only results that hold nothing else are trusted. */
  readonly trustedForm?: ValueType;
  /** True if its results for arguments that are all bound are bound too. */
  readonly resolves?: boolean;
  /** True if its results carry too little (choices, bounded numbers) for read text to pass through: of the label of runs inside it, the secrecy alone passes. */
  readonly isFresh?: boolean;
  /** The readers who may see its results. Default: everybody. */
  readonly secrecy?: Secrecy;
  /** The best label that policies leave to its results, whatever it says of one itself. */
  readonly atBest?: Label;
  /** The server that it comes from. */
  readonly origin?: ToolOrigin;
  /** True if the author of the agent wrote its input schema: the defaults in it are the author's own. Left out for schemas of servers, callers and other libraries. */
  readonly hasOwnSchema?: true | undefined;
  /** The page that shows results of its calls. */
  readonly page?: ToolPage;
  /** The enforcement of the code that executes it; undefined for a function in this process. */
  readonly enforcement?: (this: { readonly execute: unknown }) => Enforcement | undefined;
  /** The change that a successful call makes for the rest of the run. */
  readonly mode?: (args: unknown) => Mode | undefined;
  /** True for a tool of a catalogue, which the model is told of once it was found. It may be called at any time. */
  readonly isCatalogued?: boolean;
  /** The recovery of a call that fails; the agent's own rules come after it. */
  readonly recover?: Recovery;
  /** Bounds on the number and order of its calls in a run. */
  readonly constraints?: Constraints;
  /** The choice for a call that was running when its process died. Default: by its effect. */
  readonly retry?: RetryAfterCrash;
  /** True if it is an agent: its code only does a run inside the call, whose effects are steps of their own. */
  readonly isAgent?: true;
  /** Looks up whether a call happened, or leaves that to a person. */
  readonly reconcile?: Reconcile<unknown, ToolContext> | "person";
  /** Options that its provider takes for this tool, by provider name. AI SDK objects and `openaiCompatible` read them. */
  readonly providerOptions?: JsonObject;
  /** Runs the author's function with arguments that `input` parsed. May throw. */
  execute(args: unknown, context: ToolContext): unknown;
}

/**
 * A tool whose types are known, for direct calls and for type checks: `Args` and `Result` are those of its function, `Sent` is what its input
 * schema takes (defaults may be left out), `Given` what its output schema makes of the result.
 */
export interface TypedTool<Args, Result, Sent = Args, Given = Result> extends Tool {
  /** For TypeScript only: the field never exists. */
  readonly types?: { sent(args: Sent): void; readonly given: Given };
  execute(args: Args, context: ToolContext): Result | Promise<Result>;
}

/** The arguments that a tool's schema makes from the model's. Those of a JSON Schema are an object. */
export type ArgumentsOf<Input extends SchemaSource> = Input extends StandardSchemaV1
  ? InferOutput<Input>
  : JsonObject;

/** The arguments that a tool may be called with: the input of its schema. */
export type SentTo<Input extends SchemaSource> = Input extends StandardSchemaV1
  ? InferInput<Input>
  : Readonly<Record<string, unknown>>;

/**
 * The results that a tool's function may return: the input of its output schema, with or without files and a label.
 * Anything if TypeScript knows no schema.
 */
export type ResultFor<Output extends SchemaSource | undefined> = Output extends StandardSchemaV1
  ? Beside<InferInput<Output>> | Labelled<Beside<InferInput<Output>>>
  : unknown;

type Beside<Value> = Value | WithFiles<Value>;

/** The final value of a tool: what its output schema makes of its function's result. */
export type GivenBy<Output extends SchemaSource | undefined, Result> = Output extends StandardSchemaV1
  ? InferOutput<Output>
  : Result;

/** The definition of a tool. */
export interface ToolDefinition<
  Input extends SchemaSource,
  Result,
  Needs extends readonly Capability[] = readonly Capability[],
  Output extends SchemaSource | undefined = SchemaSource | undefined,
> {
  /** 1 to 64 letters, digits, `_`, `-`, `.` or `/`; begins with a letter or `_`. */
  readonly name: string;
  /** Tells the model when to call it. */
  readonly description: string;
  /** Any Standard Schema (zod, arktype, valibot) or a JSON Schema 2020-12. The tool never runs with arguments that do not match. */
  readonly inputSchema: Input;
  /**
   * The schema of results: one that does not match is an error and never reaches the model. TypeScript checks
   * `execute` against it too.
   */
  readonly outputSchema?: Output;
  /** The effect of a call on the world. Default: `undeclared`, as a made tool says it that is spread here; it never starts early. */
  readonly effect?: Effect;
  /** `true`: one call of this tool at a time. A function: calls with the same key one at a time. */
  readonly exclusive?: boolean | ((args: ArgumentsOf<Input>) => string);
  /** The milliseconds after which the call ends as `timeout`, even if the tool goes on. Default: the budget's `toolMs`. */
  readonly timeoutMs?: number;
  /** The form of a call on one line, such as `{a} + {b}`, for weak models; each argument once. Default `name {json}`. */
  readonly notation?: string;
  /** The recovery of a call that fails, before the model is told. */
  readonly recover?: Recovery;
  /** Bounds on its calls in a run. A tool with bounds never starts while the model writes. Default: none. */
  readonly constraints?: Constraints;
  /**
   * The choice for a call that was running when its process died, in a run with a journal: `always` and `keyed` run it again, `never` does not.
   * Default: `always` for the effects `none` and `read`, otherwise `never`.
   */
  readonly retry?: RetryAfterCrash;
  /**
   * Looks up, for a call that may not run again, whether it happened: by `context.idempotencyKey`, which is that of the first attempt. It
   * has the time and the handles of the tool. `"person"`: a run that can wait in its journal waits until a person has settled the call. Default: nobody
   * knows, and the result is `unknown`.
   */
  readonly reconcile?: Reconcile<ArgumentsOf<Input>, ToolContext & HandlesOf<Needs>> | "person";
  /**
   * The capabilities that it may use, if the agent grants them: its context has their handles. Default:
   * none.
   */
  readonly needs?: Needs;
  /** The roles of its arguments. If the tool has an effect, an unlisted one counts as `target`. */
  readonly parameters?: Parameters;
  /** True: its results are the author's own data. Default false: they are marked for the model, and effects after them are guarded. */
  readonly trusted?: boolean;
  /** True: its results for values that the user chose are the user's choice too, as in an address book. Default false. */
  readonly resolves?: boolean;
  /** The readers of its results: nobody outside (`private`), or these readers. Default: everybody. */
  readonly secrecy?: Secrecy;
  /**
   * Options that a provider takes for this tool, by provider name: `{ anthropic: { deferLoading: true } }`, `{ openai: { strict: true } }`.
   * AI SDK objects read them, and `openaiCompatible` reads those under `openai-compatible`.
   */
  readonly providerOptions?: JsonObject;
  /** Carries out a call: `args` as the schema made them; `context` has `signal`, and the handles of `needs`. */
  readonly execute: (
    args: ArgumentsOf<Input>,
    context: ToolContext & HandlesOf<Needs>,
  ) => Result | Promise<Result>;
}

/** The definition of any tool, whatever its types. */
type AnyToolDefinition = ToolDefinition<SchemaSource, unknown>;

/**
 * Defines a tool: a function that a model may call, with its schemas. The schemas are compiled once, here.
 *
 * @throws WritError `name-invalid`, `schema-invalid`, `schema-without-json-schema`, `definition-invalid`
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { z } from "zod";
 *
 * export const add = tool({
 *   name: "add",
 *   description: "Add two numbers: a + b",
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   effect: "none",
 *   execute: ({ a, b }) => a + b,
 * });
 * ```
 */
export function tool<
  const Input extends SchemaSource,
  Result extends ResultFor<Output>,
  const Needs extends readonly Capability[] = readonly [],
  Output extends SchemaSource | undefined = undefined,
>(
  definition: ToolDefinition<Input, Result, Needs, Output>,
): TypedTool<ArgumentsOf<Input>, Result, SentTo<Input>, GivenBy<Output, Result>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schemas and `execute` have these types
  return made(definition as unknown as AnyToolDefinition, true) as TypedTool<
    ArgumentsOf<Input>,
    Result,
    SentTo<Input>,
    GivenBy<Output, Result>
  >;
}

/** A tool whose schemas others wrote, whom nobody here can tell: a misspelt keyword judges nothing. @throws WritError as {@link tool} */
export function toolOfOthers(definition: ToolDefinition<JsonSchema, unknown>): Tool {
  return made(definition, false);
}

function made(definition: AnyToolDefinition, isOwn: boolean): Tool {
  checkShape("tool()", definition, definitionLike);
  const { name, description, timeoutMs, notation } = definition;
  checkWords({ ...definition });
  checkToolName(name);
  const where = `Tool "${name}"`;
  checkShape(where, definition, shape);
  const { effect = "undeclared" } = definition;
  const input = argumentSchema(definition.inputSchema, { name, refusesSlips: isOwn });
  checkNotation(name, notation, input);
  checkRecovery(definition.recover, where);
  checkConstraints(name, definition.constraints);
  checkParameters(definition, input.jsonSchema);
  return {
    name,
    description: description ?? "",
    input,
    notation,
    output:
      definition.outputSchema === undefined
        ? undefined
        : toSchema(definition.outputSchema, { name, role: "output", refusesSlips: isOwn }),
    effect,
    exclusiveKey: exclusiveKeyOf(name, definition),
    timeoutMs,
    recover: definition.recover,
    constraints: definition.constraints,
    retry: definition.retry,
    reconcile: definition.reconcile,
    needs: definition.needs,
    parameters: definition.parameters,
    trusted: definition.trusted,
    resolves: definition.resolves,
    secrecy: definition.secrecy,
    ...(definition.providerOptions && { providerOptions: definition.providerOptions }),
    execute: definition.execute,
    hasOwnSchema: isOwn && isWrittenHere(definition) ? true : undefined,
    ...doubtsOf(definition),
  };
}

/** True unless the definition spreads a tool of others, whose schema it may have. */
function isWrittenHere({ input, hasOwnSchema }: AnyToolDefinition & Partial<Tool>): boolean {
  return input === undefined || hasOwnSchema === true;
}

/** The doubts about a made tool that a definition spreads. They stay: its words, and what it calls, may still be a stranger's. */
function doubtsOf(spread: AnyToolDefinition & Partial<Tool>): Partial<Tool> {
  const { origin, trustedForm, atBest, enforcement, trusted } = spread;
  return {
    ...(origin && { origin }),
    ...(trustedForm && { trustedForm }),
    ...(atBest && { atBest }),
    ...(enforcement !== undefined && trusted === undefined && { trusted: false }), // by its effect alone it would count as the author's own
  };
}

const definitionLike = named("an object like { name, description, inputSchema, execute }", record);

export const effectShape: Shape<unknown> = optional(
  oneOf("none", "read", "write", "irreversible", "undeclared"),
);
export const timeoutShape: Shape<unknown> = optional(
  shapeOf("a positive number", (value) => fits(number, value) && value > 0, shownValue),
);

/** The fields of a definition. */
export const toolFields: { readonly [Field in keyof Required<AnyToolDefinition>]: Shape<unknown> } = {
  name: anything,
  description: optional(text),
  inputSchema: anything,
  outputSchema: anything,
  execute: callable,
  effect: effectShape,
  exclusive: optional(either(boolean, callable)),
  notation: anything,
  recover: anything,
  constraints: anything,
  trusted: optional(boolean),
  resolves: optional(boolean),
  retry: optional(oneOf("always", "keyed", "never")),
  reconcile: optional(either(callable, oneOf("person"))),
  timeoutMs: timeoutShape,
  providerOptions: optional(map(record)),
  ...securityFields,
};
/** The fields of a made tool. A definition may spread one, `{ ...other, execute }`: `exclusiveKey` and doubts stay, and the others are made anew. */
export const madeFields: readonly string[] = Object.keys({
  input: true,
  output: true,
  exclusiveKey: true,
  kind: true,
  unenforced: true,
  isFresh: true,
  plans: true,
  trustedForm: true,
  atBest: true,
  origin: true,
  hasOwnSchema: true,
  page: true,
  enforcement: true,
  mode: true,
  isCatalogued: true,
  isAgent: true,
  types: true,
} satisfies Record<Exclude<keyof TypedTool<never, never>, keyof typeof toolFields>, true>);
const shape = closed(toolFields, { taken: madeFields });

/** Checks the words of other libraries for what is not there: some are fields here too. @throws WritError `definition-invalid` with the name of the field here */
function checkWords(given: Readonly<Record<string, unknown>>): void {
  for (const other of Object.keys(given)) {
    const field =
      given[other] === undefined ? undefined : otherWord(other, { known: Object.keys(toolFields) });
    if (field === undefined || given[field] !== undefined) continue;
    const { name } = given;
    const where = typeof name === "string" ? `Tool "${name}"` : "A tool";
    const reason = `write \`${field}\` in place of \`${other}\`.`;
    throw new WritError("definition-invalid", { where, reason });
  }
}

const callableName = /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/;
const toolName = /^[a-zA-Z_][a-zA-Z0-9_./-]{0,63}$/;

/** @throws WritError `name-invalid`, `definition-invalid` if there is none */
export function checkName(name: unknown, kind: string): void {
  checkNamed(name, kind);
  if (typeof name !== "string" || !callableName.test(name))
    throw new WritError("name-invalid", { kind, name: String(name) });
}

/** Checks the name of a tool, which may begin with its server, as in MCP: `server/tool`. @throws WritError `name-invalid`, `definition-invalid` if there is none */
export function checkToolName(name: unknown): void {
  checkNamed(name, "A tool");
  if (typeof name !== "string" || !toolName.test(name))
    throw new WritError("name-invalid", { kind: "A tool", name: String(name) });
}

function checkNamed(name: unknown, where: string): void {
  if (name === undefined) throw new WritError("definition-invalid", { where, reason: "`name` is missing." });
}

/** Checks that a tool is not one as data, which cannot be called. @throws WritError `definition-invalid` */
export function checkCallable(given: Tool): void {
  const { name, input, execute } = (given as Partial<Tool> | null | undefined) ?? {};
  if (typeof execute === "function" && typeof input?.parse === "function") return;
  const reason =
    "it is not a tool that can be called: make it with tool(), or pass it to chat() and carry out its calls yourself.";
  throw new WritError("definition-invalid", { where: `Tool "${name ?? kindOf(given)}"`, reason });
}
