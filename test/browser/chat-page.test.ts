import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { chromiumPath, openBrowser } from "./browser.ts";

const example = join(import.meta.dirname, "../../examples/recipes/chat-page/main.ts");

it.skipIf(chromiumPath === undefined)(
  "the chat page of the recipes asks before a refund and tells of it, in Chromium",
  async () => {
    const child = spawn(process.execPath, [example], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const { promise: address, resolve } = Promise.withResolvers<string>();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const url = /at (http:\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(await address);
    const shown = () => page.locator("main p").allInnerTexts();

    await page.fill("input", "Hello");
    await page.press("input", "Enter");
    await expect.poll(shown, { timeout: 30_000 }).toEqual(["Hello", "Good morning."]);
    await page.fill("input", "Refund order 17");
    await page.press("input", "Enter");
    await page.click("text=Approve", { timeout: 30_000 });
    await expect
      .poll(shown, { timeout: 30_000 })
      .toEqual([
        "Hello",
        "Good morning.",
        "Refund order 17",
        'refund {"order":"17","euros":30}?',
        "Order 17 is refunded.",
      ]);
  },
);
