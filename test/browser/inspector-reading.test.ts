import { describe, expect, it } from "vitest";
import { chromiumPath } from "./browser.ts";
import { goTo, inspecting, look, patience } from "./inspector-scene.ts";
import { longProgram, oddProgram, shyProgram } from "../unit/inspect/programs.ts";

describe.skipIf(chromiumPath === undefined)("reading on the page of writ inspect, in Chromium", () => {
  const seen = inspecting({
    files: { "odd.ts": oddProgram, "long.ts": longProgram, "shy.ts": shyProgram },
    before: [
      ["run", "odd.ts", "--durable", "--id", "odd", "Do odd things"],
      ["run", "long.ts", "--durable", "--id", "long", "Go on"],
      ["run", "shy.ts", "--durable", "--id", "sh\u202Ey", "Look"],
    ],
    command: ["inspect", "odd.ts"],
  });
  const call = (turn: number, index: number): string => `#/run/odd?call=turn%2F${turn}%2Fcall%2F${index}`;

  it("leaves arrows to a box that has the focus, and to the parts that are read", async () => {
    const page = await seen.open({}, call(1, 1));
    const text = page.locator(".drawer pre").last();
    await expect.poll(() => text.innerText(), patience).toContain("line 1");
    await text.focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => text.evaluate(({ scrollTop }) => scrollTop), patience).toBeGreaterThan(0);
    expect(await page.locator(".drawer h2").innerText()).toBe("lines");
    await page.keyboard.press("j");
    await expect.poll(() => page.locator(".drawer h2").innerText(), patience).toBe("broken");

    await page.keyboard.press("2");
    await page.locator(".messages").waitFor(patience);
    for (let times = 0; times < 4; times += 1) await page.keyboard.press("ArrowDown");
    await expect
      .poll(() => page.locator("#tab-panel").evaluate(({ scrollTop }) => scrollTop), patience)
      .toBeGreaterThan(0);
    expect(await page.evaluate("location.hash")).toContain("turn%2F1%2Fcall%2F2&part=prompts");
  });

  it("goes through the parts of a run by arrows, with one of them in the order of the focus", async () => {
    const page = await seen.open({}, "#/run/odd");
    await page.getByRole("tab", { name: "Calls" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.locator(":focus").innerText()).toBe("Prompts");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    expect(await page.locator(":focus").innerText()).toBe("Texts");
    expect(await page.evaluate("location.hash")).toBe("#/run/odd?part=input");
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").getAttribute("role")).not.toBe("tab");
  });

  it("names the chosen run to who listens, and the place to the tab", async () => {
    const page = await seen.open();
    await page.locator(".run-rows").focus();
    await page.keyboard.press("End");
    const active = page.locator('.run-row[aria-selected="true"]');
    await expect.poll(() => active.innerText(), patience).toContain("odd");
    expect(await page.locator(".run-rows").getAttribute("aria-activedescendant")).toBe(
      await active.getAttribute("id"),
    );
    expect(await page.title()).toBe("odd – writ inspector");
  });

  it("takes the address with the token in a tab that had none, and goes on where that was", async () => {
    const page = await (await seen.browser.newContext()).newPage();
    await page.goto(new URL("/#/run/odd", seen.address).href);
    await expect.poll(() => page.locator("main").innerText(), patience).toContain("with its token");
    await page.goto(seen.address);
    await page.waitForSelector('.run-head:has-text("Do odd things")', patience);
    expect(page.url()).toMatch(/\/#\/run\/odd$/);
  });

  it("opens an address that was cut in the middle of a letter", async () => {
    const page = await seen.open({}, "#/run/%E0%A4");
    await expect
      .poll(() => page.locator("main").innerText(), patience)
      .toContain("No run with that id was begun");
    await page.reload();
    await page.waitForSelector(".run-row", patience);
  });

  it("writes out what is hidden in arguments and results, and says what became of a call that was allowed", async () => {
    const page = await seen.open({}, call(1, 0));
    const drawer = page.locator(".drawer");
    await expect.poll(() => drawer.innerText(), patience).toContain(String.raw`\u{202e}gpj.exe`);
    expect(await drawer.innerText()).toContain(String.raw`told \u{e0041}\u{e0042}`);
    await goTo(page, call(1, 2));
    await expect.poll(() => page.locator(".verdict").innerText(), patience).toBe("Allowed, and failed");
    expect(await page.locator(".why").innerText()).toContain("the default policy");
    expect(await drawer.innerText()).toContain("UTC");
    await look(page, "failed");
  });

  it("writes out what is hidden in names, ids and reasons", async () => {
    const page = await seen.open({}, `#/run/${encodeURIComponent("sh\u202Ey")}?call=turn%2F1%2Fcall%2F0`);
    await expect
      .poll(() => page.locator(".why").innerText(), patience)
      .toContain(String.raw`no \u{202e}gpj.exe`);
    expect(await page.locator(".why").innerText()).toContain(String.raw`shy\u{202e}r`);
    expect(await page.locator(".run-rows").innerText()).toContain(String.raw`sh\u{202e}y`);
    expect(await page.locator("body").innerText()).not.toContain("\u202E");
    expect(await page.title()).toBe(String.raw`sh\u{202e}y – writ inspector`);
  });

  it("holds the last messages of a long prompt alone, and more when they are wanted", async () => {
    const page = await seen.open({}, "#/run/long?part=prompts");
    const messages = page.locator(".messages > li");
    await expect.poll(() => messages.count(), patience).toBe(200);
    expect(await messages.last().innerText()).toContain("seen 400");
    await page.getByRole("button", { name: "Show 200 more of 601 earlier messages" }).click();
    await expect.poll(() => messages.count(), patience).toBe(400);
    await look(page, "long-prompt");
  });

  it("holds the first rows alone of two long runs beside each other", async () => {
    const page = await seen.open({}, "#/compare/long/long");
    const rows = page.locator(".compared tbody tr");
    await expect.poll(() => rows.count(), patience).toBe(300);
    await page.getByRole("button", { name: "Show 100 more of 100 rows" }).click();
    await expect.poll(() => rows.count(), patience).toBe(400);
  });

  it("keeps what the colours mean where the system has its own", async () => {
    const page = await seen.open({ forcedColors: "active" }, "#/run/odd");
    await page.waitForSelector(".swatch.model", patience);
    const colours = await page.evaluate<string[]>(
      `[".swatch.model", "body"].map((each) => getComputedStyle(document.querySelector(each)).backgroundColor)`,
    );
    expect(colours[0]).not.toBe(colours[1]);
  });

  it("has all buttons of a run in sight on a narrow screen", async () => {
    const page = await seen.open({ viewport: { width: 320, height: 640 } }, "#/run/odd");
    const button = await page.getByRole("button", { name: "Export" }).boundingBox();
    const panel = await page.getByRole("tabpanel").boundingBox();
    expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(panel?.y ?? 0);
  });

  it.each(["light", "dark"] as const)(
    "draws fields and bars that are told from their ground at 3 to 1, %s",
    async (colorScheme) => {
      const page = await seen.open({ colorScheme }, call(1, 1));
      await page.waitForSelector(".row.selected", patience);
      const ratios = await page.evaluate<[string, number][]>(
        contrasts([
          ["#filter", "border-color", "#filter"],
          [".bar.model", "fill", "main"],
          [".bar.executed", "fill", ".row.selected"],
        ]),
      );
      for (const [what, ratio] of ratios) expect(ratio, what).toBeGreaterThanOrEqual(3);
    },
  );
});

/** The program for the browser that gives the contrast of a colour of each element with the ground of another one. */
const contrasts = (pairs: readonly (readonly string[])[]): string => `{
  const paint = document.createElement("canvas").getContext("2d");
  const colour = (selector, property) => {
    for (let at = document.querySelector(selector); at !== null; at = at.parentElement) {
      const value = getComputedStyle(at).getPropertyValue(property);
      if (value !== "rgba(0, 0, 0, 0)") return value;
    }
    return "white";
  };
  const light = (value) => {
    paint.fillStyle = value;
    paint.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...paint.getImageData(0, 0, 1, 1).data].map((part) =>
      part / 255 <= 0.04 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  ${JSON.stringify(pairs)}.map(([selector, property, ground]) => {
    const both = [light(colour(selector, property)), light(colour(ground, "background-color"))];
    return [selector, (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05)];
  });
}`;
