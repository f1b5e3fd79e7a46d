import type { LibrarySkill } from "../../agent/skill-library.ts";
import { messageOf } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { checkToolName } from "../../tool/tool.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { didYouMean } from "../../util/nearest.ts";
import { checkFields } from "./check-fields.ts";
import { headLine, splitFrontMatter, type Located, readFields, type Problem } from "./located.ts";

/** The contents of a SKILL.md, without those of the folder around it. */
export type SkillText = Omit<LibrarySkill, "files" | "readFile">;

/** A SKILL.md that was read; without `skill` if something is wrong with it. */
export interface ReadSkill {
  readonly skill?: SkillText;
  readonly problems: readonly Problem[];
  /** Findings that were ignored. */
  readonly notes: readonly Problem[];
}

/**
 * The field that restricts tools. It is in `metadata`, where the specification lets clients have fields of their own, so that a file with it
 * stays valid everywhere. `allowed-tools` means pre-approval there and cannot mean both.
 */
const restrictionKey = "writ-restrict-tools";

/** The fields of the specification, then two that many clients know and that are used here. */
const knownFields = {
  name: { type: "string", minLength: 1, maxLength: 64 },
  description: { type: "string", minLength: 1, maxLength: 1024 },
  license: { type: "string" },
  compatibility: { type: "string", minLength: 1, maxLength: 500 },
  metadata: { type: "object" },
  "allowed-tools": { type: ["string", "array"], items: { type: "string" } },
  "argument-hint": { type: "string" },
  "disable-model-invocation": { enum: ["true", "false"] },
} as const;

const schema: JsonSchema = { type: "object", properties: knownFields, required: ["name", "description"] };

const skillName = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Names of a SKILL.md. */
export interface SkillFilePlace {
  /** The path as messages name it. */
  readonly file: string;
  readonly folderName: string;
}

/** Reads a SKILL.md by the Agent Skills specification, and collects everything that is wrong with it. */
export async function readSkillText(text: string, { file, folderName }: SkillFilePlace): Promise<ReadSkill> {
  const parts = splitFrontMatter(text);
  if ("reason" in parts) return { problems: [{ file, line: 1, reason: parts.reason }], notes: [] };
  const read = await readFields({ text: parts.head, format: "strings", firstLine: headLine });
  if (!read.ok) return { problems: [{ file, ...read.problem }], notes: [] };
  const found = findings(read, file, await checkFields(read, { schema, file }));
  const { fields } = read;
  const name = textOf(fields["name"]);
  const description = textOf(fields["description"]);
  checkSkillName(name, folderName, found);
  if (description?.trim() === "") found.problem(["description"], "is blank");
  sortUnknown(Object.keys(fields), { path: [], known: Object.keys(knownFields), found });
  const preapproved = preapprovedIn(fields["allowed-tools"], found);
  const { metadata, restrictTo } = metadataIn(fields["metadata"], found);
  const { problems, notes } = found;
  if (problems.length > 0 || name === undefined || description === undefined) return { problems, notes };
  const skill: SkillText = {
    name,
    description: description.trim(),
    instructions: parts.body,
    file,
    license: textOf(fields["license"]),
    compatibility: textOf(fields["compatibility"]),
    metadata,
    argumentHint: textOf(fields["argument-hint"]),
    hidden: fields["disable-model-invocation"] === "true",
    preapproved,
    restrictTo,
  };
  return { skill, problems, notes };
}

interface Findings {
  readonly problems: readonly Problem[];
  readonly notes: readonly Problem[];
  readonly problem: (path: readonly string[], reason: string) => void;
  readonly note: (path: readonly string[], reason: string) => void;
}

function findings({ lineOf }: Located, file: string, first: readonly Problem[]): Findings {
  const problems = [...first];
  const notes: Problem[] = [];
  const made = (path: readonly string[], reason: string): Problem => ({
    file,
    line: lineOf(path),
    field: path.join("."),
    reason,
  });
  return {
    problems,
    notes,
    problem: (path, reason) => void problems.push(made(path, reason)),
    note: (path, reason) => void notes.push(made(path, reason)),
  };
}

function checkSkillName(name: string | undefined, folderName: string, found: Findings): void {
  if (name === undefined || name === "") return;
  if (!skillName.test(name))
    found.problem(
      ["name"],
      `"${name}" is not made of lowercase letters and digits, with single hyphens between them`,
    );
  else if (name !== folderName)
    found.problem(["name"], `it is "${name}", and the folder is "${folderName}": they must be the same`);
}

/** Ignores and notes unknown fields, except those that are meant to restrict: to ignore them would allow everything. */
function sortUnknown(
  names: readonly string[],
  {
    path,
    known,
    found,
  }: { readonly path: readonly string[]; readonly known: readonly string[]; readonly found: Findings },
): void {
  for (const name of names) {
    if (known.includes(name)) continue;
    if (/restrict/i.test(name))
      found.problem(
        [...path, name],
        `restricts nothing; the field is metadata: ${restrictionKey}: "tool_a tool_b"`,
      );
    else if (path.length === 0) found.note([name], `unknown, ignored${didYouMean(name, known)}`);
  }
}

/** The tools in a field of pre-approval. Commas are as common there as spaces, and a pattern may contain spaces: `Bash(git add:*) Read`. */
function preapprovedIn(field: Json | undefined, found: Findings): readonly string[] {
  const entries = Array.isArray(field)
    ? field.map(String)
    : (textOf(field) ?? "").match(/[^\s,(]+(?:\([^)]*\))?|\S/g);
  return (entries ?? []).filter((entry) => {
    const isName = toolNameProblem(entry) === undefined;
    if (!isName) found.note(["allowed-tools"], `"${entry}" is no name of a tool: it approves nothing here`);
    return isName;
  });
}

interface Metadata {
  readonly metadata: Readonly<Record<string, string>>;
  readonly restrictTo?: readonly string[];
}

function metadataIn(field: Json | undefined, found: Findings): Metadata {
  if (!isJsonObject(field)) return { metadata: {} };
  sortUnknown(Object.keys(field), { path: ["metadata"], known: [restrictionKey], found });
  const texts = Object.entries(field).flatMap(([key, value]): [string, string][] => {
    if (typeof value === "string") return [[key, value]];
    if (key === restrictionKey) found.problem(["metadata", key], 'must be a text: "tool_a tool_b"');
    else found.note(["metadata", key], "is no text, ignored");
    return [];
  });
  const restriction = textOf(field[restrictionKey]);
  if (restriction === undefined) return { metadata: Object.fromEntries(texts) };
  const restrictTo = restriction.split(/\s+/).filter((name) => name !== "");
  for (const name of restrictTo) {
    const wrong = toolNameProblem(name);
    if (wrong !== undefined) found.problem(["metadata", restrictionKey], wrong);
  }
  return { metadata: Object.fromEntries(texts), restrictTo };
}

function toolNameProblem(name: string): string | undefined {
  try {
    checkToolName(name);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
