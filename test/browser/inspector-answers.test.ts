import { describe, expect, it } from "vitest";
import { chromiumPath } from "./browser.ts";
import { goTo, inspecting, patience } from "./inspector-scene.ts";
import { clerkProgram } from "../unit/inspect/programs.ts";

describe.skipIf(chromiumPath === undefined)("answers on the page of writ inspect, in Chromium", () => {
  const run = (id: string): readonly string[] => [
    "run",
    "clerk.ts",
    "--durable",
    "--id",
    id,
    "Answer mail m-1",
  ];
  const seen = inspecting({
    files: { "clerk.ts": clerkProgram },
    before: [run("mail-1"), run("mail-2"), run("mail-3")],
    command: ["inspect", "clerk.ts", "--by", "kim"],
  });

  it("says to whom answers second that the answer did not count, after the question has gone", async () => {
    const [first, second] = [await seen.open({}, "#/queue"), await seen.open({}, "#/queue")];
    const card = '.card:has-text("mail-1")';
    await second.locator(card).waitFor(patience);
    await second.route("**/api/questions", (route) => route.abort()); // it has not heard of the first answer yet
    await first.locator(`${card} [data-act=refuse]`).click();
    await expect.poll(() => first.locator(card).count(), patience).toBe(0);
    await second.locator(`${card} textarea`).fill('{"to":"kim@example.com","text":"Order 17."}');
    await second.locator(`${card} [data-act=approve]`).click();
    await second.unroute("**/api/questions");
    await first.locator('.card:has-text("mail-2") [data-act=refuse]').click(); // now the second page reads the questions anew
    await expect.poll(() => second.locator(".card").count(), patience).toBe(1);
    expect(await second.getByRole("alert").allInnerTexts()).toEqual([
      expect.stringContaining("was answered before, by kim. Only the first answer counts."),
    ]);
    await goTo(second, "#/run/mail-1");
    await second.locator(".run-head").waitFor(patience);
    expect(await second.getByRole("alert").count()).toBe(0);
  });

  it("takes no arguments with a key twice, of which the later one would count, and rounds no number", async () => {
    const page = await seen.open({}, "#/queue");
    const card = page.locator('.card:has-text("mail-3")');
    const [box, approve] = [card.locator("textarea"), card.locator("[data-act=approve]")];
    await box.fill('{"to":"kim@example.com","to":"eve@example.net","text":"Order 17."}');
    expect(await approve.isDisabled()).toBe(true);
    expect(await card.locator(".trouble").innerText()).toContain('it has the key "to" twice');
    await box.fill('{"to":"kim@example.com","text":"Order 17.","at":12345678901234567890}');
    const [sent] = await Promise.all([page.waitForRequest("**/api/answer*"), approve.click()]);
    expect(sent.postData()).toContain('"12345678901234567890"');
  });

  it("shows no comparison of other runs where one of the two is not there", async () => {
    const page = await seen.open({}, "#/compare/mail-1/mail-2");
    await page.locator(".compared").waitFor(patience);
    await goTo(page, "#/compare/mail-1/none");
    await expect.poll(() => page.locator("main").innerText(), patience).toContain('no run "none"');
    expect(await page.locator(".compared").count()).toBe(0);
  });
});
