import { describe, expect, it } from "vitest";
import { chromiumPath } from "./browser.ts";
import { inspecting, patience } from "./inspector-scene.ts";
import { editorProgram } from "../unit/inspect/programs.ts";

describe.skipIf(chromiumPath === undefined)(
  "somebody who must know at night what a run did, in Chromium",
  () => {
    const seen = inspecting({
      files: { "editor.ts": editorProgram },
      before: [["run", "editor.ts", "--durable", "--id", "edit", "Write it"]],
      command: ["inspect", "editor.ts", "--by", "kim"],
    });

    it("answers the question of an agent inside in the list of all questions", async () => {
      const page = await seen.open({}, "#/queue");
      const card = page.locator('.card:has-text("send_mail")');
      await card.waitFor(patience);
      expect(await card.innerText()).not.toContain("can only look");
      await card.locator("[data-act=refuse]").click();
      await expect.poll(() => card.count(), patience).toBe(0);
    });
  },
);
