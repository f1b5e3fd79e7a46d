import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { llmsText } from "../tools/llms-text.ts";
import { root } from "../tools/source-files.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe("what coding agents are given", () => {
  it("is a list of the pages, each with a sentence about it", () => {
    const told = [...llmsText().matchAll(/^- \[.+?\]\((\S+)\): (.+)$/gm)].map(([, path, about]) => ({
      path,
      about,
    }));
    expect(told.length).toBeGreaterThan(50);
    for (const { path = "", about = "" } of told) {
      expect(existsSync(join(root, path)), path).toBe(true);
      expect(about, path).toMatch(/^[A-Z`].{9,}[.?]$/);
    }
  });

  it("are pages that begin with an example that runs, but for those of which they are told otherwise", () => {
    const pages = [...llmsText().matchAll(/^- \[.+?\]\((docs\/[\w-]+\.md)\)/gm)].map(([, path = ""]) => path);
    const without = pages.filter((path) => !/^```(?:ts|console) run/m.test(read(path)));
    for (const path of without) expect(read("docs/coding-agents.md"), path).toContain(`\`${path}\``);
  });

  it("is a skill in the form that agents find, whose pages are there", () => {
    const text = read("skills/writ/SKILL.md");
    const [, name, about = ""] = /^---\nname: (\S+)\ndescription: (.+)\n---\n/.exec(text) ?? [];
    expect(name).toBe("writ");
    expect(about.length).toBeLessThan(1024);
    const paths = [...text.matchAll(/\]\((\.\.[^)#]+)/g)].map(([, path = ""]) => path);
    expect(paths.shift()).toBe("../../llms.txt"); // the build makes it, and the test of the package finds it
    for (const path of paths)
      expect(existsSync(join(root, dirname("skills/writ/SKILL.md"), path)), path).toBe(true);
  });
});
