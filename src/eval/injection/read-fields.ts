import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

/** A value of a file with its place in it, like `user_tasks[3].prompt`; the whole file is the empty place. */
export interface Field {
  readonly value: Json | undefined;
  readonly at: string;
}

/** Says what is wrong with a field. The reader gives it what its file's errors are made with. */
export type Fault = (at: string, reason: string) => Error;

/** Reads the fields of a parsed file and throws what `fault` makes of the first that is not as it must be. */
export interface FieldReader {
  readonly object: (field: Field) => JsonObject;
  readonly list: (field: Field) => readonly Field[];
  readonly text: (field: Field) => string;
  readonly name: (field: Field, known: ReadonlySet<string>, what: string) => string;
}

/** The field of an object. */
export function fieldOf({ value, at }: Field, name: string): Field {
  const inside = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return { value: inside, at: at === "" ? name : `${at}.${name}` };
}

/** Makes a reader for one file. */
export function fieldReader(fault: Fault): FieldReader {
  const wrong = ({ value, at }: Field, wanted: string): Error =>
    fault(at, value === undefined ? `it is missing; ${wanted} belongs there` : `it is not ${wanted}`);
  const text = (field: Field): string => {
    if (typeof field.value === "string") return field.value;
    throw wrong(field, "a text");
  };
  return {
    text,
    object: (field) => {
      if (isJsonObject(field.value)) return field.value;
      throw wrong(field, "an object");
    },
    list: (field) => {
      if (!Array.isArray(field.value)) throw wrong(field, "a list");
      const values = field.value as readonly Json[];
      return values.map((value, index) => ({ value, at: `${field.at}[${index}]` }));
    },
    name: (field, known, what) => {
      const name = text(field);
      if (known.has(name)) return name;
      throw fault(field.at, `"${name}" is no ${what}`);
    },
  };
}
