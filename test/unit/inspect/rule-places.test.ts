import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { allow, ask, deny, limit, policy } from "../../../src/index.ts";
import { arg, boundToIntent, policyFromJson } from "../../../src/policy.ts";
import { memberLines, rulePlaces } from "../../../src/inspect/rule-places.ts";

const self = readFileSync(import.meta.filename, "utf8").split("\n");
/** The place in this file of the line with a mark behind it. */
const lineOf = (mark: string): string =>
  `test/unit/inspect/rule-places.test.ts:${self.findIndex((line) => line.endsWith(`// ${mark}`)) + 1}`;

const mail = policy({
  name: "mail", // the policy
  rules: [
    allow("send").when(arg("to").each(boundToIntent("email"))), // one
    deny("delete").because("it is gone then").named("keep"), // two
    { verdict: "ask", tools: ["read"], name: "plain" },
    limit("send", { perRun: 3 }), // three
  ],
  exceptions: [allow("ask_me")], // four
  extraRules: [ask("write")], // five
});

it("says where each rule of a program is written, whatever was said of it since", async () => {
  expect(await rulePlaces(mail)).toEqual({
    "allow send (rule 1)": lineOf("one"),
    keep: lineOf("two"),
    plain: expect.stringContaining("rule-places.test.ts:"), // where the policy is made
    "deny send (rule 4)": lineOf("three"),
    "ask write (extraRules[0])": lineOf("five"),
    "allow ask_me (exceptions[0])": lineOf("four"),
  });
});

const text = `{ "name": "a \\"quoted\\" {name[",
  "tools": { "send": { "parameters": { "to": "target" } } },
  "rules": [
    { "verdict": "deny", "tools": ["send",
      "write"] },

    { "verdict": "allow", "tools": ["read"], "name": "reading" } ],
  "extraRules": [{ "verdict": "ask", "tools": ["ask_me"] },
                 { "verdict": "ask", "tools": ["ask_you"] }]
}
`;

it("says the line of the file of a rule that was read from one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-places-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "policy.json"), text);
  writeFileSync(join(folder, "other.json"), text.replace("reading", "writing"));
  const program = join(folder, "agent.js");
  const source = pathToFileURL(join(import.meta.dirname, "../../../src/policy.ts")).href;
  writeFileSync(
    program,
    `import { readFileSync } from "node:fs";
import { policyFromJson } from ${JSON.stringify(source)};
export const made = policyFromJson(readFileSync(new URL("policy.json", import.meta.url), "utf8"));`,
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written above
  const { made } = (await import(/* @vite-ignore */ program)) as { made: typeof mail };
  expect(await rulePlaces(made)).toEqual({
    "deny send, write (rule 1)": `${join(folder, "policy.json")}:4`,
    reading: `${join(folder, "policy.json")}:7`,
    "ask ask_me (extraRules[0])": `${join(folder, "policy.json")}:8`,
    "ask ask_you (extraRules[1])": `${join(folder, "policy.json")}:9`,
  });
});

it("says the line of the text where no file has it, and puts rules of a preset where the policy is made", async () => {
  const given = '{ "name": "x", "rules": "strict", "extraRules": [\n{ "verdict": "ask", "tools": ["a"] }] }';
  const made = policyFromJson(given); // made
  const places = Object.entries(await rulePlaces(made));
  expect(places.length).toBeGreaterThan(2);
  for (const [name, place] of places)
    expect(place, name).toBe(
      name.startsWith("ask a ") ? `line 2 of the text that is read at ${lineOf("made")}` : lineOf("made"),
    );
});

it("knows no place of a function", async () => {
  expect(await rulePlaces(() => ({ verdict: "deny", rule: "quiet", reason: "" }))).toEqual({});
});

it("does not change what a rule equals, nor its policy", () => {
  expect(allow("a")).toEqual({ verdict: "allow", tools: ["a"] });
  expect(JSON.stringify(mail.toJSON())).not.toContain("rule-places");
});

it("finds the lines of members, and of nothing else", () => {
  expect([...memberLines('{"a":[],"b":[1,\n[2,3],{"c":[4]}],"d":{"e":[5]},"f":"[1,2]"}')]).toEqual([
    ["b", [1, 2, 2]],
  ]);
});
