import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type Ended, makeProject, type Project, writ } from "../e2e/command-line.ts";
import { openBrowser } from "./browser.ts";

/** The pictures of each run of these tests, which git ignores: look at them. */
const pictures = join(import.meta.dirname, "pictures");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
export const patience = { timeout: 60_000 };

/** What an inspector is started with. */
export interface Inspected {
  /** The files of the project, by their names. */
  readonly files: Readonly<Record<string, string>>;
  /** Commands that are carried out before, one after another. */
  readonly before: readonly (readonly string[])[];
  /** The words of the command that inspects. */
  readonly command: readonly string[];
  /** Does the rest of what must be there before. */
  readonly prepare?: (project: Project) => Promise<void>;
}

/** An inspector that a test file has started, as a browser sees it. */
export interface SeenInspector {
  readonly project: Project;
  readonly browser: Browser;
  /** The address that the command printed, with its token. */
  readonly address: string;
  open(options?: BrowserContextOptions, place?: string): Promise<Page>;
}

export const goTo = (page: Page, place: string): Promise<unknown> =>
  page.evaluate(`location.hash = ${JSON.stringify(place)}`);

/** Takes a picture, and has axe look at the page: nothing serious may be wrong. */
export async function look(page: Page, name: string): Promise<void> {
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

/** Registers what starts the real command and a browser before the tests of a file, and ends both. */
export function inspecting({ files, before, command, prepare }: Inspected): SeenInspector {
  let project: Project | undefined;
  let browser: Browser | undefined;
  let child: ChildProcess | undefined;
  let ended: Promise<Ended> | undefined;
  let url = "";

  async function start(cwd: string): Promise<string> {
    for (const words of before) await writ(words, { cwd });
    if (project !== undefined) await prepare?.(project);
    const address = Promise.withResolvers<string>();
    let said = "";
    ended = writ(command, {
      cwd,
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

  beforeAll(async () => {
    project = makeProject();
    for (const [name, text] of Object.entries(files)) project.file(name, text);
    [browser, url] = await Promise.all([openBrowser(), start(project.folder)]);
  }, 240_000);
  afterAll(async () => {
    child?.kill("SIGTERM");
    await browser?.close();
    await ended;
    project?.remove();
  });

  const there = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error("it was not started");
    return value;
  };
  return {
    get project() {
      return there(project);
    },
    get browser() {
      return there(browser);
    },
    get address() {
      return url;
    },
    async open(options = {}, place = "") {
      const context = await there(browser).newContext({ viewport: { width: 1440, height: 900 }, ...options });
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("pageerror", ({ message }) => faults.push(message));
      page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
      await page.goto(url);
      await page.waitForSelector(".run-row", patience);
      if (place !== "") await goTo(page, place);
      expect(faults).toEqual([]);
      return page;
    },
  };
}
