import { describe, expect, it } from "vitest";
import { chromiumPath } from "./browser.ts";
import { goTo, inspecting, look, patience } from "./inspector-scene.ts";

const policyText = `{
  "name": "desk",
  "rules": [
    { "verdict": "allow", "tools": ["look_up"] },
    { "verdict": "ask", "tools": ["refund"], "name": "refunds", "because": "money leaves" }
  ],
  "extraRules": [
    { "verdict": "deny", "tools": ["close_account"], "name": "never", "because": "nobody closes accounts here" }
  ]
}
`;
/** A desk whose model calls what it is told to: "refund 30". */
const desk = `
import { readFileSync } from "node:fs";
import { agent, tool } from "writ";
import { policyFromJson } from "writ/policy";
const made = (name, effect, properties, execute) =>
  tool({ name, description: "", effect, inputSchema: { type: "object", properties, required: Object.keys(properties).slice(0, 1) }, execute });
const model = ({ messages }) => {
  const last = messages.at(-1);
  if (last.role === "tool") return last.name + " " + last.status + ": " + last.text;
  const [word, value] = last.parts.map(({ text }) => text).join(" ").split(" ");
  if (word === "refund") return { calls: [{ name: "refund", arguments: { euro: Number(value) } }] };
  return "You said " + messages.filter(({ role }) => role === "user").length + " things.";
};
export default agent({
  name: "desk", model, policy: policyFromJson(readFileSync(new URL("policy.json", import.meta.url), "utf8")),
  tools: [
    made("look_up", "read", { order: { type: "string" }, full: { type: "boolean" } }, ({ order }) => ({ order, euro: 30 })),
    made("refund", "irreversible", { euro: { type: "number" }, reason: { enum: ["late", "broken"] } }, ({ euro }) => "paid " + euro),
    made("close_account", "irreversible", { account: { type: "string" } }, () => "closed"),
  ],
});
`;

describe.skipIf(chromiumPath === undefined)("the playground of writ inspect, in Chromium", () => {
  const seen = inspecting({
    files: { "desk.ts": desk, "policy.json": policyText },
    before: [["run", "desk.ts", "--durable", "--id", "first", "hello"]],
    command: ["inspect", "desk.ts"],
  });

  it("says whether a call would be allowed, by which line of the policy's file, and runs a tool from a form", async () => {
    const page = await seen.open({}, "#/play");
    await page.click("text=One call");
    await page.locator("[name=tool]").selectOption("refund");
    await page.locator("[name=field-euro]").fill("30");
    await page.locator("[name=field-reason]").selectOption("late");
    await page.click("text=Would it be allowed?");
    const verdict = page.locator(".verdict-line");
    await expect.poll(() => verdict.innerText(), patience).toContain("A person would be asked: rule refunds");
    expect(await page.locator(".why").innerText()).toMatch(/written in\s+policy\.json:5/);
    await look(page, "play-asked");
    await page.click("text=Run it, and say yes");
    await expect.poll(() => page.locator(".drawer").innerText(), patience).toContain("paid 30");

    await page.locator("[name=field-euro]").fill("thirty");
    await page.click("text=Would it be allowed?");
    await expect.poll(() => verdict.innerText(), patience).toBe("Refused: rule arguments.");
    await page.locator("[name=tool]").selectOption("close_account");
    await page.locator("[name=field-account]").fill("7");
    await page.click("text=Would it be allowed?");
    await expect
      .poll(() => page.locator(".why").innerText(), patience)
      .toMatch(/written in\s+policy\.json:8/);
    await page.locator("[name=tool]").selectOption("look_up");
    await page.locator("[name=field-order]").fill("17");
    await page.locator("[name=field-full]").selectOption("true");
    await page.click("text=Would it be allowed?");
    await expect.poll(() => verdict.innerText(), patience).toContain("Nothing was carried out");
    await page.locator("[data-act=run]").click();
    await expect.poll(() => page.locator(".drawer").innerText(), patience).toContain('"euro":30');
    await page.click("text=Write the arguments as JSON");
    expect(await page.locator("[name=raw]").inputValue()).toContain('"full": true');
    await page.locator("[name=raw]").fill("{ no JSON");
    await page.locator("[data-act=judge]").click();
    await page.waitForSelector(".play-form .trouble", patience);
    expect(await page.locator(".run-row").count()).toBe(1); // nothing of it is kept
  }, 240_000);

  it("talks with an agent, asks about a call in between, and keeps each question as a run", async () => {
    const page = await seen.open({}, "#/play");
    const say = async (text: string): Promise<void> => {
      await page.locator("[name=say]").fill(text);
      await page.keyboard.press("Enter");
    };
    await say("hello");
    await expect
      .poll(() => page.locator(".by-agent").last().innerText(), patience)
      .toContain("You said 1 things.");
    await say("and again");
    await expect
      .poll(() => page.locator(".by-agent").last().innerText(), patience)
      .toContain("You said 2 things.");
    await say("refund 40");
    await page.waitForSelector(".said .answering", patience);
    await look(page, "play-chat");
    await page.locator(".said [data-act=approve]").click();
    await expect.poll(() => page.locator(".by-agent").last().innerText(), patience).toContain("paid 40");
    await page.locator("text=look at the run").last().click();
    await page.waitForSelector(".row:has-text('refund')", patience);
  }, 240_000);

  it.each([
    ["light", 390, 844],
    ["dark", 1440, 900],
    ["dark", 390, 844],
  ] as const)("is readable in %s at a width of %i", async (colorScheme, width, height) => {
    const page = await seen.open({ colorScheme, viewport: { width, height } }, "#/play");
    await page.waitForSelector("[name=say]", patience);
    await look(page, `play-${colorScheme}-${width}-chat`);
    await page.click("text=One call");
    await page.waitForSelector("[name=field-order]", patience);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    await look(page, `play-${colorScheme}-${width}-call`);
    await goTo(page, "#/");
    await page.context().close();
  });
});
