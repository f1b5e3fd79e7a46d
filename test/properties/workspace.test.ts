import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callTool } from "../../src/doors.ts";
import { fs } from "../../src/index.ts";
import { fileTools } from "../../src/workspace.ts";

const marker = "outside-of-the-root";

/** A folder with links in it that lead everywhere, and a copy of nothing beside it. */
function world(links: readonly (readonly [name: string, to: string])[]): string {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "writ-property-")));
  for (const folder of ["root/a/b", "beside/a/b", "root.more"])
    mkdirSync(join(top, folder), { recursive: true });
  for (const folder of ["beside", "beside/a", "beside/a/b", "root.more"])
    writeFileSync(join(top, folder, "f"), marker);
  for (const folder of ["root", "root/a", "root/a/b"]) writeFileSync(join(top, folder, "f"), "inside");
  for (const [name, to] of links) {
    try {
      symlinkSync(to.replace("TOP", top), join(top, "root", name));
    } catch {
      // Two links of one name, or one in the way of another.
    }
  }
  return top;
}

/** All that stands outside of the root, as lines; no link is followed. */
function around(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== "root");
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...around(path)] : [`${path}: ${readFileSync(path, "utf8")}`];
  });
}

const part = fc.constantFrom(
  "..",
  ".",
  "",
  "a",
  "a",
  "b",
  "f",
  "f",
  "l1",
  "l2",
  "beside",
  "root.more",
  "new",
);
const path = fc
  .tuple(fc.constantFrom("", "", "", "a/", "/", "TOP/", "TOP/root/"), fc.array(part, { maxLength: 5 }))
  .map(([start, parts]) => start + parts.join("/"));
const link = fc.tuple(
  fc.constantFrom("l1", "l2", "a/l1", "a/l2"),
  path.filter((to) => to !== ""),
);
const call = fc.oneof(
  fc.record({ name: fc.constant("read_file"), path }),
  fc.record({ name: fc.constant("list_files"), path }),
  fc.record({
    name: fc.constant("find_files"),
    path,
    glob: fc.constantFrom("*", "**", "../**", "/**", "../*"),
  }),
  fc.record({ name: fc.constant("search_files"), path, text: fc.constant("outside") }),
  fc.record({
    name: fc.constant("write_file"),
    path,
    content: fc.constant("written"),
    replace: fc.boolean(),
  }),
  fc.record({ name: fc.constant("edit_file"), path, old: fc.constant("outside"), new: fc.constant("x") }),
);

describe("file tools [C38]", () => {
  it("read and write nothing outside of their folder, whatever paths and links there are", async () => {
    let inside = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(link, { maxLength: 4 }),
        fc.array(call, { maxLength: 12 }),
        async (links, calls) => {
          const top = world(links);
          try {
            const root = join(top, "root");
            const tools = fileTools({ root, write: true });
            const before = around(top);
            for (const { name, ...args } of calls) {
              const tool = tools.find((each) => each.name === name);
              if (tool === undefined) throw new Error(name);
              const written = { ...args, path: args.path.replaceAll("TOP", top) };
              const { status, text } = await callTool(tool, written, {
                grants: [fs.read(root), fs.write(root)],
              });
              expect(["ok", "error", "denied", "invalid"]).toContain(status);
              if (status === "ok") {
                inside += 1;
                // The words of the model's own path are told again; what stands outside is not.
                expect(text).not.toContain(marker);
              }
            }
            expect(around(top)).toEqual(before);
          } finally {
            rmSync(top, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: 200, endOnFailure: true },
    );
    expect(inside).toBeGreaterThan(40); // not all of them were refused
  });
});
