import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agent } from "../../src/index.ts";
import { skillLibrary } from "../../src/files.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const root = mkdtempSync(join(tmpdir(), "writ-beside-"));
mkdirSync(join(root, "look"));
writeFileSync(
  join(root, "look", "SKILL.md"),
  '---\nname: look\ndescription: Only looks\nmetadata:\n  writ-restrict-tools: "read"\n---\n\nLook.\n',
);
const library = await skillLibrary(root);
const load = { name: "load_skill", arguments: { skill_name: "look" } };

describe("a skill that restricts", () => {
  it.each(["write", "read"] as const)(
    "holds the calls behind it in the same reply: an effect that is a %s",
    async (effect) => {
      const [read, erase] = [fakeTool("read", "seen"), fakeTool("erase", "erased", { effect })];
      const reply = { calls: [load, { name: "erase", arguments: {} }, { name: "read", arguments: {} }] };
      const model = scripted([reply, { calls: [{ name: "erase", arguments: {} }] }, "Done."]);
      const a = agent({ name: "a", model, tools: [read, erase, library.tools] });
      const { calls } = await a.run("Look");
      expect(calls.map(({ name, status }) => `${name} ${status}`)).toEqual([
        "load_skill ok",
        "erase denied",
        "read ok",
        "erase denied",
      ]);
      expect([read.calls.length, erase.calls.length]).toEqual([1, 0]);
    },
  );

  it("holds none that stand before it, nor any behind a skill that is not loaded", async () => {
    const erase = fakeTool("erase", "erased");
    const wrong = { name: "load_skill", arguments: { skill_name: "other" } };
    const call = { name: "erase", arguments: {} };
    const model = scripted([{ calls: [call, wrong, call, load] }, "Done."]);
    const a = agent({ name: "a", model, tools: [fakeTool("read", "seen"), erase, library.tools] });
    const { calls } = await a.run("Look");
    expect(calls.map(({ status }) => status)).toEqual(["ok", "invalid", "ok", "ok"]);
  });
});
