import { WritError } from "../error/writ-error.ts";
import { tool, type Mode, type Tool } from "../tool/tool.ts";

/** A skill of a library, from its SKILL.md. */
export interface LibrarySkill {
  readonly name: string;
  readonly description: string;
  /** The body of the file. It is text only: nothing in it is executed. */
  readonly instructions: string;
  /** The path of the SKILL.md, as shown to people. */
  readonly file: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The arguments in words, for the model or the person that loads the skill. */
  readonly argumentHint?: string;
  /** True: the model is not told of the skill and cannot load it. */
  readonly hidden: boolean;
  /** `allowed-tools`: the tools that the skill's author preapproves. It restricts nothing, and counts only if the program says so. */
  readonly preapproved: readonly string[];
  /** The only tools that may be called once the skill is loaded. Undefined: all tools that could be called before. */
  readonly restrictTo?: readonly string[];
  /** The other files of the folder, as relative paths. */
  readonly files: readonly string[];
  /** Reads one of the files, up to a bound. @throws WritError `file-unreadable`, also for every path outside the folder */
  readonly readFile: (path: string, options: { readonly signal: AbortSignal }) => Promise<string>;
}

/** The parts of a library. */
export interface LibraryParts {
  readonly skills: ReadonlyMap<string, LibrarySkill>;
  /** True: calls of preapproved tools need no person once their skill is loaded. */
  readonly honourPreapproval: boolean;
  /** The parts of the files that were ignored, one per line. */
  readonly notes: readonly string[];
}

/** Skills that a model can load while it works: an agent gets them by listing `library.tools`. */
export interface SkillLibrary extends LibraryParts {
  /**
   * `load_skill`, whose description lists the skills and whose result is the instructions of one; and `read_skill_file`, if skills have other
   * files. Empty if there is no skill to load.
   *
   * Loading a restricted skill leaves, for the rest of the run, only the tools that it names and these two; loading a second one can only
   * narrow that further. `$ARGUMENTS`, `$ARGUMENTS[0]` and `$0` in the instructions stand for the arguments of the call. No shell is ever run.
   */
  readonly tools: readonly Tool[];
}

const loadName = "load_skill";
const readName = "read_skill_file";

/** Makes a library with its tools. */
export function makeLibrary(parts: LibraryParts): SkillLibrary {
  const skills = [...parts.skills.values()].filter(({ hidden }) => !hidden);
  const withFiles = skills.filter(({ files }) => files.length > 0);
  const tools = [
    ...(skills.length === 0 ? [] : [loadTool(parts, skills)]),
    ...(withFiles.length === 0 ? [] : [readTool(withFiles)]),
  ];
  return { ...parts, tools };
}

/** The tool that loads skills, with its library. */
interface LoadSkillTool extends Tool {
  readonly library: LibraryParts;
}

/** The library behind a tool, for checks of an agent; undefined for every other tool. */
export function libraryOf(tool: Tool): LibraryParts | undefined {
  return tool.name === loadName && tool.kind === "knowledge" && "library" in tool
    ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `loadTool` makes such a tool
      (tool as LoadSkillTool).library
    : undefined;
}

/**
 * Checks that every tool to which a skill of the library is restricted exists.
 *
 * @throws WritError `skill-restriction-unknown` with the file, the skill and the name
 */
export function checkLibrary({ skills }: Pick<SkillLibrary, "skills">, toolNames: Iterable<string>): void {
  const known = new Set(toolNames);
  for (const { name: skill, file, restrictTo = [] } of skills.values()) {
    const unknown = restrictTo.find((name) => !known.has(name) && name !== loadName && name !== readName);
    if (unknown === undefined) continue;
    throw new WritError("skill-restriction-unknown", {
      file,
      skill,
      name: unknown,
      known: [...known].join(", ") || "none",
    });
  }
}

function loadTool(library: LibraryParts, skills: readonly LibrarySkill[]): LoadSkillTool {
  const names = skills.map(({ name }) => name);
  const list = skills.map(({ name, argumentHint, description }) =>
    argumentHint === undefined ? `- ${name}: ${description}` : `- ${name} ${argumentHint}: ${description}`,
  );
  const made = tool({
    name: loadName,
    description: `Load the instructions of a skill before doing a task that it fits. The skills:\n${list.join("\n")}`,
    inputSchema: {
      type: "object",
      properties: {
        skill_name: { type: "string", enum: names },
        arguments: { type: "string", description: "What the skill is to work on" },
      },
      required: ["skill_name"],
      additionalProperties: false,
    },
    effect: "read",
    trusted: true,
    execute: (args: unknown) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
      const { skill_name: name, arguments: given } = args as LoadArguments;
      return shownTo(skillNamed(library, name), given);
    },
  });
  const mode = (args: unknown): Mode | undefined =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
    modeOf(skillNamed(library, (args as LoadArguments).skill_name), library);
  return { ...made, kind: "knowledge", mode, library };
}

interface LoadArguments {
  readonly skill_name: string;
  readonly arguments?: string;
}

function readTool(skills: readonly LibrarySkill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  const made = tool({
    name: readName,
    description:
      "Read a file that belongs to a skill; its instructions say which there are and when they matter.",
    inputSchema: {
      type: "object",
      properties: {
        skill_name: { type: "string", enum: [...byName.keys()] },
        path: { type: "string", minLength: 1, description: "The path in the skill's folder" },
      },
      required: ["skill_name", "path"],
      additionalProperties: false,
    },
    effect: "read",
    trusted: true,
    execute: (args: unknown, { signal }) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
      const { skill_name: name, path } = args as { readonly skill_name: string; readonly path: string };
      return skillNamed({ skills: byName }, name).readFile(path, { signal });
    },
  });
  return { ...made, kind: "knowledge" };
}

/** The tool that reads the files of one skill; undefined if it has none. */
export function skillFileTool(skill: LibrarySkill): Tool | undefined {
  return skill.files.length === 0 ? undefined : readTool([skill]);
}

/** @throws WritError `skill-not-found` for a call that evaded the tool's schema */
function skillNamed({ skills }: Pick<LibraryParts, "skills">, name: string): LibrarySkill {
  const skill = skills.get(name);
  if (skill !== undefined && !skill.hidden) return skill;
  const known = [...skills.values()].filter(({ hidden }) => !hidden).map((each) => each.name);
  throw new WritError("skill-not-found", { name, known: known.join(", ") || "none" });
}

function modeOf({ restrictTo, preapproved }: LibrarySkill, library: LibraryParts): Mode | undefined {
  const approves = library.honourPreapproval && preapproved.length > 0;
  if (restrictTo === undefined && !approves) return undefined;
  return {
    ...(restrictTo === undefined ? {} : { restrictTo: [...restrictTo, loadName, readName] }),
    ...(approves ? { preapproved } : {}),
  };
}

function shownTo({ instructions, files }: LibrarySkill, given = ""): string {
  const body = withArguments(instructions, given);
  return files.length === 0 ? body : `${body}\n\nFiles of this skill, for ${readName}: ${files.join(", ")}`;
}

const placeholder = /\$ARGUMENTS(?:\[(\d{1,3})\])?|(?<![\w\\$])\$(\d)(?![\w.,]*\d)/g;

/**
 * Puts arguments into instructions, all at once: the text of an argument is never read as a placeholder. A missing argument leaves
 * `$ARGUMENTS[N]` empty; a `$5` without a sixth argument is taken for money and stays. Arguments without a placeholder in the instructions
 * are appended.
 */
export function withArguments(instructions: string, given: string): string {
  const words = wordsOf(given);
  let used = false;
  const text = instructions.replaceAll(
    placeholder,
    (whole: string, long: string | undefined, short: string | undefined) => {
      const index = long ?? short;
      const value = index === undefined ? given : words[Number(index)];
      used ||= value !== undefined;
      return value ?? (short === undefined ? "" : whole);
    },
  );
  return used || given.trim() === "" ? text : `${text}\n\nARGUMENTS: ${given}`;
}

/** The words of a text; quotes keep several together. */
function wordsOf(text: string): string[] {
  return Array.from(
    text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}
