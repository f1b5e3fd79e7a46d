import { describe, expect, it } from "vitest";
import {
  checkLibrary,
  type LibrarySkill,
  libraryOf,
  makeLibrary,
  skillFileTool,
  withArguments,
} from "../../../src/agent/skill-library.ts";
import { tool, type Tool, type ToolContext } from "../../../src/tool/tool.ts";

const context = { signal: new AbortController().signal } as ToolContext;

function librarySkill(parts: Partial<LibrarySkill> & Pick<LibrarySkill, "name">): LibrarySkill {
  return {
    description: `Does ${parts.name}`,
    instructions: `How to ${parts.name}`,
    file: `skills/${parts.name}/SKILL.md`,
    metadata: {},
    hidden: false,
    preapproved: [],
    files: [],
    readFile: async (path) => `${parts.name}/${path}`,
    ...parts,
  };
}

function library(skills: readonly LibrarySkill[], honourPreapproval = false): ReturnType<typeof makeLibrary> {
  return makeLibrary({
    skills: new Map(skills.map((each) => [each.name, each])),
    honourPreapproval,
    notes: [],
  });
}

function toolOf(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

describe("load_skill", () => {
  it("lists name and description of each skill, and gives the instructions of one when it is called [C41]", async () => {
    const { tools } = library([
      librarySkill({ name: "review", argumentHint: "[file]" }),
      librarySkill({ name: "commit" }),
    ]);
    const load = toolOf(tools, "load_skill");
    expect(tools).toHaveLength(1);
    expect(load).toMatchObject({ kind: "knowledge", effect: "read" });
    expect(load.description).toContain("- review [file]: Does review\n- commit: Does commit");
    expect(load.description).not.toContain("How to");
    expect(await load.input.parse({ skill_name: "other" })).toMatchObject({ ok: false });
    expect(load.execute({ skill_name: "commit" }, context)).toBe("How to commit");
  });

  it("puts arguments in the places that the instructions have for them [C41]", () => {
    const instructions = "Fix $ARGUMENTS: first $ARGUMENTS[0], then $1.";
    const { tools } = library([librarySkill({ name: "fix", instructions })]);
    const load = toolOf(tools, "load_skill");
    expect(load.execute({ skill_name: "fix", arguments: 'a "b c"' }, context)).toBe(
      'Fix a "b c": first a, then b c.',
    );
  });

  it("names the other files of the skill, which read_skill_file reads [C41]", async () => {
    const { tools } = library([
      librarySkill({ name: "review", files: ["references/style.md"] }),
      librarySkill({ name: "commit" }),
    ]);
    expect(toolOf(tools, "load_skill").execute({ skill_name: "review" }, context)).toBe(
      "How to review\n\nFiles of this skill, for read_skill_file: references/style.md",
    );
    const read = toolOf(tools, "read_skill_file");
    expect(read).toMatchObject({ kind: "knowledge", effect: "read" });
    expect(await read.execute({ skill_name: "review", path: "x.md" }, context)).toBe("review/x.md");
    expect(await read.input.parse({ skill_name: "commit", path: "x.md" })).toMatchObject({ ok: false });
  });

  it("restricts to what the skill says and to itself; without a restriction it changes nothing [C41]", () => {
    const { tools } = library([
      librarySkill({ name: "review", restrictTo: ["read_diff"] }),
      librarySkill({ name: "think", restrictTo: [] }),
      librarySkill({ name: "commit", preapproved: ["git"] }),
    ]);
    const { mode } = toolOf(tools, "load_skill");
    expect(mode?.({ skill_name: "review" })).toEqual({
      restrictTo: ["read_diff", "load_skill", "read_skill_file"],
    });
    expect(mode?.({ skill_name: "think" })).toEqual({ restrictTo: ["load_skill", "read_skill_file"] });
    expect(mode?.({ skill_name: "commit" })).toBeUndefined();
  });

  it("takes allowed-tools for pre-approval, and only where the program honours it [C41]", () => {
    const skills = [
      librarySkill({ name: "commit", preapproved: ["git"] }),
      librarySkill({ name: "both", preapproved: ["git"], restrictTo: ["read"] }),
    ];
    const honoured = toolOf(library(skills, true).tools, "load_skill");
    expect(honoured.mode?.({ skill_name: "commit" })).toEqual({ preapproved: ["git"] });
    expect(honoured.mode?.({ skill_name: "both" })).toEqual({
      preapproved: ["git"],
      restrictTo: ["read", "load_skill", "read_skill_file"],
    });
    const ignored = toolOf(library(skills).tools, "load_skill");
    expect(ignored.mode?.({ skill_name: "both" })).toEqual({
      restrictTo: ["read", "load_skill", "read_skill_file"],
    });
  });

  it("neither tells of a hidden skill nor gives it [C41]", () => {
    const { tools } = library([
      librarySkill({ name: "secret", hidden: true }),
      librarySkill({ name: "open" }),
    ]);
    const load = toolOf(tools, "load_skill");
    expect(JSON.stringify([load.description, load.input.jsonSchema])).not.toContain("secret");
    expect(() => load.execute({ skill_name: "secret" }, context)).toThrow(
      'There is no skill "secret". There are: open.',
    );
    expect(() => load.mode?.({ skill_name: "secret" })).toThrow("There are: open.");
  });

  it("is not there without a skill to load", () => {
    expect(library([]).tools).toEqual([]);
    expect(library([librarySkill({ name: "secret", hidden: true, files: ["a"] })]).tools).toEqual([]);
  });
});

describe("checkLibrary", () => {
  const restricted = library([
    librarySkill({ name: "review", restrictTo: ["read_diff", "load_skill", "comment"] }),
  ]);

  it("lets pass what has every tool", () => {
    expect(() => checkLibrary(restricted, ["read_diff", "comment", "more"])).not.toThrow();
    expect(() => checkLibrary(library([librarySkill({ name: "free" })]), [])).not.toThrow();
  });

  it("fails loudly on an unknown name, with file, skill and name [C41]", () => {
    expect(() => checkLibrary(restricted, ["read_diff"])).toThrow(
      'skills/review/SKILL.md: the skill "review" is restricted to the tool "comment", which does not exist. There are: read_diff.',
    );
    expect(() => checkLibrary(restricted, [])).toThrow("There are: none.");
  });
});

describe("libraryOf", () => {
  it("finds the library behind load_skill, also in a copy of the tool, and behind nothing else", () => {
    const made = library([librarySkill({ name: "a", files: ["b"] })]);
    expect(libraryOf({ ...toolOf(made.tools, "load_skill") })?.skills).toBe(made.skills);
    expect(libraryOf(toolOf(made.tools, "read_skill_file"))).toBeUndefined();
    const other = tool({
      name: "load_skill",
      description: "",
      inputSchema: { type: "object" },
      execute: () => 1,
    });
    expect(libraryOf(other)).toBeUndefined();
  });
});

describe("skillFileTool", () => {
  it("reads the files of one skill, where it has any", async () => {
    expect(skillFileTool(librarySkill({ name: "a" }))).toBeUndefined();
    const read = skillFileTool(librarySkill({ name: "a", files: ["b.md"] }));
    expect(await read?.execute({ skill_name: "a", path: "b.md" }, context)).toBe("a/b.md");
  });
});

describe("withArguments", () => {
  it.each([
    ["$ARGUMENTS", "a b", "a b"],
    ["$ARGUMENTS", "", ""],
    ["[$ARGUMENTS[1]] [$ARGUMENTS[2]] $0", "a b", "[b] [] a"],
    ["$0 $1 $2", "'one two' \"\" x", "one two  x"],
    ["at $5 or $1.50 or $100", "a b c", "at $5 or $1.50 or $100\n\nARGUMENTS: a b c"],
    ["var$0 \\$0 $$0 $0", "a", "var$0 \\$0 $$0 a"],
    ["$0 and $1", "$1 $ARGUMENTS", "$1 and $ARGUMENTS"],
    ["no place", "a", "no place\n\nARGUMENTS: a"],
    ["no place", "  ", "no place"],
    ["run !`rm -rf $HOME` with $ARGUMENTS", "$(id)", "run !`rm -rf $HOME` with $(id)"],
  ])("makes of %j with %j: %j", (instructions, given, made) => {
    expect(withArguments(instructions, given)).toBe(made);
  });
});
