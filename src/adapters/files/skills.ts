import { anything, boolean, either, list, optional, record, string } from "../../util/shape.ts";
import { checkArguments, closed } from "../../error/check-shape.ts";
import {
  checkLibrary,
  type LibrarySkill,
  makeLibrary,
  skillFileTool,
  type SkillLibrary,
} from "../../agent/skill-library.ts";
import { skill, type Skill } from "../../agent/skill.ts";
import { WritError } from "../../error/writ-error.ts";
import { flattenTools, type Tools } from "../../policy/allow-list.ts";
import { type Problem, problemLines } from "./located.ts";
import { reasonOf } from "./read-text.ts";
import { readSkillFolder, skillFoldersIn } from "./skill-folder.ts";

/** Options of {@link skillLibrary}. */
export interface SkillLibraryOptions {
  /**
   * If true, `allowed-tools` has the meaning of the specification: calls of these tools need no approval once
   * the skill is loaded. A policy that denies still denies. Default false: the text of a file is not a reason to skip
   * a question.
   */
  readonly honourPreapproval?: boolean;
  /** The names of all tools: a restriction that names another one is an error at once. Default: checked when an agent gets the library. */
  readonly known?: Iterable<string>;
}

const foldersShape = either(string, list(string, "a list of texts"));
const optionsShape = closed({ honourPreapproval: optional(boolean), known: anything });

/**
 * Reads folders of the Agent Skills format (agentskills.io). Each given folder is a skill itself, or holds one skill per folder. The files are
 * read now; a later change needs a new library. Unknown fields are ignored, and listed in `notes`.
 *
 * `metadata: writ-restrict-tools: "read_diff comment"` in a SKILL.md restricts which tools may be called once the skill is loaded: this is enforced at
 * each call, and a second skill never widens it.
 *
 * @throws WritError `skill-file-invalid` with everything that is wrong in all folders, `skill-restriction-unknown`
 * @example
 * ```ts
 * import { agent, tool } from "writ";
 * import { skillLibrary } from "writ/files";
 *
 * const readDiff = tool({ name: "read_diff", description: "The open changes", inputSchema: { type: "object" }, execute: () => "+ 1" });
 * const library = await skillLibrary(["skills", "../shared-skills"]);
 * console.log([...library.skills.keys()], library.notes);
 *
 * export const worker = agent({ name: "worker", model: "ollama/qwen2.5:7b", tools: [readDiff, library.tools] });
 * ```
 */
export async function skillLibrary(
  folders: string | readonly string[],
  options: SkillLibraryOptions = {},
): Promise<SkillLibrary> {
  checkArguments("skillLibrary()", { folders, options }, { folders: foldersShape, options: optionsShape });
  const { honourPreapproval = false, known } = options;
  const given = typeof folders === "string" ? [folders] : folders;
  const problems: Problem[] = [];
  const notes: Problem[] = [];
  const skills = new Map<string, LibrarySkill>();
  for (const place of await placesIn(given, { problems, notes })) {
    const read = await readSkillFolder(place);
    problems.push(...read.problems);
    notes.push(...read.notes);
    if (read.skill === undefined) continue;
    const first = skills.get(read.skill.name);
    if (first === undefined) skills.set(read.skill.name, read.skill);
    else problems.push({ file: read.skill.file, field: "name", reason: `${first.file} has the same name` });
  }
  if (problems.length > 0)
    throw new WritError("skill-file-invalid", { where: given.join(", "), problems: problemLines(problems) });
  const library = makeLibrary({
    skills,
    honourPreapproval,
    notes: notes.map((note) => problemLines([note])),
  });
  if (known !== undefined) checkLibrary(library, known);
  return library;
}

/**
 * Reads one folder of the Agent Skills format as a skill of an agent. Its allow-list is the restriction of the file, or all given tools without one.
 * If the folder has other files, the list also has `read_skill_file`. Placeholders for arguments stay as they are.
 *
 * @throws WritError `skill-file-invalid`, `skill-restriction-unknown`, `name-invalid`
 * @example
 * ```ts
 * import { agent, tool } from "writ";
 * import { skillFromFolder } from "writ/files";
 *
 * const readDiff = tool({ name: "read_diff", description: "The open changes", inputSchema: { type: "object" }, execute: () => "+ 1" });
 *
 * export const reviewer = agent({
 *   name: "reviewer",
 *   model: "ollama/qwen2.5:7b",
 *   skills: [await skillFromFolder("skills/code-review", { tools: [readDiff] })],
 * });
 * ```
 */
export async function skillFromFolder(folder: string, options: { readonly tools: Tools }): Promise<Skill> {
  checkArguments("skillFromFolder()", { folder, options }, { folder: string, options: record });
  const { tools } = options;
  const read = await readSkillFolder(folder);
  if (read.skill === undefined)
    throw new WritError("skill-file-invalid", { where: folder, problems: problemLines(read.problems) });
  const { name, description, instructions, restrictTo } = read.skill;
  const given = flattenTools(tools);
  checkLibrary(
    { skills: new Map([[name, read.skill]]) },
    given.map((tool) => tool.name),
  );
  const reader = skillFileTool(read.skill);
  const allowed = restrictTo === undefined ? given : given.filter((tool) => restrictTo.includes(tool.name));
  return skill({
    name,
    description,
    instructions,
    tools: reader === undefined ? allowed : [...allowed, reader],
  });
}

async function placesIn(
  folders: readonly string[],
  { problems, notes }: { readonly problems: Problem[]; readonly notes: Problem[] },
): Promise<readonly string[]> {
  const places: string[] = [];
  for (const file of folders) {
    try {
      const found = await skillFoldersIn(file);
      if (found.length === 0) notes.push({ file, reason: "no folder with a SKILL.md in it" });
      places.push(...found);
    } catch (error) {
      problems.push({ file, reason: reasonOf(error) });
    }
  }
  return places;
}
