import { describe, expect, it } from "vitest";
import { chromiumPath } from "./browser.ts";
import { clerkProgram, goTo, inspecting, look, patience } from "./inspector-scene.ts";

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
    expect(await page.locator(".notice").count()).toBe(0);
    await look(page, "alone-arguments");
    await goTo(page, "#/run/mail-1?call=turn%2F2%2Fcall%2F0");
    await expect.poll(() => why.innerText(), patience).toContain("allow-list");
    expect(await why.innerText()).toContain("'delete_all' is not allowed");
    await look(page, "alone-list");
  }, 120_000);
});
