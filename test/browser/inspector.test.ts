import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { clerk } from "../unit/inspect/scene.ts";
import { chromiumPath } from "./browser.ts";
import { goTo, inspecting, look, patience } from "./inspector-scene.ts";
import { bossProgram, clerkProgram, manyCalls } from "../unit/inspect/programs.ts";

describe.skipIf(chromiumPath === undefined)("writ inspect, in Chromium", () => {
  const seen = inspecting({
    files: { "clerk.ts": clerkProgram, "many.ts": manyCalls, "boss.ts": bossProgram },
    before: [
      ["run", "clerk.ts", "--durable", "--id", "mail-1", "Answer mail m-1"],
      ["run", "clerk.ts", "--durable", "--id", "mail-2", "Answer mail m-1"],
      ["run", "many.ts", "--durable", "--id", "many", "Look at all"],
      ["run", "boss.ts", "--durable", "--id", "boss-1", "Have it read"],
    ],
    command: ["inspect", "clerk.ts", "--work", "--by", "kim"],
  });
  const open: typeof seen.open = (...given) => seen.open(...given);

  it("shows why a call was refused, has a person approve the one that waits, forks the run, and compares both: by keyboard alone", async () => {
    const page = await open();
    const openLast = async (): Promise<string> => {
      await page.keyboard.press("End"); // until the list is there
      return (await page.locator(".run-head .id").allInnerTexts()).join();
    };
    await expect.poll(openLast, patience).toBe("mail-1");
    await page.keyboard.press("Enter");
    for (let row = 0; row < 5; row += 1) await page.keyboard.press("j");
    const why = page.locator(".why");
    await expect.poll(() => why.innerText(), patience).toContain("is not allowed");
    expect(await why.innerText()).toContain("allow-list");
    await look(page, "refused");

    await page.keyboard.press("j");
    await expect.poll(() => why.innerText(), patience).toContain("after data of strangers");
    expect(await page.locator(".drawer").innerText()).toContain("turn 1, read_mail");
    await look(page, "waiting");
    await page.keyboard.press("a");
    await page.keyboard.press("Enter");
    await page.waitForSelector('.state:has-text("answered")', patience);
    await expect.poll(() => page.locator(".drawer").innerText(), patience).toContain("kim said yes");
    expect(await page.locator(":focus").getAttribute("aria-label")).toBe("The call send_mail");
    expect(await page.getByRole("status").allInnerTexts()).toContainEqual(
      expect.stringContaining("answered"),
    );

    await page.keyboard.press("f");
    await page.waitForSelector("form.fork");
    await look(page, "fork");
    await page.keyboard.press("Tab");
    await page.locator('form.fork [type="submit"]').focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector('.run-head:has-text("fork of mail-1")', patience);

    await page.keyboard.press("c");
    await page.keyboard.press("End"); // the fork is the latest, and stands first
    await expect.poll(() => page.locator(".run-head .id").innerText(), patience).toMatch(/^mail-/);
    await page.keyboard.press("c");
    await page.waitForSelector(".compared", patience);
    expect(await page.locator(".compared").innerText()).toContain("send_mail");
    await look(page, "compare");
    await page.keyboard.press("?");
    await look(page, "keys");
  }, 240_000);

  it("replays a run by a key, says that all is as recorded, and that it can not where the program is not given", async () => {
    const page = await open({}, "#/run/mail-1");
    await page.waitForSelector(".run-head");
    await page.keyboard.press("r");
    const told = page.locator(".replayed");
    await expect.poll(() => told.innerText(), patience).toContain("✓ As recorded.");
    expect(await told.innerText()).toContain("of 5 calls");
    await look(page, "replay");
    await goTo(page, "#/run/many");
    await page.waitForSelector('.run-head:has-text("many")', patience);
    await page.locator("[data-act=replay]").click();
    await page.waitForSelector('.notice:has-text("has no program of “many”")', patience);
  });

  it("closes and opens a run inside a call by keys and by mouse, and tells both to who listens", async () => {
    const page = await open({}, "#/run/boss-1");
    const count = (): Promise<string | null> => page.locator(".rows").getAttribute("aria-rowcount");
    const inside = page.locator('.row-run:has-text("clerk")');
    await inside.waitFor(patience);
    const all = Number(await count());
    expect(await inside.getAttribute("aria-level")).toBe("3");
    await page.locator('.row:has-text("wipe")').click();
    await expect.poll(() => page.locator(".why").innerText(), patience).toContain("allow-list");
    await look(page, "inside");
    await page.keyboard.press("ArrowLeft"); // its turn
    await page.keyboard.press("ArrowLeft"); // which closes
    await page.keyboard.press("ArrowLeft"); // the run around it
    await expect.poll(() => page.locator(".drawer").innerText(), patience).toContain("A run inside");
    expect(await page.locator(".rows").getAttribute("aria-activedescendant")).toBe(
      await inside.getAttribute("id"),
    );
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => inside.getAttribute("aria-expanded"), patience).toBe("false");
    expect(Number(await count())).toBe(all - 4);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => inside.getAttribute("aria-expanded"), patience).toBe("true");
    await inside.getByRole("button", { name: "Close clerk" }).click();
    await expect.poll(() => inside.getAttribute("aria-expanded"), patience).toBe("false");
    await page.getByRole("tab", { name: "Prompts" }).click();
    await page.locator(".prompt select").first().selectOption({ index: 1 });
    const first = page.locator(".message-user");
    await expect.poll(() => first.innerText(), patience).toContain("Read it");
    await look(page, "prompt-inside");
  });

  it("takes a person's arguments in the place of the model's, and says so", async () => {
    const page = await open({}, "#/queue");
    await page.waitForSelector('.card:has-text("mail-2")', patience);
    await look(page, "approvals");
    const card = page.locator('.card:has-text("mail-2")');
    expect(await page.getByRole("button", { name: /^Approvals \d+$/ }).count()).toBe(1);
    expect(await card.getByRole("button", { name: "Approve for this run" }).count()).toBe(1);
    await card.locator("textarea").fill("{ no JSON");
    expect(await card.locator("[data-act=approve]").isDisabled()).toBe(true);
    await card.locator("textarea").fill('{"to":[],"text":"Order 17 costs 30."}');
    await card.locator("[data-act=approve]").click();
    await expect
      .poll(() => card.locator(".trouble").innerText(), patience)
      .toContain("do not match its input schema: to: must be a string, got a list");
    await card.locator("textarea").fill('{"to":"kim@example.com","text":"Order 17 costs 30."}');
    await card.locator("[data-act=approve]").click();
    await expect.poll(() => card.count(), patience).toBe(0);
    expect(await page.locator(":focus").innerText()).toBe("Approvals"); // and not at the top of the page
    await goTo(page, "#/run/mail-2?call=turn%2F2%2Fcall%2F1");
    await expect
      .poll(() => page.locator(".drawer").innerText(), patience)
      .toContain("A person changed the arguments");
    expect(await page.locator(".drawer").innerText()).toContain("kim@example.com");
  });

  it("has another policy judge the calls of a run, and names those of which it would say otherwise", async () => {
    const page = await open({}, "#/run/mail-1?part=policy");
    await page
      .locator("form.policy-form textarea")
      .fill('{ "name": "mine", "rules": [{ "verdict": "deny", "tools": ["read_mail"] }] }');
    await page.click("text=Try it on this run");
    await page.waitForSelector(".tried .differs", patience);
    await look(page, "policy");
    await page.locator("form.policy-form textarea").fill('{ "name": "mine", "rules": 7 }');
    await page.click("text=Try it on this run");
    await page.waitForSelector(".policy-form .trouble", patience);
  });

  it("shows a run that another process begins, as soon as it is there, and finds it by words of its results", async () => {
    const page = await open();
    const store = sqliteRuns(join(seen.project.folder, "runs.db"));
    await durableRuns({ store }).start(clerk(), "Look at parcel 4711", { id: "parcel" });
    store.close();
    await page.waitForSelector('.run-row:has-text("parcel 4711")', patience);
    await page.keyboard.press("/");
    await page.keyboard.type("euro:");
    expect(await page.locator("#filter-help").innerText()).toContain("There is no field “euro”");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("what does it cost");
    await expect.poll(() => page.locator(".run-row").count(), patience).toBeGreaterThan(1);
    await page.keyboard.press("Control+A");
    await page.keyboard.type("no such words");
    await page.waitForSelector(".runs > .empty", patience);
  });

  it("exports a run as one file, which shows it without any server", async () => {
    const page = await open({ acceptDownloads: true }, "#/run/mail-1");
    await page.waitForSelector(".run-head");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Export")]);
    const file = join(seen.project.folder, "mail-1.html");
    await download.saveAs(file);
    const other = await (await seen.browser.newContext({ offline: true })).newPage();
    const faults: string[] = [];
    other.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
    await other.goto(`file://${file}`);
    await other.waitForSelector(".row:has-text('delete_all')", patience);
    await other.click(".row:has-text('delete_all')");
    expect(await other.locator(".why").innerText()).toContain("allow-list");
    expect(faults).toEqual([]);
    await look(other, "exported");
  });

  it("holds the rows in sight alone of a run of 5 000 calls, and goes to its last call by a key", async () => {
    const page = await open({}, "#/run/many");
    await page.waitForSelector('[aria-rowcount="5051"]', patience);
    expect(await page.locator(".row").count()).toBeLessThan(80);
    await page.keyboard.press("Enter");
    await page.keyboard.press("End");
    await expect.poll(() => page.locator(".drawer").innerText(), patience).toContain("Turn 51");
    await look(page, "many");
  });

  it.each([
    ["light", 1440, 900],
    ["dark", 1440, 900],
    ["light", 390, 844],
    ["dark", 390, 844],
  ] as const)("is readable in %s at a width of %i", async (colorScheme, width, height) => {
    const options = { colorScheme, viewport: { width, height } } as const;
    const name = `${colorScheme}-${width}`;
    const places = {
      list: "",
      run: "#/run/mail-1",
      call: "#/run/mail-1?call=turn%2F2%2Fcall%2F1",
      prompts: "#/run/mail-1?part=prompts",
      policy: "#/run/mail-1?part=policy",
      inside: "#/run/boss-1",
    };
    for (const [part, place] of Object.entries(places)) {
      const page = await open(options, place);
      if (part !== "list") await page.waitForSelector(part === "call" ? ".drawer" : ".run-head", patience);
      const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect(isWider, `${name} ${part}`).toBe(false);
      await look(page, `${name}-${part}`);
      await page.context().close();
    }
  });
});
