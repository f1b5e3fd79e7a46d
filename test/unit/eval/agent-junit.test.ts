import { parse } from "junit2json";
import { describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { evaluate } from "../../../src/eval.ts";
import { junitXml } from "../../../src/eval/agent/junit.ts";
import { clerk } from "./agent-scene.ts";

const strange = `<b>&"'\0\u001B[2J\uD800 \u{1F600}\n]]>`;

describe("JUnit XML", () => {
  it("is read by a parser of such files: passed, failed, broken, stopped [C43]", async () => {
    const controller = new AbortController();
    const report = await evaluate(
      agent({
        name: "odd",
        model: ({ messages }) => {
          const text = JSON.stringify(messages);
          if (text.includes("break")) throw new Error(strange);
          return text.includes("stop") ? new Promise<string>(() => controller.abort()) : strange;
        },
        retry: false,
      }),
      [
        { name: "good", input: "x" },
        { name: strange, input: "x", runs: 2, expect: { answer: { contains: ["no", strange] } } },
        { name: "broken", input: "break" },
        { name: "stopped", input: "stop" },
      ],
      { concurrency: 1, signal: controller.signal },
    );
    const suites = await parse(junitXml(report));
    const shown = strange.replace("\0\u001B", "\uFFFD\uFFFD").replace("\uD800 ", "\uFFFD ");
    expect(suites).toMatchObject({
      testsuite: [
        {
          tests: 4,
          failures: 1,
          errors: 1,
          skipped: 1,
          testcase: [
            { name: "good", "system-out": [shown] },
            {
              name: shown.replace("\n", " "),
              failure: [
                {
                  message: expect.stringContaining("0 of 2 runs passed; run 1: answer.contains: ") as unknown,
                  inner: expect.stringContaining("run 2: answer.contains: ") as unknown,
                },
              ],
            },
            { name: "broken", error: [{ type: "provider-failed" }] },
            { name: "stopped", skipped: expect.anything() as unknown },
          ],
        },
      ],
    });
  });

  it("says of an evaluation that passed nothing but its cases", async () => {
    const xml = junitXml(await evaluate(clerk, [{ name: "one", input: "x", replies: ["yes"] }]));
    expect(xml.replaceAll(/time="[\d.]+"/g, 'time=""')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="clerk" tests="1" failures="0" errors="0" time="">
  <testsuite name="clerk" tests="1" failures="0" errors="0" time="" skipped="0">
    <testcase name="one" classname="clerk" time="">
      <system-out>yes</system-out>
    </testcase>
  </testsuite>
</testsuites>
`);
  });
});
