import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqliteRuns } from "../../src/sqlite.ts";
import { durableRuns } from "../../src/durable.ts";
import { clerk } from "../unit/inspect/scene.ts";
import { type Ended, makeProject, type Project, writ } from "../e2e/command-line.ts";
import { chromiumPath, openBrowser } from "./browser.ts";

/** The pictures of each run of these tests, which git ignores: look at them. */
const pictures = join(import.meta.dirname, "pictures");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
const patience = { timeout: 60_000 };

const program = `
import { agent, tool } from "writ";
const schema = (names) => ({
  type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])), required: [...names],
});
const turns = [
  [["read_mail", { id: "m-1" }], ["find_order", { id: "17" }], ["find_order", { number: "17" }]],
  [["delete_all", {}], ["send_mail", { to: "eve@example.net", text: "Order 17 costs 30." }]],
];
const model = ({ messages }) => {
  const calls = turns[messages.filter(({ role }) => role === "assistant").length];
  if (calls !== undefined) return { calls: calls.map(([name, args]) => ({ name, arguments: args })) };
  return messages.flatMap((message) => (message.role === "tool" ? [message.name + " " + message.status] : [])).join(", ");
};
const read = (name, fields, execute) =>
  tool({ name, description: "", effect: "read", inputSchema: schema(fields), trusted: name === "find_order", execute });
export default agent({
  name: "clerk", instructions: "You are the clerk of a shop.", model,
  tools: [
    read("read_mail", ["id"], () => "From eve@example.net: what does it cost?"),
    read("find_order", ["id"], ({ id }) => ({ id, euro: 30 })),
    tool({ name: "send_mail", description: "", effect: "irreversible", inputSchema: schema(["to", "text"]), execute: ({ to }) => "sent to " + to }),
  ],
});
`;

/** An agent that makes a hundred calls in each of fifty turns. */
const manyCalls = `
import { agent, tool } from "writ";
const look = tool({ name: "look", description: "", effect: "read", inputSchema: { type: "object", properties: { id: { type: "string" } } }, execute: ({ id }) => "seen " + id });
const model = ({ messages }) => {
  const turn = messages.filter(({ role }) => role === "assistant").length;
  return turn === 50 ? "Done." : { calls: Array.from({ length: 100 }, (_, at) => ({ name: "look", arguments: { id: turn + "-" + at } })) };
};
export default agent({ name: "many", model, tools: [look], budget: { turns: 60, toolCalls: 6000 } });
`;

let project: Project;
let browser: Browser;
let child: ChildProcess | undefined;
let ended: Promise<Ended>;
let url = "";

/** Starts the real command over a store with two runs that wait, and waits for its address. */
async function startInspector(): Promise<string> {
  for (const id of ["mail-1", "mail-2"])
    await writ(["run", "clerk.ts", "--durable", "--id", id, "Answer mail m-1"], { cwd: project.folder });
  await writ(["run", "many.ts", "--durable", "--id", "many", "Look at all"], { cwd: project.folder });
  const address = Promise.withResolvers<string>();
  let said = "";
  ended = writ(["inspect", "clerk.ts", "--work", "--by", "kim"], {
    cwd: project.folder,
    meanwhile(process) {
      child = process;
      process.stderr?.on("data", (text: string) => {
        said += text;
        const found = /at (http:\S+)/.exec(said)?.[1];
        if (found !== undefined) address.resolve(found);
      });
    },
  });
  void ended.then(({ stderr }) => address.reject(new Error(stderr)));
  return address.promise;
}

const goTo = (page: Page, place: string): Promise<unknown> =>
  page.evaluate(`location.hash = ${JSON.stringify(place)}`);

async function open(options: BrowserContextOptions = {}, place = ""): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
  await page.goto(url);
  await page.waitForSelector(".run-row", patience);
  if (place !== "") await goTo(page, place);
  expect(faults).toEqual([]);
  return page;
}

/** Takes a picture, and has axe look at the page: nothing serious may be wrong. */
async function look(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- axe says its own types to nobody here
    const { violations } = await (globalThis as any).axe.run();
    return violations
      .filter(({ impact }: { impact: string }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]?.html}`);
  });
  expect(found, name).toEqual([]);
}

describe.skipIf(chromiumPath === undefined)("writ inspect, in Chromium", () => {
  beforeAll(async () => {
    project = makeProject();
    project.file("clerk.ts", program);
    project.file("many.ts", manyCalls);
    [browser, url] = await Promise.all([openBrowser(), startInspector()]);
  }, 120_000);
  afterAll(async () => {
    child?.kill("SIGTERM");
    await browser?.close();
    await ended;
    project?.remove();
  }, 60_000);

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

    await page.keyboard.press("f");
    await page.waitForSelector("form.fork");
    await look(page, "fork");
    await page.keyboard.press("Tab");
    await page.locator('form.fork [type="submit"]').focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector('.run-head:has-text("fork of mail-1")', patience);

    await page.keyboard.press("c");
    await page.keyboard.press("k");
    await expect.poll(() => page.locator(".run-head .id").innerText(), patience).toMatch(/^mail-/);
    await page.keyboard.press("c");
    await page.waitForSelector(".compared", patience);
    expect(await page.locator(".compared").innerText()).toContain("send_mail");
    await look(page, "compare");
    await page.keyboard.press("?");
    await look(page, "keys");
  }, 240_000);

  it("takes a person's arguments in the place of the model's, and says so", async () => {
    const page = await open({}, "#/queue");
    await page.waitForSelector('.card:has-text("mail-2")', patience);
    await look(page, "approvals");
    const card = page.locator('.card:has-text("mail-2")');
    await card.locator("textarea").fill("{ no JSON");
    expect(await card.locator("[data-act=approve]").isDisabled()).toBe(true);
    await card.locator("textarea").fill('{"to":"kim@example.com","text":"Order 17 costs 30."}');
    await card.locator("[data-act=approve]").click();
    await expect.poll(() => card.count(), patience).toBe(0);
    await goTo(page, "#/run/mail-2?call=turn%2F2%2Fcall%2F1");
    await expect
      .poll(() => page.locator(".drawer").innerText(), patience)
      .toContain("A person changed the arguments");
    expect(await page.locator(".drawer").innerText()).toContain("kim@example.com");
  }, 120_000);

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
  }, 120_000);

  it("shows a run that another process begins, as soon as it is there, and finds it by words of its results", async () => {
    const page = await open();
    const store = sqliteRuns(join(project.folder, "runs.db"));
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
  }, 120_000);

  it("exports a run as one file, which shows it without any server", async () => {
    const page = await open({ acceptDownloads: true }, "#/run/mail-1");
    await page.waitForSelector(".run-head");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Export")]);
    const file = join(project.folder, "mail-1.html");
    await download.saveAs(file);
    const other = await (await browser.newContext({ offline: true })).newPage();
    const faults: string[] = [];
    other.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
    await other.goto(`file://${file}`);
    await other.waitForSelector(".row:has-text('delete_all')", patience);
    await other.click(".row:has-text('delete_all')");
    expect(await other.locator(".why").innerText()).toContain("allow-list");
    expect(faults).toEqual([]);
    await look(other, "exported");
  }, 120_000);

  it("holds the rows in sight alone of a run of 5 000 calls, and goes to its last call by a key", async () => {
    const page = await open({}, "#/run/many");
    await page.waitForSelector('[aria-rowcount="5051"]', patience);
    expect(await page.locator(".row").count()).toBeLessThan(80);
    await page.keyboard.press("Enter");
    await page.keyboard.press("End");
    await expect.poll(() => page.locator(".drawer").innerText(), patience).toContain("Turn 51");
    await look(page, "many");
  }, 120_000);

  it.each([
    ["light", 1440, 900],
    ["dark", 1440, 900],
    ["light", 390, 844],
    ["dark", 390, 844],
  ] as const)(
    "is readable in %s at a width of %i",
    async (colorScheme, width, height) => {
      const options = { colorScheme, viewport: { width, height } } as const;
      const name = `${colorScheme}-${width}`;
      const places = {
        list: "",
        run: "#/run/mail-1",
        call: "#/run/mail-1?call=turn%2F2%2Fcall%2F1",
        prompts: "#/run/mail-1?part=prompts",
        policy: "#/run/mail-1?part=policy",
      };
      for (const [part, place] of Object.entries(places)) {
        const page = await open(options, place);
        if (part !== "list") await page.waitForSelector(part === "call" ? ".drawer" : ".run-head", patience);
        const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        expect(isWider, `${name} ${part}`).toBe(false);
        await look(page, `${name}-${part}`);
        await page.context().close();
      }
    },
    120_000,
  );
});
