import { mkdirSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { skillFromFolder, skillLibrary } from "../../../../src/adapters/files/skills.ts";
import { libraryOf, type SkillLibrary } from "../../../../src/agent/skill-library.ts";
import { isWritError } from "../../../../src/error/writ-error.ts";
import { agent, type Policy } from "../../../../src/index.ts";
import { fakeTool, type ScriptStep, scripted } from "../../../../src/testing.ts";
import type { ToolContext } from "../../../../src/tool/tool.ts";
import type { JsonObject } from "../../../../src/util/json.ts";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const context = { signal: new AbortController().signal } as ToolContext;
let count = 0;

/** Writes skills into a new folder, each as the text of its SKILL.md or as its files, and gives the folder. */
function skillsIn(skills: Readonly<Record<string, string | Readonly<Record<string, string>>>>): string {
  count += 1;
  const root = `skills-${count}`;
  mkdirSync(folder.path(root));
  for (const [name, content] of Object.entries(skills)) {
    const files = typeof content === "string" ? { "SKILL.md": content } : content;
    for (const [path, text] of Object.entries(files)) folder.file(`${root}/${name}/${path}`, text);
  }
  return folder.path(root);
}

function skillText(name: string, more = "", body = "Do it."): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n${more}---\n\n${body}\n`;
}

/** What is wrong, without the temporary folder in it. */
async function problemsOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isWritError(error, "skill-file-invalid"))
    throw new Error(`expected skill-file-invalid, got ${String(error)}`);
  return String(error.data.problems).replaceAll(/[^\s:]*skills-\d+\//g, "");
}

function execute(library: SkillLibrary, name: string, args: object): Promise<unknown> {
  const tool = library.tools.find((each) => each.name === name);
  return Promise.resolve(tool?.execute(args, context));
}

describe("skillLibrary", () => {
  it("reads folders with a SKILL.md as the specification says [C41]", async () => {
    const more = [
      "license: Apache-2.0",
      "compatibility: Needs git",
      'metadata:\n  author: example\n  version: 1.0\n  writ-restrict-tools: "read_diff comment"',
      "allowed-tools: Bash(git add:*) Read read_diff",
      "",
    ].join("\n");
    const root = skillsIn({
      "code-review": { "SKILL.md": skillText("code-review", more, "# Review\n---\nRead.") },
      commit: skillText("commit", "allowed-tools: [git, Read]\n"),
      "not-a-skill": { "readme.txt": "x" },
    });
    folder.file(`skills-${count}/README.md`, "not a skill either");
    const library = await skillLibrary(root);
    expect([...library.skills.keys()]).toEqual(["code-review", "commit"]);
    expect(library.skills.get("code-review")).toMatchObject({
      name: "code-review",
      description: "Does code-review",
      instructions: "# Review\n---\nRead.",
      license: "Apache-2.0",
      compatibility: "Needs git",
      metadata: { author: "example", version: "1.0" },
      preapproved: ["Read", "read_diff"],
      restrictTo: ["read_diff", "comment"],
      hidden: false,
      files: [],
    });
    expect(library.skills.get("commit")).toMatchObject({ preapproved: ["git", "Read"] });
    expect(library.skills.get("commit")?.restrictTo).toBeUndefined();
    expect(library.notes.join()).toContain(
      'code-review/SKILL.md:10: allowed-tools: "Bash(git add:*)" is no name of a tool: it approves nothing here',
    );
  });

  it("takes a folder that is a skill itself, and several folders", async () => {
    const one = skillsIn({ alpha: skillText("alpha") });
    const two = skillsIn({ beta: skillText("beta").replaceAll("\n", "\r\n") });
    const library = await skillLibrary([`${one}/alpha`, two]);
    expect([...library.skills.keys()]).toEqual(["alpha", "beta"]);
    expect(library.skills.get("beta")?.instructions).toBe("Do it.");
  });

  it("ignores unknown fields and reports them [C41]", async () => {
    const root = skillsIn({
      a1: skillText("a1", "licence: MIT\nmodel: large\nmetadata:\n  nested: {x: 1}\n"),
    });
    const { skills, notes } = await skillLibrary(root);
    expect(skills.get("a1")).toMatchObject({ metadata: {} });
    expect(notes.map((note) => note.replace(/^.*SKILL\.md/, ""))).toEqual([
      ':4: licence: unknown, ignored; did you mean "license"?',
      ":5: model: unknown, ignored",
      ":7: metadata.nested: is no text, ignored",
    ]);
  });

  it("hides a skill from the model that asks for it [C41]", async () => {
    const root = skillsIn({
      a1: skillText("a1", "disable-model-invocation: true\nargument-hint: '[file]'\n"),
    });
    const library = await skillLibrary(root);
    expect(library.skills.get("a1")).toMatchObject({ hidden: true, argumentHint: "[file]" });
    expect(library.tools).toEqual([]);
  });

  it("tells all that is wrong in all files at once, with file, line and field [C41]", async () => {
    const root = skillsIn({
      "bad--name": skillText("bad--name"),
      "big-text": `---\nname: big-text\ndescription: ${"x".repeat(1025)}\ncompatibility: ${"x".repeat(501)}\n---\n`,
      empty: "",
      "no-end": "---\nname: no-end\n",
      nothing: "---\nlicense: MIT\n---\n",
      other: skillText("another"),
      "un-yaml": "---\nname: un-yaml\ndescription: Use when: asked\n---\n",
      blank: "---\nname: blank\ndescription: '  '\n---\n",
    });
    expect((await problemsOf(skillLibrary(root))).split("\n  ").slice(1)).toEqual([
      'bad--name/SKILL.md:2: name: "bad--name" is not made of lowercase letters and digits, with single hyphens between them',
      "big-text/SKILL.md:3: description: must NOT have more than 1024 characters",
      "big-text/SKILL.md:4: compatibility: must NOT have more than 500 characters",
      "blank/SKILL.md:3: description: is blank",
      "empty/SKILL.md:1: it does not begin with front matter: a line `---`, fields, a line `---`",
      "no-end/SKILL.md:1: its front matter does not end: a line `---` is missing",
      "nothing/SKILL.md: name: missing",
      "nothing/SKILL.md: description: missing",
      'other/SKILL.md:2: name: it is "another", and the folder is "other": they must be the same',
      "un-yaml/SKILL.md:3: Nested mappings are not allowed in compact mappings",
    ]);
  });

  it.each(["Upper", "-a", "a-", "a b", "ü", "x".repeat(65)])("refuses the name %.10s [C41]", async (name) => {
    expect(await problemsOf(skillLibrary(skillsIn({ [name]: skillText(name) })))).toContain("name: ");
  });

  it("refuses two skills of one name", async () => {
    const folders = [skillsIn({ a1: skillText("a1") }), skillsIn({ a1: skillText("a1") })];
    expect(await problemsOf(skillLibrary(folders))).toBe("a1/SKILL.md: name: a1/SKILL.md has the same name");
  });

  it("refuses a folder that is not there, a file, and a SKILL.md that is a folder; notes an empty one", async () => {
    expect(await problemsOf(skillLibrary(folder.path("nowhere")))).toContain("it is not there");
    expect(await problemsOf(skillLibrary(folder.file("file.txt", "x")))).toContain("there is no such folder");
    const root = skillsIn({ a1: { "SKILL.md/x": "x" } });
    expect(await problemsOf(skillLibrary(root))).toBe("a1/SKILL.md: it is no regular file");
    expect((await skillLibrary(skillsIn({}))).notes).toEqual([
      expect.stringContaining("no folder with a SKILL.md in it"),
    ]);
  });

  it("refuses what YAML is abused for: tags, aliases that multiply, prototypes, depth, size", async () => {
    const bomb = Array.from(
      { length: 9 },
      (_, i) => `  a${i}: &a${i} [${i === 0 ? "x" : `*a${i - 1},`.repeat(9)}]`,
    );
    const root = skillsIn({
      tag: skillText("tag", "metadata: !!js/function 'x'\n"),
      bomb: skillText("bomb", `metadata:\n${bomb.join("\n")}\n`),
      proto: skillText("proto", "metadata:\n  __proto__:\n    x: y\n"),
      deep: skillText("deep", `metadata: ${"[".repeat(5000)}\n`),
      twice: skillText("twice", "name: twice\n"),
      large: skillText("large", "", "x".repeat(300_000)),
    });
    const problems = await problemsOf(skillLibrary(root));
    expect(problems).toContain("tag/SKILL.md:4: tags are refused");
    expect(problems).toContain("bomb/SKILL.md:2: Excessive alias count");
    expect(problems).toContain('proto/SKILL.md:2: it has the key "__proto__"');
    expect(problems).toContain("deep/SKILL.md:4: it is nested too deep");
    expect(problems).toContain("twice/SKILL.md:4: Map keys must be unique");
    expect(problems).toContain("large/SKILL.md: is larger than 262144 bytes");
  });
});

describe("the restriction of a skill", () => {
  it("is an empty list when it names no tool [C41]", async () => {
    const root = skillsIn({ a1: skillText("a1", 'metadata:\n  writ-restrict-tools: ""\n') });
    expect((await skillLibrary(root)).skills.get("a1")?.restrictTo).toEqual([]);
  });

  it.each([
    [
      "restrict-tools: read\n",
      "restrict-tools: restricts nothing; the field is metadata: writ-restrict-tools",
    ],
    ["writ-restrict-tools: read\n", "writ-restrict-tools: restricts nothing"],
    ["metadata:\n  writ-restricted-tools: read\n", "metadata.writ-restricted-tools: restricts nothing"],
    [
      "metadata:\n  writ-restrict-tools: [read]\n",
      'metadata.writ-restrict-tools: must be a text: "tool_a tool_b"',
    ],
    [
      "metadata:\n  writ-restrict-tools: read, write\n",
      'A tool has the name "read,", which cannot be called',
    ],
    ["metadata:\n  writ-restrict-tools: Bash(git:*)\n", 'A tool has the name "Bash(git:*)"'],
  ])("is never overlooked: %j is an error [C41]", async (more, problem) => {
    expect(await problemsOf(skillLibrary(skillsIn({ a1: skillText("a1", more) })))).toContain(problem);
  });

  it("fails closed and loudly on a name that there is not, at once when the names are known, else when an agent takes it [C41]", async () => {
    const root = skillsIn({ a1: skillText("a1", "metadata:\n  writ-restrict-tools: read_dif\n") });
    await expect(skillLibrary(root, { known: ["read_diff"] })).rejects.toMatchObject({
      code: "skill-restriction-unknown",
      data: { file: `${root}/a1/SKILL.md`, skill: "a1", name: "read_dif", known: "read_diff" },
    });
    const library = await skillLibrary(root);
    const tools = [fakeTool("read_diff", "+1"), library.tools];
    expect(() => agent({ name: "a", model: () => "ok", tools })).toThrow(
      '"a1" is restricted to the tool "read_dif"',
    );
  });

  it("holds when a call is made, and a second skill cannot widen it [C41]", async () => {
    const restrict = (names: string): string => `metadata:\n  writ-restrict-tools: ${names}\n`;
    const root = skillsIn({
      narrow: skillText("narrow", restrict("read")),
      wide: skillText("wide", restrict("read erase")),
      free: skillText("free"),
    });
    const [read, erase] = [fakeTool("read", "text"), fakeTool("erase", "gone")];
    const call = (name: string, args: JsonObject = {}): ScriptStep => ({
      calls: [{ name, arguments: args }],
    });
    const model = scripted([
      call("erase"),
      call("load_skill", { skill_name: "free" }),
      call("erase"),
      call("load_skill", { skill_name: "narrow" }),
      call("erase"),
      call("load_skill", { skill_name: "wide" }),
      call("erase"),
      call("read"),
      "done",
    ]);
    const { tools } = await skillLibrary(root);
    const result = await agent({ name: "a", model, tools: [read, erase, tools], budget: { turns: 20 } }).run(
      "go",
    );
    expect(result.text).toBe("done");
    expect(erase.calls).toHaveLength(2);
    expect(read.calls).toHaveLength(1);
    const statuses = result.transcript.messages.flatMap((message) =>
      message.role === "tool" ? [`${message.name} ${message.status}`] : [],
    );
    expect(statuses).toEqual([
      "erase ok",
      "load_skill ok",
      "erase ok",
      "load_skill ok",
      "erase denied",
      "load_skill ok",
      "erase denied",
      "read ok",
    ]);
  });
});

describe("the pre-approval of a skill", () => {
  it.each([
    { honourPreapproval: true, verdict: "ask", runs: 1 },
    { honourPreapproval: false, verdict: "ask", runs: 0 },
    { honourPreapproval: true, verdict: "deny", runs: 0 },
  ] as const)(
    "spares the question where the program says so, and never a denial: %j [C41]",
    async ({ honourPreapproval, verdict, runs }) => {
      const root = skillsIn({ commit: skillText("commit", "allowed-tools: git\n") });
      const { tools } = await skillLibrary(root, { honourPreapproval });
      const git = fakeTool("git", "done");
      const model = scripted([
        { calls: [{ name: "git" }] },
        { calls: [{ name: "load_skill", arguments: { skill_name: "commit" } }] },
        { calls: [{ name: "git" }] },
        "end",
      ]);
      const policy: Policy = ({ tool }) => ({
        verdict: tool === "git" ? verdict : "allow",
        rule: "test",
        reason: "git changes things",
        remedy: "a person agrees",
      });
      await agent({ name: "a", model, tools: [git, tools], policy }).run("go");
      expect(git.calls).toHaveLength(runs);
    },
  );
});

describe("read_skill_file", () => {
  async function withFiles(): Promise<SkillLibrary> {
    folder.file("outside.txt", "secret");
    const root = skillsIn({
      a1: {
        "SKILL.md": skillText("a1"),
        "references/style.md": "Two spaces.",
        "scripts/run.sh": "echo hi",
        "scripts/.hidden": "x",
        "long.txt": "x".repeat(70_000),
        "bin.dat": "a\0b",
      },
    });
    symlinkSync("../../outside.txt", `${root}/a1/leak.txt`);
    symlinkSync("../..", `${root}/a1/up`);
    symlinkSync("references/style.md", `${root}/a1/inner.md`);
    return skillLibrary(root);
  }

  it("gives the other files of a folder, up to a bound [C41]", async () => {
    const library = await withFiles();
    expect(library.skills.get("a1")?.files).toEqual([
      "bin.dat",
      "long.txt",
      "references/style.md",
      "scripts/run.sh",
    ]);
    const read = (path: string): Promise<unknown> =>
      execute(library, "read_skill_file", { skill_name: "a1", path });
    expect(await read("references/style.md")).toBe("Two spaces.");
    expect(await read("./scripts/run.sh")).toBe("echo hi");
    expect(await read("inner.md")).toBe("Two spaces.");
    expect(await read("long.txt")).toMatch(/^x{65536}\n\[cut off here: 4464 more bytes were left out\]$/);
    await expect(read("bin.dat")).rejects.toThrow("it is binary");
  });

  it.each([
    "../../outside.txt",
    "references/../../../outside.txt",
    "..\\..\\outside.txt",
    "/etc/passwd",
    "C:\\secret.txt",
    "leak.txt",
    "up/outside.txt",
    "up",
    ".",
    "references",
    "no.md",
    "a\0b",
  ])("never leaves the folder: %j [C41]", async (path) => {
    const library = await withFiles();
    await expect(execute(library, "read_skill_file", { skill_name: "a1", path })).rejects.toMatchObject({
      code: "file-unreadable",
      data: { path },
    });
  });

  it("lists at most 200 files and says so", async () => {
    const many = Object.fromEntries(Array.from({ length: 205 }, (_, index) => [`f${index}.md`, "x"]));
    const library = await skillLibrary(skillsIn({ a1: { "SKILL.md": skillText("a1"), ...many } }));
    expect(library.skills.get("a1")?.files).toHaveLength(200);
    expect(library.notes.join()).toContain("only the first 200 files of its folder are listed");
  });
});

describe("skillFromFolder", () => {
  const tools = [fakeTool("read_diff", "+1"), [fakeTool("comment", "ok")]];

  it("is a skill that may call what the file restricts it to [C41]", async () => {
    const root = skillsIn({ review: skillText("review", "metadata:\n  writ-restrict-tools: read_diff\n") });
    const made = await skillFromFolder(`${root}/review`, { tools });
    expect(made).toMatchObject({
      type: "agentic",
      name: "review",
      description: "Does review",
      instructions: "Do it.",
    });
    const reviewer = agent({ name: "a", model: scripted(["ok"]), skills: [made] });
    expect(reviewer.skills).toEqual([{ name: "review", type: "agentic", tools: ["read_diff"] }]);
  });

  it("may call all given tools without a restriction, and read its own files", async () => {
    const root = skillsIn({ review: { "SKILL.md": skillText("review"), "style.md": "Two spaces." } });
    const made = await skillFromFolder(`${root}/review`, { tools });
    const reviewer = agent({ name: "a", model: scripted(["ok"]), skills: [made] });
    expect(reviewer.skills[0]?.tools).toEqual(["read_diff", "comment", "read_skill_file"]);
  });

  it("refuses a restriction to a tool that is not given, and a file that is wrong [C41]", async () => {
    const root = skillsIn({
      review: skillText("review", "metadata:\n  writ-restrict-tools: erase\n"),
      bad: "x",
    });
    await expect(skillFromFolder(`${root}/review`, { tools })).rejects.toMatchObject({
      code: "skill-restriction-unknown",
      data: { name: "erase", known: "read_diff, comment" },
    });
    expect(await problemsOf(skillFromFolder(`${root}/bad`, { tools }))).toContain("bad/SKILL.md:1: ");
  });
});

it("keeps the library behind its tool, for the check of an agent", async () => {
  const library = await skillLibrary(skillsIn({ a1: skillText("a1") }));
  expect(library.tools.map((each) => libraryOf(each)?.skills)).toEqual([library.skills]);
});
