/**
 * Opens a run of 5 000 calls in `writ inspect` in a real browser and scrolls through it: the time until its first rows are there, and the frames while it
 * scrolls, by `requestAnimationFrame`. Needs Chromium (`WRIT_TEST_CHROMIUM`, or where Debian puts it).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { chromiumPath, openBrowser } from "../test/browser/browser.ts";
import { makeProject, writ } from "../test/e2e/command-line.ts";
import { manyCalls } from "../test/unit/inspect/programs.ts";

const main = join(import.meta.dirname, "../dist/cli/main.js");

/** Scrolls the rows down for so long, and gives the milliseconds between frames. */
const scrolling = `new Promise((resolve) => {
  const box = document.querySelector(".rows");
  const gaps = [];
  let last = performance.now();
  const until = last + 4000;
  function frame(now) {
    gaps.push(now - last);
    last = now;
    box.scrollTop = (box.scrollTop + 90) % (box.scrollHeight - box.clientHeight);
    if (now < until) requestAnimationFrame(frame);
    else resolve(gaps.slice(1));
  }
  requestAnimationFrame(frame);
})`;

if (chromiumPath === undefined) throw new Error("there is no Chromium here");
const project = makeProject();
project.file("many.ts", manyCalls);
const cwd = project.folder;
await writ(["run", "many.ts", "--durable", "--id", "many", "Look at all"], { cwd });
const inspector = spawn(process.execPath, [main, "inspect", "many.ts"], { cwd });
const browser = await openBrowser();
try {
  let said = "";
  inspector.stderr.setEncoding("utf8");
  while (!/at http:\S+/.test(said)) said += String((await once(inspector.stderr, "data"))[0]);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(/at (http:\S+)/.exec(said)?.[1] ?? "");
  await page.waitForSelector(".run-row");
  const opened: number[] = [];
  for (let time = 0; time < 5; time += 1) {
    await page.evaluate('location.hash = "#/"');
    await page.waitForSelector(".rows", { state: "detached" });
    const begun = performance.now();
    await page.evaluate('location.hash = "#/run/many"');
    await page.waitForSelector('.rows[aria-rowcount="5051"] .row');
    opened.push(performance.now() - begun);
  }
  const gaps = await page.evaluate<readonly number[]>(scrolling);
  const sorted = gaps.toSorted((one, other) => one - other);
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const slow = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
  console.log(`5 000 calls: opens in ${opened.map((ms) => Math.round(ms)).join(", ")} ms`);
  console.log(
    `scrolls at ${Math.round(1000 / mean)} frames a second; 95 of 100 frames within ${Math.round(slow)} ms`,
  );
} finally {
  await browser.close();
  inspector.kill("SIGTERM");
  await once(inspector, "close");
  project.remove();
}
