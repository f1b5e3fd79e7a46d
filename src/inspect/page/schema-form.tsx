import type { JSX } from "preact";
import type { JsonSchema } from "../../schema/schema.ts";
import type { Json } from "../../util/json.ts";

/** The texts in the fields of a form, by the names of the arguments. */
export type FieldTexts = Readonly<Record<string, string>>;

interface FieldsProps {
  readonly schema: JsonSchema;
  readonly texts: FieldTexts;
  readonly onChange: (texts: FieldTexts) => void;
}

const propertiesOf = ({ properties }: JsonSchema): readonly (readonly [string, JsonSchema])[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property of a schema is a schema, or true
  Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>);

const choicesOf = ({ enum: list, type }: JsonSchema): readonly string[] | undefined => {
  if (type === "boolean") return ["true", "false"];
  return Array.isArray(list) && list.every((each) => typeof each === "string") ? list : undefined;
};

/** Fields for the arguments of a tool, one for each property of its schema. An empty field leaves its argument out. */
export function SchemaFields({ schema, texts, onChange }: FieldsProps): JSX.Element {
  const required = new Set<unknown>(Array.isArray(schema["required"]) ? schema["required"] : []);
  return (
    <>
      {propertiesOf(schema).map(([name, property]) => {
        const choices = choicesOf(property);
        const isText = property.type === "string" || choices !== undefined;
        const about = {
          name: `field-${name}`,
          value: texts[name] ?? "",
          onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
            onChange({ ...texts, [name]: currentTarget.value }),
        };
        return (
          <label key={name}>
            <span>
              <code>{name}</code> <span class="quiet">{kindOf(property, required.has(name))}</span>
            </span>
            {choices !== undefined ? (
              <select {...about}>
                <option value="" />
                {choices.map((choice) => (
                  <option key={choice}>{choice}</option>
                ))}
              </select>
            ) : isText || property.type === "number" || property.type === "integer" ? (
              <input {...about} />
            ) : (
              <textarea {...about} rows={3} spellcheck={false} />
            )}
          </label>
        );
      })}
    </>
  );
}

function kindOf(property: JsonSchema, isRequired: boolean): string {
  const { type, enum: list } = property;
  const description = typeof property["description"] === "string" ? property["description"] : "";
  const kind = typeof type === "string" ? type : Array.isArray(list) ? "one of these" : "JSON";
  return [kind, isRequired ? "required" : "", description].filter((part) => part !== "").join(", ");
}

/** The arguments in the fields. A text that cannot be read as its type stays a text, which the tool then refuses. */
export function argumentsOf(schema: JsonSchema, texts: FieldTexts): Record<string, Json> {
  const given = propertiesOf(schema).filter(([name]) => (texts[name] ?? "") !== "");
  return Object.fromEntries(
    given.map(([name, { type }]) => [
      name,
      type === "string" ? (texts[name] ?? "") : readJson(texts[name] ?? ""),
    ]),
  );
}

function readJson(text: string): Json {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse gives JSON
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
