import type { ToolPage } from "./tool-page.ts";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { ToolCall } from "../message/message.ts";
import { listAt, mapAt } from "../schema/keywords.ts";
import type { Schema } from "../schema/schema.ts";
import { type InferInput, type InferOutput, type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
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
import { checkParameters, securityFields } from "./check-security.ts";
import { checkConstraints, type Constraints } from "./constraints.ts";
import type { Enforcement } from "./enforcement.ts";
import type { HandlesOf } from "./handles.ts";
import type { Labelled } from "./labelled.ts";
import type { Parameters, ValueType } from "./parameters.ts";
import type { AgreedAct, PlannedAct } from "./planned-act.ts";
import type { Waits } from "./waits.ts";
import { checkRecovery, type Recovery } from "./recovery.ts";
import type { WithFiles } from "./with-files.ts";

/**
 * The effect of a call on the world: `none` computes, `read` looks, `write` changes, `irreversible` cannot be
 * undone; `undeclared` when the author did not say. Only `none` and `read` start while the model still
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
  readonly callId: string;
  /** The same at every attempt of this call: hand it to services that can tell a repetition. */
  readonly idempotencyKey: string;
  /** Tells watchers how far the call is, while it goes on; never reaches the model. Each is told a copy; what is not JSON is null. */
  readonly progress: (value: Json) => void;
  /** The call as the model made it, after hooks. */
  readonly call: ToolCall;
  /** The run that the call belongs to. Handed to an agent's `run({ parent })`, that run is inside this one: it shares its bounds and may do no more. */
  readonly run: CallScope;
  /** The join of the labels of all that the model had seen when it made the call. */
  readonly label: Label;
}

/** A change of the run after a call. It can narrow the tools that may be called, and can tell the model of more of them. */
export interface Mode {
  /** The only names that may be called from now on, of those that may be called already. */
  readonly restrictTo?: readonly string[];
  /** Calls that no person needs to be asked about any more, though the policy asks. Never a call that the policy denies. */
  readonly preapproved?: readonly string[];
  /** Tools of a catalogue that the model is told of from now on. Each may be called before too. */
  readonly offer?: readonly string[];
  /** A result was too long: the model may read on in it, so many bytes at a time. */
  readonly reads?: number;
  /** The acts that are planned from now on, beside those before. The runtime adds who planned them. */
  readonly plan?: readonly (PlannedAct | AgreedAct)[];
}

/** The server that a tool comes from. */
export interface ToolOrigin {
  /** The author's name for the server. */
  readonly server: string;
  /** SHA-256 of what the server says of the tool, as it was approved. */
  readonly pin: string;
  /**
   * A pin of the author's, or a function that was asked, approved what the server says of it. Default: nobody did, and a run that offers the tool to a
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
  /** Calls with the same key run one after another; undefined lets the call run beside all others. */
  readonly exclusiveKey: (args: unknown) => string | undefined;
  readonly timeoutMs?: number;
  /** A call on one line, `{a} + {b}`, for models too weak for JSON. */
  readonly notation?: string;
  /** `knowledge` is what the author gives to read: told as `knowledge-used`, and not as a tool. */
  readonly kind?: "knowledge" | "memory";
  /** It says what the run is going to do, and is judged as those acts are. */
  readonly plans?: true;
  /** The author's reason for running code of strangers without isolation. Told with every decision about a call. */
  readonly unenforced?: string;
  /** The capabilities that it may use, where granted; no others. Undefined where the author did not say. */
  readonly needs?: readonly Capability[];
  /** Roles of its arguments. */
  readonly parameters?: Parameters;
  /**
   * True if its results are the author's own data. Else they are untrusted, but for a tool that only
   * computes.
   */
  readonly trusted?: boolean;
  /** A policy trusts only results that hold nothing but values of this type. */
  readonly trustedForm?: ValueType;
  /** True if its results for bound values alone are bound too. */
  readonly resolves?: boolean;
  /** Its results say so little (choices, bounded numbers) that what was read for them cannot speak: the label of runs inside it ends here. */
  readonly isFresh?: boolean;
  /** The readers of its results. Default: everybody. */
  readonly secrecy?: Secrecy;
  /** The server that it is a tool of. */
  readonly origin?: ToolOrigin;
  /** The page that shows what its calls did. */
  readonly page?: ToolPage;
  /** The enforcement of its code; undefined for a function in this process. */
  readonly enforcement?: () => Enforcement;
  /** The change that a successful call makes for the rest of the run. */
  readonly mode?: (args: unknown) => Mode | undefined;
  /** Of a catalogue: the model is told of it once it was found. It may be called at any time. */
  readonly isCatalogued?: boolean;
  /** The recovery of a call that fails; the agent's own rules stand behind it. */
  readonly recover?: Recovery;
  /** Bounds of its calls in a run, in number and order. */
  readonly constraints?: Constraints;
  /** The choice for a call that was at work when its process died. Default: by its effect. */
  readonly retry?: RetryAfterCrash;
  /** It is an agent: its code does nothing but a run inside the call, whose effects are steps of their own. */
  readonly isAgent?: true;
  /** Looks up whether such a call happened, or has a person say it. */
  readonly reconcile?: Reconcile<unknown, ToolContext> | "person";
  /** Options that its provider takes for this tool, by the name of the provider. AI SDK objects read them, and `openaiCompatible`. */
  readonly providerOptions?: JsonObject;
  /** Runs the author's function with arguments that `input` parsed. May throw. */
  execute(args: unknown, context: ToolContext): unknown;
}

/**
 * A tool whose types are known, for calling it directly and for type checks: `Args` and `Result` are those of its function, `Sent` is what its input
 * schema takes (defaults may be left out), `Given` what its output schema makes of the result.
 */
export interface TypedTool<Args, Result, Sent = Args, Given = Result> extends Tool {
  /** For TypeScript alone, and never there. */
  readonly types?: { sent(args: Sent): void; readonly given: Given };
  execute(args: Args, context: ToolContext): Result | Promise<Result>;
}

/** The arguments that a tool's schema makes of the model's. Those of a JSON Schema are an object. */
export type ArgumentsOf<Input extends SchemaSource> = Input extends StandardSchemaV1
  ? InferOutput<Input>
  : JsonObject;

/** The arguments that a tool may be called with: those that its input schema takes. */
export type SentTo<Input extends SchemaSource> = Input extends StandardSchemaV1
  ? InferInput<Input>
  : Readonly<Record<string, unknown>>;

/**
 * The results that the function of a tool may give: those that its output schema takes, with files beside them and a label or
 * without. Anything where there is none for TypeScript.
 */
export type ResultFor<Output extends SchemaSource | undefined> = Output extends StandardSchemaV1
  ? Beside<InferInput<Output>> | Labelled<Beside<InferInput<Output>>>
  : unknown;

type Beside<Value> = Value | WithFiles<Value>;

/** The value that a tool gives in the end: the one that its output schema makes of the result of its function. */
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
  /** 1 to 64 letters, digits, `_`, `-` or `.`; starts with a letter or `_`. */
  readonly name: string;
  readonly description: string;
  /** Any Standard Schema (zod, arktype, valibot) or a JSON Schema 2020-12. The tool never runs with arguments that do not match. */
  readonly inputSchema: Input;
  /**
   * The schema of results: one that does not match is an error and never reaches the model. TypeScript holds
   * `execute` to it, too.
   */
  readonly outputSchema?: Output;
  /** The effect of a call on the world. Default: undeclared, which starts nothing early. */
  readonly effect?: Exclude<Effect, "undeclared">;
  /** `true`: one call of this tool at a time. A function: calls with the same key one at a time. */
  readonly exclusive?: boolean | ((args: ArgumentsOf<Input>) => string);
  /** After so many milliseconds the call ends as `timeout`, whether the tool cooperates or not. Default: the budget's `toolMs`. */
  readonly timeoutMs?: number;
  /** A call on one line, like `{a} + {b}`, for weak models; each argument once. Default `name {json}`. */
  readonly notation?: string;
  /** The recovery of a call that fails, instead of telling the model at once. */
  readonly recover?: Recovery;
  /** Bounds of its calls in a run. A tool with bounds never starts while the model writes. Default: none. */
  readonly constraints?: Constraints;
  /**
   * The choice for a call that was at work when its process died, in a run with a journal: `always` and `keyed` run it again, `never` does not.
   * Default: `always` for the effects `none` and `read`, else `never`.
   */
  readonly retry?: RetryAfterCrash;
  /**
   * Looks up, for a call that may not run again, whether it happened: by `context.idempotencyKey`, which is that of the first attempt. It
   * has the time and the handles of the tool. `"person"`: a run that can wait in its journal waits until a person has settled the call. Default: nobody
   * knows, and the result is `unknown`.
   */
  readonly reconcile?: Reconcile<ArgumentsOf<Input>, ToolContext & HandlesOf<Needs>> | "person";
  /**
   * The capabilities that it may use, where the agent grants them: its context has their handles. Default:
   * none.
   */
  readonly needs?: Needs;
  /** Roles of its arguments. One that is not listed counts as `target` where the tool has an effect. */
  readonly parameters?: Parameters;
  /** Are its results the author's own data? Default: no; they are marked for the model, and guard the effects that come after them. */
  readonly trusted?: boolean;
  /** Is what it finds for values that the user chose also the user's choice, like an address book? Default: no. */
  readonly resolves?: boolean;
  /** The readers of its results: nobody outside (`private`), or these readers. Default: everybody. */
  readonly secrecy?: Secrecy;
  /**
   * Options that a provider takes for this tool, by its name: `{ anthropic: { deferLoading: true } }`, `{ openai: { strict: true } }`.
   * AI SDK objects read them, and `openaiCompatible` under `openai-compatible`.
   */
  readonly providerOptions?: JsonObject;
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
  checkShape("tool()", definition, definitionLike);
  const { name, description, exclusive, timeoutMs, notation } = definition;
  checkToolName(name);
  const where = `Tool "${name}"`;
  checkWords({ ...definition }, where);
  checkShape(where, definition, shape);
  const { effect = "undeclared" } = definition;
  const input = argumentSchema(definition.inputSchema, name);
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
        : toSchema(definition.outputSchema, { name, role: "output" }),
    effect,
    exclusiveKey: exclusiveKeyOf(name, exclusive),
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
  description: anything,
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
/** A definition may begin with what tool() gave, `{ ...other, execute }`: its other fields are made anew. */
export const madeFields: readonly string[] = Object.keys({
  input: true,
  output: true,
  exclusiveKey: true,
  kind: true,
  unenforced: true,
  isFresh: true,
  plans: true,
  trustedForm: true,
  origin: true,
  page: true,
  enforcement: true,
  mode: true,
  isCatalogued: true,
  isAgent: true,
  types: true,
} satisfies Record<Exclude<keyof TypedTool<never, never>, keyof typeof toolFields>, true>);
const shape = closed(toolFields, madeFields);

/** The fields that other libraries name otherwise, with their names there. */
const otherWords = {
  inputSchema: ["parameters", "schema", "input", "args"],
  outputSchema: ["output", "returns"],
  execute: ["run", "handler", "func", "fn", "call"],
  timeoutMs: ["timeout"],
  'agent({ policy: policy({ name, rules: [ask("name_of_tool")] }) })': ["needsApproval"],
} as const;

/** @throws WritError `definition-invalid` that says what a field is called here */
function checkWords(given: Readonly<Record<string, unknown>>, where: string): void {
  for (const [field, others] of Object.entries(otherWords)) {
    const other = given[field] === undefined ? others.find((word) => given[word] !== undefined) : undefined;
    if (other === undefined) continue;
    const reason = `write \`${field}\` in place of \`${other}\`.`;
    throw new WritError("definition-invalid", { where, reason });
  }
}

const callableName = /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/;
const toolName = /^[a-zA-Z_][a-zA-Z0-9_./-]{0,63}$/;

/** @throws WritError `name-invalid` */
export function checkName(name: unknown, kind: string): void {
  if (typeof name !== "string" || !callableName.test(name))
    throw new WritError("name-invalid", { kind, name: String(name) });
}

/** Names of tools may have the server they are of before them, as MCP has it: `server/tool`. @throws WritError `name-invalid` */
export function checkToolName(name: unknown): void {
  if (typeof name !== "string" || !toolName.test(name))
    throw new WritError("name-invalid", { kind: "A tool", name: String(name) });
}

/** Tells a tool from one as data, which nothing can call. @throws WritError `definition-invalid` */
export function checkCallable(given: Tool): void {
  const { name, input, execute } = (given as Partial<Tool> | null | undefined) ?? {};
  if (typeof execute === "function" && typeof input?.parse === "function") return;
  const reason =
    "it is no tool that can be called: make it with tool(), or give it to chat() and call it yourself.";
  throw new WritError("definition-invalid", { where: `Tool "${name ?? kindOf(given)}"`, reason });
}

/**
 * The schema of a tool's arguments. They are always an object, as providers want it: a schema that leaves out to say so is shown as one that says it.
 *
 * @throws WritError `schema-invalid`, `schema-without-json-schema`
 */
export function argumentSchema(source: SchemaSource, name: string): Schema {
  const schema = toSchema(source, { name, role: "input", refusesUnknown: true });
  const { type } = schema.jsonSchema;
  if (type === "object") return schema;
  if (type === undefined) return { ...schema, jsonSchema: { type: "object", ...schema.jsonSchema } };
  const reason = `the arguments of a tool are an object, and this schema wants ${JSON.stringify(type)}.`;
  throw new WritError("schema-invalid", { role: "input", name, reason });
}

/** A notation must say all that the tool needs, and nothing that it does not take. */
function checkNotation(name: string, notation: string | undefined, { jsonSchema }: Schema): void {
  if (notation === undefined) return;
  const used = [...notation.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const properties = mapAt(jsonSchema, "properties");
  const required = listAt(jsonSchema, "required");
  const wrong =
    used.find((field, index) => !Object.hasOwn(properties, field) || used.indexOf(field) !== index) ??
    required.find((field) => !used.some((one) => one === field));
  const composite = used.find((field) => isComposite(properties[field]));
  const adjacent = notation.includes("}{");
  if (wrong === undefined && composite === undefined && !adjacent) return;
  const reason =
    wrong !== undefined
      ? `\`notation\` must name each argument once, as {name}; look at ${JSON.stringify(wrong)}.`
      : adjacent
        ? "`notation` must have something between two arguments."
        : `\`notation\` can only hold plain values, and "${String(composite)}" is a list or an object.`;
  throw new WritError("definition-invalid", { where: `Tool "${name}"`, reason });
}

function isComposite(schema: Json | undefined): boolean {
  return isJsonObject(schema) && (schema["type"] === "array" || schema["type"] === "object");
}

function exclusiveKeyOf(
  name: string,
  exclusive: boolean | ((args: never) => string) | undefined,
): Tool["exclusiveKey"] {
  if (exclusive === true) return () => name;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runtime gives it what the input schema parsed
  if (typeof exclusive === "function") return (args) => `${name}/${exclusive(args as never)}`;
  return () => undefined;
}
