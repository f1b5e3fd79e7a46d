import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { clerk } from "../unit/inspect/scene.ts";
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
  });

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
  });

  it("asks for the address with the token only where the token is missing, and else says what the server says", async () => {
    const notice = (page: Page): Promise<string> => page.locator(".notice.trouble").innerText(patience);
    const page = await seen.open({}, "#/run/no-such-run");
    expect(await notice(page)).toContain("no-such-run");
    expect(await notice(page)).not.toContain("token");
    const stranger = await (await seen.browser.newContext()).newPage();
    await stranger.goto(new URL("/", page.url()).href);
    expect(await notice(stranger)).toContain("needs the address that `writ inspect` printed, with its token");
  });

  it("says that nobody answers while its stream is cut, reads the runs anew after it, and drops one that was erased", async () => {
    const page = await seen.open();
    const token = await page.evaluate<string>("sessionStorage.getItem('writ-token')");
    const cut = await (await seen.browser.newContext()).newPage();
    let isCut = true;
    await cut.route("**/api/changes", (route) => (isCut ? route.abort() : route.continue()));
    await cut.goto(new URL(`/#token=${token}`, page.url()).href);
    expect(await cut.locator(".notice.trouble").innerText(patience)).toContain("does not answer");

    using store = sqliteRuns(join(seen.project.folder, "runs.db"));
    await durableRuns({ store }).start(clerk(), "Answer mail m-1", { id: "missed" });
    await page.waitForSelector('.run-row:has-text("missed")', patience);
    isCut = false;
    await cut.waitForSelector('.run-row:has-text("missed")', patience);
    expect(await cut.locator(".notice.trouble").count()).toBe(0);

    await store.erase({ id: "missed" });
    for (const each of [page, cut])
      await expect.poll(() => each.locator(".run-row").count(), patience).toBe(1);
  });

  it.each([
    ["light", 1440, 900],
    ["dark", 390, 844],
  ] as const)(
    "goes anywhere from its palette, by keys, in %s at a width of %i",
    async (colorScheme, width, height) => {
      const page = await seen.open({ colorScheme, viewport: { width, height } });
      await page.keyboard.press("/");
      await page.keyboard.press("Control+k"); // also while somebody writes
      await page.waitForSelector(".palette li:has-text('Approvals')", patience);
      expect(await page.locator(".palette li:has-text('Replay the run')").count()).toBe(0);
      await page.keyboard.type("mail-1");
      await page.waitForSelector(".palette [aria-selected=true]:has-text('Answer mail')", patience);
      await look(page, `palette-${colorScheme}-${width}`);
      await page.keyboard.press("Enter");
      await page.waitForSelector(".run-head:has-text('mail-1')", patience);
      await page.keyboard.press("Control+k");
      await page.waitForSelector(".palette li:has-text('Replay the run')", patience);
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
  );

  it("takes the keys of a fast writer: none goes to the page before its palette is drawn, or after it is closed", async () => {
    const page = await seen.open();
    const seenAfterEach = await page.evaluate(async () => {
      /* oxlint-disable typescript/no-explicit-any -- code of the browser, whose types are not here */
      const { document, KeyboardEvent } = globalThis as any;
      /* oxlint-enable typescript/no-explicit-any */
      const where: string[] = [];
      for (const [key, ctrlKey] of [
        ["k", true],
        ["Enter", false],
        ["k", true],
      ] as const) {
        const event = new KeyboardEvent("keydown", { key, ctrlKey, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(event);
        for (let ticks = 0; ticks < 20; ticks++) await Promise.resolve();
        where.push(document.activeElement.role ?? "page");
      }
      return where;
    });
    expect(seenAfterEach).toEqual(["combobox", "page", "combobox"]);
    await page.keyboard.type("playground");
    await expect
      .poll(() => page.locator(".palette [aria-selected=true]").innerText(), patience)
      .toContain("Play");
  });

  it.each([
    ["a screen of 1440", 720, 450],
    ["a telephone of 390", 195, 422],
  ] as const)(
    "has all that is needed in sight at 200 % on %s, and nothing beside the page",
    async (name, width, height) => {
      const places = {
        list: ["", "#filter", ".run-row"],
        run: ["#/run/mail-1", ".run-head h1", "[role=tab]", "[data-act=replay]", ".row"],
        call: [
          "#/run/mail-1?call=turn%2F1%2Fcall%2F2",
          ".why .verdict",
          ".faults dd",
          ".drawer [aria-label=Close]",
        ],
        prompts: ["#/run/mail-1?part=prompts", ".prompt pre"],
      };
      for (const [part, [place, ...wanted]] of Object.entries(places)) {
        const page = await seen.open({ viewport: { width, height }, deviceScaleFactor: 2 }, place);
        for (const selector of wanted) {
          const found = page.locator(selector).first();
          await found.waitFor(patience);
          await found.scrollIntoViewIfNeeded(patience);
          const box = await found.boundingBox();
          const told = `${name}, ${part}: ${selector} at ${JSON.stringify(box)}`;
          expect(box !== null && box.width > 0 && box.x >= 0 && box.x + box.width <= width, told).toBe(true);
          const isOnTop = await found.evaluate((element) => {
            const { left, top, width: wide, height: high } = element.getBoundingClientRect();
            const there = element.ownerDocument.elementFromPoint(
              left + wide / 2,
              top + Math.min(high / 2, 8),
            );
            return there !== null && element.contains(there);
          });
          expect(isOnTop, told).toBe(true);
        }
        const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        expect(isWider, `${name}, ${part}`).toBe(false);
        await look(page, `zoomed-${width}-${part}`);
        await page.context().close();
      }
    },
  );
});
