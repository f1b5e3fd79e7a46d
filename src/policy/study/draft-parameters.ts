import { followPointer } from "../../schema/check-schema.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { ParameterRole, ValueType } from "../../tool/parameters.ts";
import { isJsonObject, type Json, type JsonObject, own } from "../../util/json.ts";
import { wordsOf } from "../values/verbs.ts";

/** A parameter as a draft reads it. */
export interface DraftedParameter {
  readonly name: string;
  readonly role: ParameterRole;
  readonly type?: ValueType;
  /** Values that nobody needs to choose. */
  readonly constants?: readonly string[];
  /** True if it says how, when or how many. */
  readonly isManner?: true;
  /** The description that its author wrote. */
  readonly description?: string;
  readonly because: string;
}

/** A parameter with what its schema says, before its role is decided. */
interface Seen {
  readonly name: string;
  readonly words: readonly string[];
  readonly schema: JsonObject;
  readonly description: string;
  /** The value that the tool gets if a call leaves it out. */
  readonly byDefault?: string | number;
}

/** The parameters of a tool, each with the role and the type that its name and schema suggest. */
export function draftParameters(schema: JsonSchema): readonly DraftedParameter[] {
  const properties = own(schema, "properties");
  if (!isJsonObject(properties)) return [];
  const seen = seenIn(properties, { root: schema, path: "", depth: 0 });
  const drafted = seen.map(draftParameter);
  const isActedOn = drafted.some(
    (each, index) =>
      each.role !== "content" &&
      !hasFields(seen[index]) &&
      !isManner(seen[index], each.type) &&
      !isPlace(each),
  );
  if (!isActedOn) return drafted;
  const isOccasion =
    drafted.some(({ type }) => type === "date") &&
    drafted.some(({ role }, index) => role === "content" && titles.has(seen[index]?.words.at(-1) ?? ""));
  return drafted.map((each, index) => {
    if (each.role !== "target") return each;
    const isHow = isManner(seen[index], each.type);
    if (!isHow && !(isOccasion && isPlace(each))) return each;
    const says = isHow ? "how or when" : "where something is that others name and date";
    return {
      ...each,
      role: "content",
      type: undefined,
      because: `it says ${says}; others say what is acted on`,
    };
  });
}

/** True for a parameter that says where something takes place. */
function isPlace({ name, type }: DraftedParameter): boolean {
  return type === undefined && places.has(wordsOf(name).at(-1) ?? "");
}

/** The parameters, and the fields inside those that are objects, with their dotted paths. */
function seenIn(
  properties: JsonObject,
  { root, path, depth }: { readonly root: JsonSchema; readonly path: string; readonly depth: number },
): readonly Seen[] {
  return Object.entries(properties).flatMap(([key, held]) => {
    const inner = resolved(held, root);
    const said = [held, inner].map((part) => (isJsonObject(part) ? own(part, "description") : undefined));
    const description = said.find((text) => typeof text === "string") ?? "";
    const name = `${path}${key}`;
    const byDefault = [held, inner].map((part) => defaultOf(part)).find((value) => value !== undefined);
    const seen: Seen = {
      name,
      words: wordsOf(key),
      schema: inner,
      description,
      ...(byDefault === undefined ? {} : { byDefault }),
    };
    const fields = own(inner, "properties");
    if (!isJsonObject(fields) || depth >= 3) return [seen];
    return [seen, ...seenIn(fields, { root, path: `${name}.`, depth: depth + 1 })];
  });
}

/** The default in a schema, if it is a single value and not an empty one, which counts as absent anyway. */
function defaultOf(schema: Json): Seen["byDefault"] {
  const value = isJsonObject(schema) ? own(schema, "default") : undefined;
  return (typeof value === "string" && value !== "") || typeof value === "number" ? value : undefined;
}

/** True for an object whose fields are drafted separately. */
function hasFields(seen: Seen | undefined): boolean {
  const fields = seen && own(seen.schema, "properties");
  return isJsonObject(fields) && Object.keys(fields).length > 0;
}

/** The part of a schema that says most about a value: without null; for a list, its items; for a reference, its target. */
function resolved(held: Json, root: JsonSchema, depth = 0): JsonObject {
  if (!isJsonObject(held) || depth > 5) return {};
  const reference = own(held, "$ref");
  if (typeof reference === "string") {
    const target = followPointer(root, reference);
    return target === undefined ? held : resolved(target, root, depth + 1);
  }
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const branches = own(held, keyword);
    const branch = Array.isArray(branches) ? branches.find((each) => !isNull(each)) : undefined;
    if (branch !== undefined) return resolved(branch, root, depth + 1);
  }
  const items = own(held, "items");
  return isJsonObject(items) ? resolved(items, root, depth + 1) : held;
}

function isNull(schema: Json): boolean {
  return isJsonObject(schema) && own(schema, "type") === "null";
}

const contents =
  set(`body caption comment content contents data description details explanation expression headline
  html keyword keywords markdown memo message note notes prompt q query question reason search subject summary term
  terms text thought title topic`);
const amounts = set(
  `amount budget cost euro euros dollars fee limit price qty quantity sum tip total usd value`,
);
const ids = set(`code guid id ids identifier key number uuid`);
const powers = set(
  `access admin level mode permission permissions privacy public role roles scope visibility`,
);

/** Words for the title of an event, and for its place. */
const titles = set(`headline subject summary title`);
const places = set(`location place venue`);
/** The words for the least power. */
const least = set(`none private r read read-only read_only readonly reader restricted view view-only viewer`);

function set(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

const money = set(`amount budget cost euro euros dollars fee limit price sum tip total usd value`);

function draftParameter(seen: Seen): DraftedParameter {
  const { description } = seen;
  const drafted = withLeast(withDefault(draftRole(seen), seen), seen);
  return {
    ...drafted,
    ...(drafted.role === "amount" || isManner(seen, drafted.type) ? { isManner: true } : {}),
    ...(description === "" ? {} : { description }),
  };
}

/** The parameter with its default as a constant: a call that gives the default equals one that leaves it out, so nobody needs to choose it. */
function withDefault(drafted: DraftedParameter, { byDefault }: Seen): DraftedParameter {
  const { role, constants = [], because } = drafted;
  if (byDefault === undefined || role === "content" || constants.includes(String(byDefault))) return drafted;
  return {
    ...drafted,
    constants: [...constants, String(byDefault)],
    because: `${because}; ${JSON.stringify(byDefault)} is what it is where it is left out`,
  };
}

/** The parameter with the least of its powers as a constant: granting that needs no word of the user. */
function withLeast(drafted: DraftedParameter, { words, schema }: Seen): DraftedParameter {
  const granted = own(schema, "enum");
  if (drafted.role !== "target" || !Array.isArray(granted) || !words.some((word) => powers.has(word)))
    return drafted;
  const { constants = [], because } = drafted;
  const lower = granted.filter((each) => typeof each === "string" && least.has(each.toLowerCase()));
  const added = lower.filter((each) => !constants.includes(String(each))).map(String);
  if (added.length === 0 || lower.length === granted.length) return drafted;
  return {
    ...drafted,
    constants: [...constants, ...added],
    because: `${because}; ${added.join(", ")} grants the least`,
  };
}

function draftRole(seen: Seen): DraftedParameter {
  const { name, words } = seen;
  const last = words.at(-1) ?? "";
  const found = typeOf(seen);
  const typed = found === undefined ? {} : { type: found.type };
  if (found?.type === "number") return { name, role: "amount", ...typed, ...howMuch(seen) };
  if (found?.type === "identifier") return { name, role: "id", ...typed, because: found.because };
  if (found === undefined && contents.has(last) && isText(seen))
    return {
      name,
      role: "content",
      because: `"${last}" is content: it does not choose whom or what the call acts on`,
    };
  const because = found?.because ?? "nothing says that it may be anybody's choice";
  return { name, role: "target", ...typed, because };
}

function howMuch({ words, schema }: Seen): Pick<DraftedParameter, "constants" | "because"> {
  const isCount = own(schema, "type") === "integer" && !money.has(words.at(-1) ?? "");
  if (isCount) return { constants: ["0", "1"], because: "it is a count: 0 and 1 need no source" };
  const isNamed = words.some((word) => amounts.has(word));
  return { because: isNamed ? "its name says how much, and it is a number" : "it is a number" };
}

function isText({ schema }: Seen): boolean {
  const type = own(schema, "type");
  return (type === "string" || type === undefined) && own(schema, "enum") === undefined;
}

/** True for a parameter that says how or when a call acts. One that gives somebody a power says more than that. */
function isManner(seen: Seen | undefined, type: ValueType | undefined): boolean {
  if (seen === undefined || seen.words.some((word) => powers.has(word))) return false;
  const { schema } = seen;
  return type === "date" || own(schema, "type") === "boolean" || own(schema, "enum") !== undefined;
}

interface Typed {
  readonly type: ValueType;
  readonly because: string;
}

const formats: ReadonlyMap<Json | undefined, ValueType> = new Map<Json | undefined, ValueType>([
  ["email", "email"],
  ["idn-email", "email"],
  ["uri", "url"],
  ["url", "url"],
  ["iri", "url"],
  ["hostname", "host"],
  ["idn-hostname", "host"],
  ["date", "date"],
  ["date-time", "date"],
  ["uuid", "identifier"],
]);

/** Words in names, most certain first. */
const named: readonly (readonly [ValueType, ReadonlySet<string>])[] = [
  ["iban", set("iban ibans")],
  ["email", set("email emails mail bcc cc")],
  ["url", set("href link links uri url urls webpage website")],
  ["host", set("domain host hostname")],
  ["phone", set("mobile phone telephone")],
  ["path", set("dir directory file filename filepath folder path paths")],
  ["date", set("birthday date day deadline due until when")],
];

/** Patterns in descriptions, for parameters whose names could mean many things: `recipient`, `to`. */
const described: readonly (readonly [ValueType, RegExp])[] = [
  ["iban", /\bIBAN\b/i],
  ["email", /\be-?mail address(?:es)?\b|^\W*(?:the )?e-?mails? of\b/i],
  ["url", /\bURL\b|\bweb ?(?:page|site) address\b/i],
  ["phone", /\bphone number\b/i],
  ["date", /\bYYYY-MM-DD\b|\bISO ?8601\b|\bISO format\b/i],
];

function typeOf(seen: Seen): Typed | undefined {
  const { words, schema } = seen;
  const format = own(schema, "format");
  const byFormat = formats.get(format);
  if (byFormat !== undefined)
    return { type: byFormat, because: `its schema has the format ${JSON.stringify(format)}` };
  const last = words.at(-1) ?? "";
  const type = own(schema, "type");
  const isPhone = words.includes("phone") || words.includes("mobile");
  if (ids.has(last) && !isPhone && type !== "boolean" && words.join() !== "number")
    return { type: "identifier", because: `its name ends with ${JSON.stringify(last)}` };
  if (type === "integer" || type === "number") return { type: "number", because: "it is a number" };
  if ((type !== "string" && type !== undefined) || contents.has(last)) return undefined;
  return saidInWords(seen);
}

function saidInWords({ name, words, description }: Seen): Typed | undefined {
  const byName = named.find(([, known]) => words.some((word) => known.has(word)));
  if (byName !== undefined) return { type: byName[0], because: `its name says ${JSON.stringify(name)}` };
  const byWords = described.find(([, pattern]) => pattern.test(description));
  if (byWords === undefined) return undefined;
  const [word] = byWords[1].exec(description) ?? [""];
  return { type: byWords[0], because: `its description says ${JSON.stringify(word.trim())}` };
}
