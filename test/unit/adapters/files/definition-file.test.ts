import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type DefinitionOptions,
  type FileDefinition,
  isDefinitionFile,
  loadAgent,
  loadAgents,
} from "../../../../src/adapters/files/definition-file.ts";
import { isWritError } from "../../../../src/error/writ-error.ts";
import { agent } from "../../../../src/index.ts";
import { fakeTool, scripted } from "../../../../src/testing.ts";
import { knowledge } from "../../../../src/tool/knowledge.ts";
import { driverChoices } from "../../../../src/model/driver-names.ts";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const search = fakeTool("search", "found");
const read = fakeTool("read", "text");
const erase = fakeTool("erase", "gone");
const tools = [search, [read, erase]];
const model = (): string => "ok";

function markdown(text: string, options: DefinitionOptions = { tools }): Promise<FileDefinition> {
  return loadAgent(folder.file("agent.md", text), options);
}

function json(value: unknown, options: DefinitionOptions = { tools }): Promise<FileDefinition> {
  return loadAgent(
    folder.file("agent.json", typeof value === "string" ? value : JSON.stringify(value, null, 2)),
    options,
  );
}

/** What is wrong, a line each, without the temporary folder. */
async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isWritError(error, "definition-file-invalid"))
    throw new Error(`expected problems, got ${String(error)}`);
  const lines = String(error.data.problems).split("\n  ");
  return lines.filter((line) => line !== "").map((line) => line.replaceAll(`${folder.path()}/`, ""));
}

function namesOf({ tools: list }: { readonly tools?: FileDefinition["tools"] }): readonly string[] {
  return (list ?? []).map((tool) => (typeof tool === "object" && "name" in tool ? tool.name : "?"));
}

describe("loadAgent", () => {
  it("reads Markdown: fields in front matter, instructions in the body [C40]", async () => {
    const definition = await markdown(`---
# A comment
name: researcher
description: Looks things up
model: ollama/qwen2.5:7b
driver: native
tools: [search, read]
budget:
  turns: 3
  costUsd: 0.5
settings: { temperature: 0.2, stopSequences: [END] }
toolChoice: { tool: search }
lastTurn: answer
endOn: [tool-failure, length]
metadata: { label: Research, tags: [a, b], level: 2 }
output:
  type: object
  properties: { answer: { type: string } }
  required: [answer]
---

You look things up.

---
Cite what you find.
`);
    expect(definition).toMatchObject({
      name: "researcher",
      description: "Looks things up",
      instructions: "You look things up.\n\n---\nCite what you find.",
      model: "ollama/qwen2.5:7b",
      driver: "native",
      budget: { turns: 3, costUsd: 0.5 },
      settings: { temperature: 0.2, stopSequences: ["END"] },
      toolChoice: { tool: "search" },
      lastTurn: "answer",
      endOn: ["tool-failure", "length"],
      metadata: { label: "Research", tags: ["a", "b"], level: 2 },
      output: { type: "object", required: ["answer"] },
    });
    expect(namesOf(definition)).toEqual(["search", "read"]);
  });

  it("reads JSON of the same fields [C40]", async () => {
    const definition = await json({
      name: "a",
      instructions: "Be brief.",
      tools: ["read"],
      input: { type: "object" },
    });
    expect(definition).toMatchObject({ name: "a", instructions: "Be brief.", input: { type: "object" } });
    expect(namesOf(definition)).toEqual(["read"]);
    expect((await json('{\n\t"name": "tabs",\r\n\t"tools":\t[]}')).name).toBe("tabs");
  });

  it("gives what agent() takes, and the agent runs with these tools alone [C40]", async () => {
    const definition = await markdown("---\nname: a\ntools: [search]\n---\nUse tools.");
    const script = scripted([{ calls: [{ name: "erase" }] }, { calls: [{ name: "search" }] }, "done"]);
    const result = await agent({ ...definition, model: script }).run("go");
    expect(result.text).toBe("done");
    expect(script.requests[0]?.messages[0]).toMatchObject({
      role: "system",
      text: expect.stringMatching(/^Use tools\./),
    });
    expect(result.transcript.messages.flatMap((m) => (m.role === "tool" ? [m.status] : []))).toEqual([
      "denied",
      "ok",
    ]);
  });

  it.each([
    ["name: a", ["search", "read", "erase"]],
    ["name: a\ntools:", ["search", "read", "erase"]],
    ["name: a\ntools: null", ["search", "read", "erase"]],
    ["name: a\ntools: []", []],
    ["name: a\ntools: [read, search, read]", ["read", "search"]],
    ["name: a\ntoolsDeny: [erase]", ["search", "read"]],
    ["name: a\ntools: [read, erase]\ntoolsDeny: [erase]", ["read"]],
  ])(
    "%j: no list is all tools, an empty list is none, and what is denied is taken away [C40]",
    async (head, names) => {
      expect(namesOf(await markdown(`---\n${head}\n---\n`))).toEqual(names);
    },
  );

  it("reads skills, each with some of the agent's tools [C40]", async () => {
    const definition = await json({
      name: "a",
      toolsDeny: ["erase"],
      skills: [
        { name: "look", description: "Looks", instructions: "Look.", tools: ["search"] },
        { name: "all", description: "Anything", tools: null },
        { name: "talk", description: "Talks", tools: [] },
      ],
    });
    const made = agent({ ...definition, model, selectSkill: () => "look" });
    expect(made.skills.map(({ name, tools: allowed }) => [name, allowed])).toEqual([
      ["look", ["search"]],
      ["all", ["search", "read"]],
      ["talk", []],
    ]);
  });

  it("gives knowledge of the program to every skill, and the model of the program to a file that names none", async () => {
    const faq = knowledge({ name: "faq", description: "", load: () => "text" });
    const options = { tools: [search], knowledge: [faq], model };
    const alone = await json({ name: "a", tools: [] }, options);
    expect(namesOf(alone)).toEqual(["faq"]);
    expect(alone.model).toBe(model);
    const several = await json({ name: "a", skills: [{ name: "b", description: "" }] }, options);
    expect(several.skills?.[0]).toMatchObject({ knowledge: [faq] });
    expect((await json({ name: "a", model: "ollama/x" }, options)).model).toBe("ollama/x");
  });

  it("says file, line, field, what is wrong and what was meant, all at once [C40]", async () => {
    const text = `---
name: a
descripton: x
driver: nativ
tols: [search]
budget:
  turns: 0
  trns: 3
settings:
  temprature: 1
skills:
  - name: b
    description: c
    tool: [search]
  - description: d
toolChoice: sometimes
---
`;
    expect(await problemsOf(markdown(text))).toEqual([
      'agent.md:3: descripton: unknown; did you mean "description"?',
      `agent.md:4: driver: must be one of ${driverChoices.map((name) => JSON.stringify(name)).join(", ")}, got "nativ"`,
      'agent.md:5: tols: unknown; did you mean "tools"?',
      "agent.md:7: budget.turns: must be > 0",
      'agent.md:8: budget.trns: unknown; did you mean "turns"?',
      'agent.md:10: settings.temprature: unknown; did you mean "temperature"?',
      'agent.md:14: skills[0].tool: unknown; did you mean "tools"?',
      "agent.md:15: skills[1].name: missing",
      'agent.md:16: toolChoice: must be one of "auto", "required", "none", got "sometimes"',
      'agent.md:16: toolChoice: must be an object, got "sometimes"',
    ]);
  });

  it("names the fields that there are where nothing is near", async () => {
    const [problem] = await problemsOf(markdown("---\nname: a\ntemplate: x\n---\n"));
    expect(problem).toMatch(/^agent\.md:3: template: unknown; known: name, description, /);
  });

  it("knows tools-deny for toolsDeny", async () => {
    const [problem] = await problemsOf(markdown("---\nname: a\ntools-deny: [read]\n---\n"));
    expect(problem).toMatch(/^agent\.md:3: tools-deny: unknown; did you mean "toolsDeny"\?$/);
  });

  it("refuses names of tools that there are not, wherever they stand [C40]", async () => {
    const text = `---
name: a
tools:
  - serach
  - read
toolsDeny: [erse]
skills:
  - name: b
    description: c
    tools: [read, erase]
---
`;
    expect(await problemsOf(markdown(text))).toEqual([
      'agent.md:6: toolsDeny[0]: there is no tool "erse" (given: search, read, erase); did you mean "erase"?',
      'agent.md:4: tools[0]: there is no tool "serach" (given: search, read, erase); did you mean "search"?',
      'agent.md:10: skills[0].tools[1]: there is no tool "erase" (given: read)',
    ]);
    expect(await problemsOf(markdown("---\nname: a\ntools: [read]\n---\n", {}))).toEqual([
      'agent.md:3: tools[0]: there is no tool "read" (no tools are given)',
    ]);
  });

  it.each([
    ["name: my agent", 'agent.md:2: name: An agent has the name "my agent", which cannot be called.'],
    ["name: a\nmodel: qwen", "agent.md:3: model: "],
    ["name: a\noutput:\n  type: objekt", "agent.md:3: output: "],
    ["name: a\ninput: { $ref: 'https://example.org/x' }", "agent.md:3: input: "],
    [
      "name: a\nskills: [{ name: my skill, description: x }]",
      "agent.md:3: skills[0].name: A skill has the name",
    ],
    ["name: a\ninstructions: twice", "agent.md:3: instructions: unknown"],
    ["name: 5", "agent.md:2: name: must be a string, got 5"],
    ["- name", "agent.md:2: it has no fields (`name: value`)"],
    ["", "agent.md:2: it has no fields"],
    ["name: a\nname: b", "agent.md:3: Map keys must be unique"],
    ["name: a\nmetadata: { x: 1, y: { z: 1, 'z': 2 } }", "agent.md:3: Map keys must be unique"],
    ["name: a\nmetadata:\n  - { x: 1 }\n  - { x: 1, x: 1 }", "agent.md:5: Map keys must be unique"],
    ["name: [a", "agent.md:"],
    ["name: !!js/undefined a", "agent.md:2: tags are refused"],
    ["name: a\nmetadata: { __proto__: { x: 1 } }", 'agent.md:2: it has the key "__proto__"'],
    [
      `name: a\nmetadata: ${"[".repeat(100)}${"]".repeat(100)}`,
      "agent.md:2: it is nested deeper than 64 levels",
    ],
    ["name: a\n? [b]\n: c", "agent.md:3: "],
  ])("tells what is wrong with %j", async (head, problem) => {
    const problems = await problemsOf(markdown(`---\n${head}\n---\n`));
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it("reads tens of thousands of keys in time that grows with them, and finds the one that stands twice", async () => {
    const keys = Array.from({ length: 36_000 }, (_, index) => `k${index}`).join(",");
    const head = `---\nname: a\nmetadata: {${keys}`;
    expect(Object.keys((await markdown(`${head}}\n---\n`)).metadata ?? {})).toHaveLength(36_000);
    expect(await problemsOf(markdown(`${head},\n k0}\n---\n`))).toEqual([
      "agent.md:4: Map keys must be unique",
    ]);
    const members = Array.from({ length: 20_000 }, (_, index) => `"k${index}": 1`).join(",");
    expect((await json(`{ "name": "a", "metadata": {${members}} }`)).metadata).toMatchObject({ k19999: 1 });
  });

  it("refuses aliases that multiply, and lets others pass", async () => {
    const bomb = Array.from(
      { length: 8 },
      (_, i) => `  a${i}: &a${i} [${i === 0 ? "x" : `*a${i - 1},`.repeat(9)}]`,
    );
    expect(await problemsOf(markdown(`---\nname: a\nmetadata:\n${bomb.join("\n")}\n---\n`))).toEqual([
      "agent.md:2: Excessive alias count indicates a resource exhaustion attack",
    ]);
    const fine = await markdown("---\nname: a\nmetadata: { a: &x [1], b: *x }\n---\n");
    expect(fine.metadata).toEqual({ a: [1], b: [1] });
  });

  it.each([
    ['{ "name": "a", }', /^agent\.json(:1)?: it is not JSON: /],
    ['{\n"name": "a",\n"tools": [,]\n}', /^agent\.json:3: it is not JSON: /],
    ['{\n"name": "a",\n"name": "b"\n}', /^agent\.json:3: Map keys must be unique$/],
    ['{\n"name": "a",\n"tols": []\n}', /^agent\.json:3: tols: unknown; did you mean "tools"\?$/],
    ['{ "name": "a", "__proto__": {} }', /^agent\.json: it is not JSON: it has the key "__proto__"/],
    ["name: a", /^agent\.json.*: it is not JSON: /],
    ["[]", /^agent\.json:1: it has no fields/],
    ["null", /^agent\.json:1: it has no fields/],
  ])("tells what is wrong with the JSON %j", async (text, problem) => {
    expect(await problemsOf(json(text))).toEqual([expect.stringMatching(problem)]);
  });

  it("refuses what is no definition: another ending, no front matter, too large, binary, a folder, nothing there", async () => {
    const load = (name: string, content: string): Promise<unknown> => loadAgent(folder.file(name, content));
    expect(await problemsOf(load("agent.yaml", "name: a"))).toEqual([
      "agent.yaml: its name must end in .md or .json",
    ]);
    expect(await problemsOf(load("a.md", "# Agent"))).toEqual([
      expect.stringContaining("a.md:1: it does not begin with"),
    ]);
    expect(await problemsOf(load("b.md", "x".repeat(262_145)))).toEqual([
      "b.md: is larger than 262144 bytes",
    ]);
    expect(await problemsOf(load("c.md", "---\0"))).toEqual(["c.md: it is binary: it has NUL bytes"]);
    mkdirSync(folder.path("d.md"));
    expect(await problemsOf(loadAgent(folder.path("d.md")))).toEqual(["d.md: it is no regular file"]);
    expect(await problemsOf(loadAgent(folder.path("e.md")))).toEqual(["e.md: it is not there"]);
  });

  it("changes no prototype, whatever the names are", async () => {
    const text = "---\nname: a\nmetadata: { constructor: x, toString: y, hasOwnProperty: z }\n---\n";
    expect((await markdown(text)).metadata).toEqual({ constructor: "x", toString: "y", hasOwnProperty: "z" });
    expect(await problemsOf(markdown("---\nname: a\nconstructor: x\n---\n"))).toEqual([
      expect.stringContaining("agent.md:3: constructor: unknown"),
    ]);
  });
});

describe("loadAgents", () => {
  it("reads every definition of a folder, by file name [C40]", async () => {
    folder.file("good/b.md", "---\nname: beta\n---\n");
    folder.file("good/a.json", '{ "name": "alpha" }');
    folder.file("good/README.md", "# Not an agent");
    folder.file("good/.hidden.md", "x");
    folder.file("good/notes.txt", "x");
    folder.file("good/more/c.md", "x");
    const definitions = await loadAgents(folder.path("good"), { model });
    expect(definitions.map(({ name }) => name)).toEqual(["alpha", "beta"]);
    expect(definitions.map((each) => agent(each).name)).toEqual(["alpha", "beta"]);
  });

  it("collects what is wrong in all files into one error [C40]", async () => {
    folder.file("bad/a.md", "---\nname: a\ntols: []\n---\n");
    folder.file("bad/b.md", "no front matter");
    folder.file("bad/c.json", '{ "name": "c" }');
    folder.file("bad/d.md", "---\nname: c\ntools: [nope]\n---\n");
    folder.file("bad/e.md", "---\nname: c\n---\n");
    expect(await problemsOf(loadAgents(folder.path("bad")))).toEqual([
      expect.stringContaining("bad/a.md:3: tols: unknown"),
      expect.stringContaining("bad/b.md:1: it does not begin with front matter"),
      expect.stringContaining('bad/d.md:3: tools[0]: there is no tool "nope"'),
      "bad/e.md: name: bad/c.json has the same name",
    ]);
  });

  it("says that a folder is not there", async () => {
    expect(await problemsOf(loadAgents(folder.path("nowhere")))).toEqual(["nowhere: it is not there"]);
  });
});

describe("isDefinitionFile", () => {
  it.each([
    ["agent.md", true],
    ["AGENT.JSON", true],
    ["agent.ts", false],
    ["agent.mjs", false],
    ["md", false],
  ])("of %s is %s", (path, is) => {
    expect(isDefinitionFile(path)).toBe(is);
  });
});
