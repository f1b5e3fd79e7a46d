import type { AnswerIn, DriverChoice } from "../driver/choose.ts";
import type { SchemaSource } from "../schema/to-schema.ts";
import type { Json } from "../util/json.ts";
import type { InputOf, OutputOf } from "./definition.ts";
import type { AnyDefinition } from "./definition.ts";

/** The type that stands for a field that a change leaves as it is. No value has it. */
export type Kept = { readonly [kept]: never };
declare const kept: unique symbol;

/** The replaced parts of a definition, as an object. Its type parameters are the fields on which the agent's types depend. */
export type Changes<
  In extends SchemaSource | Kept | undefined,
  Out extends SchemaSource | Kept | undefined,
  Driver extends DriverChoice | Kept,
> = Partial<Omit<AnyDefinition, "input" | "output" | "driver">> & {
  readonly input?: In;
  readonly output?: Out;
  readonly driver?: Driver;
};

/** The input of an agent after a change. */
export type ChangedInput<Input, In> = [In] extends [Kept] ? Input : InputOf<In>;

/** The output of an agent after a change. Without a schema, the driver decides its form. */
export type ChangedOutput<Output, Out, Driver> = [Out] extends [Kept]
  ? [Driver] extends [DriverChoice]
    ? IsAnswer<Output> extends true
      ? AnswerIn<Driver>
      : Output
    : Output
  : OutputOf<Out, readonly [], [Driver] extends [DriverChoice] ? Driver : "auto">;

/** True for text or any JSON: the output of an agent without a schema. */
type IsAnswer<Output> = [Output] extends [string]
  ? [string] extends [Output]
    ? true
    : false
  : [Json] extends [Output]
    ? [Output] extends [Json]
      ? true
      : false
    : false;
