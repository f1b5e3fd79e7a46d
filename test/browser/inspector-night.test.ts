import { describe, expect, it } from "vitest";
import { chromiumPath } from "./browser.ts";
import { goTo, inspecting, look, patience } from "./inspector-scene.ts";
import { brokenProgram, editorProgram, manyCalls, wordyProgram } from "../unit/inspect/programs.ts";

describe.skipIf(chromiumPath === undefined)(
  "somebody who must know at night what a run did, in Chromium",
  () => {
    const run = (file: string, id: string, words: string): readonly string[] => [
      "run",
      file,
      "--durable",
      "--id",
      id,
      words,
    ];
    const seen = inspecting({
      files: {
        "editor.ts": editorProgram,
        "broken.ts": brokenProgram,
        "wordy.ts": wordyProgram,
        "many.ts": manyCalls.replace("turn === 50", "turn === 3"),
      },
      before: [
        run("editor.ts", "edit", "Write it"),
        run("editor.ts", "open", "Write it"),
        run("broken.ts", "broke", "Look"),
        run("wordy.ts", "long-1", "Be here"),
        run("wordy.ts", "long-2", "Be left"),
        run("many.ts", "many", "Look at all"),
      ],
      command: ["inspect", "editor.ts", "--by", "kim"],
    });

    it("answers the question of an agent inside in the list of all questions, and reads who answered, and when", async () => {
      const page = await seen.open({}, "#/queue");
      const card = page.locator('.card:has-text("Open edit")');
      await card.waitFor(patience);
      expect(await card.innerText()).not.toContain("can only look");
      await card.locator("[data-act=refuse]").click();
      await expect.poll(() => card.count(), patience).toBe(0);
      await goTo(page, "#/run/edit");
      await page.locator('.row:has-text("send_mail")').click();
      await expect
        .poll(() => page.locator(".drawer").innerText(), patience)
        .toMatch(/kim said no\.? .*\d+:\d\d:\d\d.* UTC/);
    });

    it("reads at once why a run failed, and of which call the model made up the name", async () => {
      const page = await seen.open({}, "#/run/broke");
      await expect
        .poll(() => page.locator(".run-main").innerText(), patience)
        .toContain("the provider has no more of it");
      await look(page, "broke");
      await goTo(page, "#/run/broke?call=turn%2F1%2Fcall%2F1");
      const drawer = page.locator(".drawer");
      await expect.poll(() => drawer.innerText(), patience).toContain("no tool of the name");
      expect(await drawer.innerText()).not.toContain("no JSON");
    });

    it("sees each argument of a call, however long the one before it is, and no place that is only guessed", async () => {
      const page = await seen.open({}, "#/run/long-1?call=turn%2F2%2Fcall%2F0");
      const shown = page.locator(".drawer pre").first();
      await expect.poll(() => shown.innerText(), patience).toContain('"to": "eve@example.net"');
      expect(await shown.innerText()).toContain("28004 more characters");
      expect(await page.locator('.drawer tr:has-text("eve@")').innerText()).not.toContain("nowhere before");
      expect(await page.locator('.drawer tr:has-text("bbbb")').innerText()).not.toContain("nowhere before");
      await goTo(page, "#/run/long-1?part=prompts");
      await expect
        .poll(() => page.locator(".prompt .tools").last().innerText(), patience)
        .toMatch(/more than \d+,\d+ characters/);
      await goTo(page, "#/compare/long-1/long-2"); // they differ behind the characters that the page has
      await expect.poll(() => page.locator(".compared").innerText(), patience).toMatch(/\barguments\b/);
    });

    it("prints the whole of what is open: prompts, a call, and all rows", async () => {
      const page = await seen.open({ viewport: { width: 1000, height: 400 } }, "#/run/long-1?part=prompts");
      await page.locator(".messages").waitFor(patience);
      const hidden = (): Promise<unknown> =>
        page.evaluate(`[...document.querySelectorAll(".app, .app *")].filter((each) =>
        each.clientHeight > 0 && each.scrollHeight > each.clientHeight + 1 && getComputedStyle(each).overflowY !== "visible"
      ).map((each) => each.className || each.localName)`);
      expect(await hidden()).not.toEqual([]);
      await page.emulateMedia({ media: "print" });
      expect(await hidden()).toEqual([]);
      expect(await page.locator(".runs").isVisible()).toBe(false);
      await goTo(page, "#/run/edit?call=turn%2F1%2Fcall%2F0");
      await page.locator(".drawer").waitFor(patience);
      expect(await hidden()).toEqual([]);
      await page.emulateMedia({ media: null });
      await goTo(page, "#/run/many");
      await page.locator('[aria-rowcount="304"]').waitFor(patience);
      expect(await page.locator(".row").count()).toBeLessThan(100);
      const counts = (await page.pdf()).toString("latin1").matchAll(/\/Count (\d+)/g); // of pages, in the nodes of a tree
      expect(Math.max(...[...counts].map(([, count]) => Number(count)))).toBeGreaterThan(8);
    });

    it("breaks no word of a table in the middle, and cuts no time at the edge", async () => {
      const page = await seen.open({}, "#/run/long-1?call=turn%2F2%2Fcall%2F0");
      const narrow = page.locator('.drawer td:has-text("too long to look for")');
      await narrow.waitFor(patience);
      expect((await narrow.boundingBox())?.width).toBeGreaterThan(60);
      const button = await page.locator(".drawer > .act").boundingBox();
      const part = await page.locator(".drawer .part h3").first().boundingBox();
      expect(button?.x).toBe(part?.x);
      await page.setViewportSize({ width: 400, height: 800 });
      await goTo(page, "#/run/open");
      const fold = await page.locator(".fold").first().boundingBox();
      const track = await page.locator(".axis .track").boundingBox();
      expect((fold?.x ?? 0) + (fold?.width ?? 0)).toBeLessThanOrEqual((track?.x ?? 0) + (track?.width ?? 0));
      await look(page, "narrow-fold");
    });
  },
);
