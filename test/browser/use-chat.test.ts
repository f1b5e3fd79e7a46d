import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeProject, type Project, writ } from "../e2e/command-line.ts";
import { chromiumPath, openBrowser, servePage } from "./browser.ts";

if (chromiumPath === undefined)
  console.log("skipped: no Chromium on this machine (apt-get install chromium, or WRIT_TEST_CHROMIUM)");

let project: Project;
let browser: Browser;
let site: { readonly origin: string; readonly server: Server };

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  project = makeProject();
  // Only the conversation decides what the model says; its second word comes when the file `go` is there.
  project.file(
    "clerk.ts",
    `import { appendFileSync, existsSync } from "node:fs";
import { agent, tool } from "writ";
const pay = tool({
  name: "pay", description: "", effect: "irreversible",
  inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  async execute({ to }, { progress }) {
    progress({ paying: to });
    await new Promise((resolve) => setTimeout(resolve, 300));
    appendFileSync("paid.txt", to + "\\n"); return "paid " + to;
  },
});
const model = {
  id: "words", features: { tools: true, files: true },
  async *stream({ messages }) {
    const last = messages.at(-1);
    if (last.role === "tool") {
      yield { type: "text-delta", text: "Done." };
    } else if (JSON.stringify(last).includes("Pay")) {
      yield { type: "call-start", id: "1", name: "pay" };
      yield { type: "call-end", id: "1", arguments: { to: "Ada" } };
      return yield { type: "end", finishReason: "tool-calls" };
    } else if (last.parts.some(({ type }) => type === "file")) {
      yield { type: "text-delta", text: "A picture." };
    } else {
      yield { type: "reasoning-delta", text: "Hm." };
      yield { type: "text-delta", text: "One " };
      while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
      yield { type: "text-delta", text: "two" };
    }
    yield { type: "end", finishReason: "stop" };
  },
};
export default agent({
  name: "clerk", model, tools: [pay],
  policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
});
`,
  );
  site = await servePage("chat-page.js");
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  site?.server.close();
  project?.remove();
});

/** Starts `writ serve`, whose runs the project keeps. */
async function startServer(
  port = "0",
): Promise<{ readonly url: string; readonly kill: () => Promise<void> }> {
  const address = Promise.withResolvers<string>();
  let child: ChildProcess | undefined;
  let said = "";
  const ended = writ(["serve", "clerk.ts", "--port", port, "--origin", site.origin], {
    cwd: project.folder,
    meanwhile(started) {
      child = started;
      started.stderr?.on("data", (text: string) => {
        said += text;
        const found = /at (http:\S+)\. Ctrl-C/.exec(said)?.[1];
        if (found !== undefined) address.resolve(found);
      });
    },
  });
  void ended.then(({ stderr }) => address.reject(new Error(stderr)));
  const kill = async (): Promise<void> => {
    child?.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  return { url: await address.promise, kill };
}

async function openChat(url: string, chat: string): Promise<Page> {
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  onTestFinished(() => expect(errors).toEqual([]));
  await page.goto(`${site.origin}/?${new URLSearchParams({ api: `${url}/chat/clerk`, chat }).toString()}`);
  await page.waitForSelector("form");
  return page;
}

async function say(page: Page, words: string): Promise<void> {
  await page.fill("input[type=text]", words);
  await page.press("input[type=text]", "Enter");
}

/** Waits until the answers of a page are these, part by part. */
async function sees(page: Page, answer: string): Promise<void> {
  await expect
    .poll(
      async () =>
        (await page.locator("article.assistant").allInnerTexts()).join("\n").replaceAll(/\s+/g, " "),
      {
        timeout: 30_000,
      },
    )
    .toBe(answer);
}

describe.skipIf(chromiumPath === undefined)("a page with useChat, in Chromium", () => {
  it("shows words as they are written, comes back to them when it is loaded anew, and keeps the picture", async () => {
    const { url } = await startServer();
    const page = await openChat(url, "words");
    await say(page, "Hello");
    await sees(page, "Hm. One");
    await page.reload();
    await sees(page, "Hm. One");
    project.file("go", "");
    await sees(page, "Hm. One two");
    await expect.poll(() => page.innerText("footer")).toBe("ready");
    const metadata = () => page.locator("article.assistant").first().getAttribute("title");
    const told = await metadata();
    expect(JSON.parse(told ?? "{}")).toMatchObject({
      run: expect.stringMatching(/^chat\/clerk\/words\/./),
      outcome: "answered",
      usage: { outputTokens: expect.any(Number) },
    });

    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    await page.setInputFiles("input[type=file]", { name: "a.png", mimeType: "image/png", buffer: png });
    await say(page, "What is it?");
    await sees(page, "Hm. One two A picture.");
    await page.reload();
    await sees(page, "Hm. One two A picture.");
    expect(await metadata()).toBe(told); // what was streamed, and what is read again
    expect(await page.locator("article.user").allInnerTexts()).toEqual(["Hello", "What is it?"]);
    const picture = page.locator("article.user img");
    expect(await picture.evaluate((image) => Reflect.get(image, "naturalWidth"))).toBe(1);
  }, 180_000);

  it("asks a person, who answers with other arguments after the server was killed and began again", async () => {
    const first = await startServer();
    const page = await openChat(first.url, "money");
    await say(page, "Pay Ada");
    const asked = 'pay approval-requested {"to":"Ada"} {"to":"Ada"} Approve Deny';
    await page.waitForSelector("textarea");
    await first.kill();
    const second = await startServer(new URL(first.url).port);
    expect(second.url).toBe(first.url);
    await page.reload();
    await page.waitForSelector("textarea");
    expect(asked).toContain((await page.innerText("section")).split("\n")[0]);
    await page.fill("textarea", '{"to":"Grace"}');
    await page.click("text=Approve");
    await sees(page, 'pay output-available "paid Grace" Done.');
    expect(await page.innerText("aside")).toContain('data-progress {"paying":"Grace"}');
    expect(readFileSync(join(project.folder, "paid.txt"), "utf8")).toBe("Grace\n");
    await page.reload();
    await sees(page, 'pay output-available "paid Grace" Done.');
  }, 180_000);
});
