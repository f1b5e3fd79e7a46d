import { unknownTool } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { readText } from "../../agent/describe/audit-grants.ts";
import { readCapability } from "../../tool/capability.ts";
import { didYouMean } from "../../util/nearest.ts";
import { placesOf } from "./schema-places.ts";
import { type Sentence, sentenceText } from "./sentence.ts";
import { isAboutCalls, isMeant, sourcesOf } from "./suspects.ts";
import type { ProvenAgent } from "./subject.ts";

/**
 * Checks that the tools, skills and arguments in a sentence exist: a sentence about others would be proved of every agent.
 *
 * @throws WritError `tool-unknown`, `definition-invalid`, `capability-invalid`
 */
export function checkNames(sentence: Sentence, subject: ProvenAgent): void {
  const where = `The sentence "${sentenceText(sentence)}"`;
  if (sentence.type === "powers")
    for (const text of sentence.within) if (readText(text) === undefined) readCapability(partsOf(text));
  if (!isAboutCalls(sentence)) return;
  const known = new Set(subject.tools.map(({ name }) => name));
  const unknown = [...(sentence.tools ?? []), ...sourcesOf(sentence)].find((name) => !known.has(name));
  if (unknown !== undefined) throw unknownTool(where, unknown, known);
  if (sentence.type === "never") checkSkills(where, sentence.skills ?? [], subject);
  if (sentence.type !== "given") return;
  const tools = subject.tools.filter((tool) => isMeant(sentence, tool));
  const paths = tools.flatMap((tool) => [
    ...placesOf(tool).map(({ path }) => path),
    ...Object.keys(Object(tool.input.jsonSchema["properties"])),
  ]);
  const stray = sentence.arguments?.find(
    (name) => !paths.some((path) => path === name || path.startsWith(`${name}.`)),
  );
  if (stray === undefined) return;
  const near = didYouMean(stray, paths) || `; there are ${[...new Set(paths)].join(", ") || "none"}`;
  throw new WritError("definition-invalid", {
    where,
    reason: `no tool in it has the argument "${stray}"${near}`,
  });
}

function checkSkills(where: string, skills: readonly string[], { ways }: ProvenAgent): void {
  const known = ways.map(({ skill }) => skill);
  const stray = skills.find((name) => !known.includes(name));
  if (stray === undefined) return;
  const near = didYouMean(stray, known) || `; there are ${known.join(", ")}`;
  throw new WritError("definition-invalid", { where, reason: `there is no skill "${stray}"${near}` });
}

function partsOf(text: string): { readonly kind: string; readonly scope: string } {
  const [, kind = text, scope = ""] = /^([\w.]+)\((.*)\)$/s.exec(text) ?? [];
  return { kind, scope };
}
