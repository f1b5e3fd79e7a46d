import { describe, expect, it } from "vitest";
import { chromiumPath } from "./browser.ts";
import { goTo, inspecting, look, patience } from "./inspector-scene.ts";
import { clerkProgram } from "../unit/inspect/programs.ts";

describe.skipIf(chromiumPath === undefined)("writ inspect without a program, in Chromium", () => {
  const seen = inspecting({
    files: { "clerk.ts": clerkProgram },
    before: [["run", "clerk.ts", "--durable", "--id", "mail-1", "Answer mail m-1"]],
    command: ["inspect"],
  });

  it("tells from the records alone why each call was refused", async () => {
    const page = await seen.open({}, "#/run/mail-1?call=turn%2F1%2Fcall%2F2");
    const why = page.locator(".why");
    await expect.poll(() => why.innerText(), patience).toContain("Missing required parameters: id");
    expect(await why.innerText()).toContain("arguments that match the input schema");
    expect(await page.locator(".faults dt").allInnerTexts()).toEqual(["/id"]);
    expect(await page.locator(".notice").count()).toBe(0);
    await look(page, "alone-arguments");
    await goTo(page, "#/run/mail-1?call=turn%2F2%2Fcall%2F0");
    await expect.poll(() => why.innerText(), patience).toContain("allow-list");
    expect(await why.innerText()).toContain("'delete_all' is not allowed");
    await look(page, "alone-list");
  }, 120_000);

  it("gives a run and a call of it as a test to copy", async () => {
    const page = await seen.open({ permissions: ["clipboard-read", "clipboard-write"] }, "#/run/mail-1");
    await page.locator(".tabs [data-act=test]").click();
    const shown = page.locator("dialog textarea");
    expect(await shown.inputValue()).toContain("clerk decides as in the run mail-1");
    await look(page, "as-test");
    await page.click("dialog .primary");
    await page.waitForSelector("dialog [role=status]:has-text('Copied')", patience);
    const copied: unknown = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(await shown.inputValue());
    await page.keyboard.press("Escape");
    await goTo(page, "#/run/mail-1?call=turn%2F2%2Fcall%2F0");
    await page.locator(".drawer [data-act=test]").click();
    await expect.poll(() => shown.inputValue(), patience).toContain("delete_all deny allow-list");
  }, 120_000);

  it.each([
    ["light", 1440, 900],
    ["dark", 390, 844],
  ] as const)(
    "goes anywhere from its palette, by keys, in %s at a width of %i",
    async (colorScheme, width, height) => {
      const page = await seen.open({ colorScheme, viewport: { width, height } });
      await page.keyboard.press("/");
      await page.keyboard.press("Control+k"); // also while somebody writes
      await page.keyboard.type("mail-1");
      await page.waitForSelector(".palette [aria-selected=true]:has-text('Answer mail')", patience);
      await look(page, `palette-${colorScheme}-${width}`);
      await page.keyboard.press("Enter");
      await page.waitForSelector(".run-head:has-text('mail-1')", patience);
      await page.keyboard.press("Control+k");
      await page.keyboard.type("prompts");
      await page.keyboard.press("Enter");
      await page.waitForSelector("#tab-prompts[aria-selected=true]", patience);
      await page.keyboard.press("Control+k");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.type("no such thing");
      expect(await page.locator(".palette li").count()).toBe(0);
      await page.keyboard.press("Escape");
      await expect.poll(() => page.locator(".palette").count(), patience).toBe(0);
    },
    120_000,
  );
});
