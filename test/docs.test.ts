import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hookFields } from "../src/hook/hook.ts";
import { limitsOf } from "../src/policy/account/budget.ts";
import { tasks } from "../site/home.ts";
import { maintainers, sections } from "../site/sections.ts";
import { filesUnder, root } from "../tools/source-files.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const withoutComments = (text: string): string => text.replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
const fieldsIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map((match) => match[1] ?? "");

/** The rows of the tables under a heading, cell by cell, without the marks of code. */
function rowsOf(page: string, heading: string): string[][] {
  const [, section = ""] = read(page).split(`\n## ${heading}\n`);
  const [own = ""] = section.split("\n## ");
  return own
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .map((cell) => cell.replaceAll("`", "").trim())
        .slice(1, -1),
    );
}

/** The members of a union of objects in event.ts: the type of each, with its other fields, those that it shares with others first. */
function membersOf(union: string): [string, string][] {
  const source = withoutComments(read("src/event/event.ts")).replaceAll(/\n\s*\n/g, "\n");
  const shared = (name: string): string[] => {
    const [, base, body = ""] =
      new RegExp(`interface ${name}(?: extends (\\w+))? \\{([^}]*)\\}`).exec(source) ?? [];
    return [...(base === undefined ? [] : shared(base)), ...namesIn(body)];
  };
  const [, body = ""] =
    new RegExp(`export type ${union} =([\\s\\S]*?);\n(?=interface|export)`).exec(source) ?? [];
  return body.split(/\n {2}\| /).flatMap((member): [string, string][] => {
    const type = /type: "([^"]+)"/.exec(member)?.[1];
    if (type === undefined) return [];
    const bases = [...member.matchAll(/& (\w+)/g)].map((match) => match[1] ?? "");
    const own = namesIn(member).filter((name) => name !== "type");
    const last = bases.filter((name) => name === "Merged").flatMap(shared);
    return [
      [type, [...bases.filter((name) => name !== "Merged").flatMap(shared), ...own, ...last].join(", ")],
    ];
  });
}

function namesIn(fields: string): string[] {
  return [...fields.matchAll(/readonly (\w+\??):/g)].map((match) => match[1] ?? "");
}

/** The fields of an interface. */
function interfaceFields(path: string, name: string): string[] {
  const [, body = ""] =
    new RegExp(`export interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(
      withoutComments(read(path)),
    ) ?? [];
  return fieldsIn(body);
}

/** The names in the first cells of a table: several in one cell count as several. */
function namesOf(rows: readonly string[][]): string[] {
  return rows.flatMap(([cell = ""]) => cell.split(", "));
}

describe("the pages", () => {
  it.each([
    ["Facts", "Fact"],
    ["Live events", "LiveEvent"],
  ])("tell of all %s with all their fields", (heading, union) => {
    const members = membersOf(union);
    expect(members.length).toBeGreaterThan(6);
    expect(rowsOf("docs/events.md", heading).map(([type, fields]) => [type, fields])).toEqual(members);
  });

  it("name each entry of the package once among those from which names are imported", () => {
    const entries = Object.keys(JSON.parse(read("package.json")).exports).map((entry) =>
      entry.replace(".", "writ"),
    );
    const told = [...read("docs/concepts.md").matchAll(/^\| (.*`writ.*?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(writ(?:\/[^`]*)?)`/g)].map(([, name]) => name),
    );
    expect(new Set(told)).toEqual(new Set(entries.filter((entry) => entry !== "writ/package.json")));
    expect(told).toHaveLength(entries.length - 1);
  });

  it("tell what a hook may replace in each place", () => {
    const told = rowsOf("docs/hooks.md", "Places").map(([place = "", , fields = ""]) => [place, fields]);
    expect(told).toEqual(Object.entries(hookFields).map(([place, fields]) => [place, fields.join(", ")]));
  });

  it("tell each bound of a budget with its default", () => {
    const told = rowsOf("docs/budgets.md", "Bounds").map(([field, shown = ""]) => [
      field,
      shown === "none" ? Infinity : Number(shown.replace(",", "")),
    ]);
    expect(Object.fromEntries(told)).toEqual(limitsOf({}, "page"));
  });

  it.each([
    ["docs/agents.md", "Fields of an agent", "src/agent/definition.ts", "AgentDefinition"],
    ["docs/tools.md", "Fields of a tool", "src/tool/tool.ts", "ToolDefinition"],
  ])("%s tells all fields under %s", (page, heading, ...declared) => {
    const fields = interfaceFields(...declared);
    expect(fields.length).toBeGreaterThan(8);
    expect(namesOf(rowsOf(page, heading)).toSorted()).toEqual(fields.toSorted());
  });

  it.each([
    ["docs/models.md", "src/model/model.ts", "ModelSettings"],
    ["docs/models.md", "src/adapters/model/ollama-request.ts", "OllamaOptions"],
    ["docs/models.md", "src/adapters/model/llama-cpp.ts", "LlamaCppOptions"],
    ["docs/models.md", "src/adapters/model/openai-compatible-source.ts", "OpenaiCompatibleOptions"],
    ["docs/doors.md", "src/turn/safe-loop.ts", "SafeLoopOptions"],
    ["docs/eval-agent.md", "src/eval/agent/evaluate.ts", "EvalOptions"],
    ["docs/hosted-models.md", "src/adapters/model/ai-sdk.ts", "AiSdkOptions"],
    ["docs/isolation.md", "src/adapters/isolate/isolated-tool.ts", "IsolatedToolDefinition"],
    ["docs/mcp.md", "src/adapters/mcp/wanted.ts", "McpSignIn"],
    ["docs/mcp.md", "src/adapters/mcp/take.ts", "McpTaking"],
    ["docs/mcp-server.md", "src/server/mcp/options.ts", "McpOffer"],
    ["docs/serve.md", "src/server/serve.ts", "ServeOptions"],
    ["docs/serve.md", "src/server/limits.ts", "ServerLimits"],
    ["docs/sessions.md", "src/session/compaction.ts", "CompactionOptions"],
    ["docs/simulate.md", "src/eval/simulate/options.ts", "SimulationOptions"],
    ["docs/workspace.md", "src/adapters/workspace/shell-tool.ts", "ShellToolOptions"],
  ])("%s names each option of %s, %s", (page, ...declared) => {
    const fields = interfaceFields(...declared);
    expect(fields.length).toBeGreaterThan(2);
    const code = [...read(page).matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].join("\n");
    for (const field of fields) expect(code, field).toMatch(new RegExp(`\\b${field}\\b`));
  });

  it("tell all options of a run", () => {
    const [, section = ""] = read("docs/agents.md").split("\n## Options of a run\n");
    for (const field of interfaceFields("src/agent/run-options.ts", "RunOptions"))
      expect(section, field).toContain(`\`${field}\``);
  });
});

describe("the pages for those who come from another system", () => {
  const pages = ["docs/from", "docs/coming-from"].flatMap((folder) =>
    filesUnder(folder, ".md").map(({ path, text }) => [path, text] as const),
  );

  it.each(pages)("%s: each line's code stands in the program below it", (path, text) => {
    const [tables = "", ...programs] = text.split(/^```ts run\n([\s\S]*?)^```$/m);
    const rows = [...tables.matchAll(/^\| (.+) \|$/gm)].map(([, row = ""]) => row.split(" | ")).slice(1);
    expect(rows.length).toBeGreaterThan(10);
    for (const [there = "", here = ""] of rows) {
      if (here === "not there") continue;
      const codes = [...here.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
      expect(codes, there).not.toEqual([]);
      for (const code of codes) expect(programs.join(""), `${path}: ${there}`).toContain(code);
    }
    expect(text.split("\n").length).toBeLessThanOrEqual(120);
  });

  it("are told of in the README", () => {
    const readme = read("README.md");
    expect(pages.length).toBe(9);
    for (const [path] of pages) expect(readme).toContain(`\`${path}\``);
  });
});

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The anchors of a source file, as GitHub makes them of its lines. */
function linesOf(text: string): string[] {
  return text.split("\n").map((_line, index) => `L${index + 1}`);
}

describe("the site", () => {
  const listed = [...sections, ...maintainers].flatMap(({ pages }) => pages);

  it("has each page in one part of its list", () => {
    const own = filesUnder("docs", ".md")
      .map(({ path }) => path.replace("docs/", "").replace(/\.md$/, ""))
      .filter((page) => !page.startsWith("decisions/"));
    expect(listed.toSorted()).toEqual(own.toSorted());
  });

  it.each(tasks)("leads those who want to $want to a page", ({ page }) => {
    expect(listed).toContain(page.split("#")[0]);
  });
});

describe("links", () => {
  const pages = [
    ...filesUnder("docs", ".md"),
    ...filesUnder("lab", ".md"),
    ...filesUnder(".", "README.md").filter(({ path }) => path === "README.md"),
  ];

  it.each(pages.map(({ path, text }) => [path, text] as const))("of %s lead somewhere", (path, text) => {
    const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
    for (const [, target = "", anchor] of prose.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const file = target === "" ? path : join(path, "..", target);
      expect(existsSync(join(root, file)), `${path}: ${target}`).toBe(true);
      if (anchor === undefined) continue;
      const anchors = file.endsWith(".md") ? anchorsOf(read(file)) : linesOf(read(file));
      expect(anchors, `${path}: ${target}#${anchor}`).toContain(anchor);
    }
  });

  it("lead from the concepts to every page that is in the package", () => {
    const index = read("docs/concepts.md");
    const { files } = JSON.parse(read("package.json")) as { readonly files: readonly string[] };
    const own = pages.map(({ path }) => path).filter((path) => /^docs\/[^/]+\.md$/.test(path));
    for (const path of own.filter((one) => one !== "docs/concepts.md" && !files.includes(`!${one}`)))
      expect(index, path).toContain(`(${path.replace("docs/", "")})`);
  });
});
