import { bundleSchemas } from "../driver/bundle-schemas.ts";
import type { JsonSchema, ParseResult, Schema } from "../schema/schema.ts";
import { toSchema } from "../schema/to-schema.ts";
import { refusingUnknown } from "../schema/unknown-fields.ts";
import type { Json, JsonObject } from "../util/json.ts";
import { after, type Maybe } from "../util/maybe.ts";

/** The arguments of a tool that runs an agent, and the function that makes the agent's input of them. */
export interface ToolInput {
  readonly jsonSchema: JsonSchema;
  readonly inputOf: (args: JsonObject) => Json;
}

const fieldOnly = { type: "object", required: ["input"], additionalProperties: false } as const;
const asked = { description: "What the agent is asked" } as const;
const textInput = { ...fieldOnly, properties: { input: { type: "string", ...asked } } } as const;

const inputOf = ({ input: value }: JsonObject): Json => value ?? null;

/** The arguments are the agent's input if its schema takes an object. Otherwise they have it as `input`, which is text if there is no schema. */
export function toolInput(input: Schema | undefined): ToolInput {
  if (input === undefined) return { jsonSchema: textInput, inputOf };
  if (takesObject(input)) return { jsonSchema: input.jsonSchema, inputOf: (args) => args };
  const bundle = bundleSchemas({ input: input.jsonSchema });
  return {
    jsonSchema: { ...fieldOnly, properties: { input: { ...asked, ...bundle.at("input") } }, ...bundle.root },
    inputOf,
  };
}

/** The schema of those arguments. It passes them on unchanged: the run of the agent parses its input, and parsing may change it only once. */
export function toolInputSchema(input: Schema | undefined, name: string): Schema {
  const { jsonSchema } = toolInput(input);
  if (input === undefined) return toSchema(jsonSchema, { name, role: "input" });
  const checked = refusingUnknown(input);
  if (takesObject(input)) return { jsonSchema, parse: (args) => asSent(args, checked.parse(args)) };
  const frame = toSchema({ ...fieldOnly, properties: { input: {} } }, { name, role: "input" });
  return {
    jsonSchema,
    parse: (args) =>
      after(frame.parse(args), (framed) =>
        framed.ok
          ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the frame has this field
            asSent(args, inField(checked.parse((args as { readonly input: unknown }).input)))
          : framed,
      ),
  };
}

function takesObject({ jsonSchema }: Schema): boolean {
  return jsonSchema["type"] === "object";
}

function asSent(args: unknown, parsed: Maybe<ParseResult<unknown>>): Maybe<ParseResult<unknown>> {
  return after(parsed, (read) => (read.ok ? { ok: true, value: args } : read));
}

function inField(parsed: Maybe<ParseResult<unknown>>): Maybe<ParseResult<unknown>> {
  return after(parsed, (read) =>
    read.ok
      ? read
      : { ok: false, issues: read.issues.map((issue) => ({ ...issue, path: ["input", ...issue.path] })) },
  );
}
