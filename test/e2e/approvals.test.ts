import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const hasTerminal = spawnSync("script", ["--version"]).status === 0;
if (!hasTerminal) console.log("skipped: questions at a terminal (util-linux `script` is not installed)");
let folder: string;
let file: string;
let slow: string;
let long: string;
let letters: string;
let batch: string;

/** A letter whose middle is said in none of the lines of the question. */
const longSource = `
import { agent, ask, policy, tool } from "${pathToFileURL(join(root, "dist/index.js")).href}";
import { scripted } from "${pathToFileURL(join(root, "dist/testing.js")).href}";
const inputSchema = { type: "object", properties: { to: { type: "string" }, body: { type: "string" } } };
const send = tool({ name: "send", description: "Send", inputSchema, effect: "irreversible", execute: ({ to, body }) => void console.error("SENT to " + to + " " + body.length) });
const body = "A".repeat(3000) + "PAY\\u0007LOAD\\u202e" + "B".repeat(3000);
const model = scripted([{ calls: [{ name: "send", arguments: { to: "eve", body } }] }, "Done."]);
export default agent({ name: "sender", model, tools: [send], policy: policy({ name: "letters", rules: [ask("send")] }) });
`;

const source = (lib: string): string => `
import { agent, ask, policy, tool } from "${pathToFileURL(join(root, "dist/index.js")).href}";
import { scripted } from "${pathToFileURL(join(root, "dist/testing.js")).href}";
const inputSchema = { type: "object", properties: { to: { type: "string" }, euro: { type: "number" } }, required: ["to", "euro"] };
const pay = tool({ name: "pay", description: "Pay", inputSchema, effect: "irreversible", execute: ({ to, euro }) => "paid " + to + " " + euro });
const call = (to, euro) => ({ calls: [{ name: "pay", arguments: { to, euro } }] });
const model = scripted([call("ada", 5), call("bob", 7), call("eve", 9), call("ada", 5), "Done."]);
export default agent({ name: "payer", model, tools: [pay], policy: policy({ name: "money", rules: [ask("pay").because("${lib}")] }) });
`;

/** Reads for a while before it sends, and asks about each of three letters. */
const slowSource = `
import { agent, ask, policy, tool } from "${pathToFileURL(join(root, "dist/index.js")).href}";
import { scripted } from "${pathToFileURL(join(root, "dist/testing.js")).href}";
const inputSchema = { type: "object", properties: { to: { type: "string" } } };
const read = tool({ name: "read", description: "Read", inputSchema, effect: "read", execute: () => new Promise((end) => setTimeout(end, 700, "x")) });
const send = tool({ name: "send", description: "Send", inputSchema, effect: "irreversible", execute: ({ to }) => "SENT to " + to });
const call = (name, to) => ({ calls: [{ name, arguments: { to } }] });
const model = scripted([call("read", "x"), call("send", "ada"), call("send", "eve"), call("read", "y"), call("send", "ivy"), "Done."]);
export default agent({ name: "sender", model, tools: [read, send], policy: policy({ name: "letters", rules: [ask("send")] }) });
`;

/** Three letters, the second with another text, the third to somebody else. */
const lettersSource = `
import { agent, ask, policy, tool } from "${pathToFileURL(join(root, "dist/index.js")).href}";
import { scripted } from "${pathToFileURL(join(root, "dist/testing.js")).href}";
const inputSchema = { type: "object", properties: { to: { type: "string" }, text: { type: "string" } } };
const parameters = { to: "target", text: "content" };
const send = tool({ name: "send", description: "Send", inputSchema, parameters, effect: "irreversible", execute: ({ to, text }) => "SENT " + text + " to " + to });
const call = (to, text) => ({ calls: [{ name: "send", arguments: { to, text } }] });
const model = scripted([call("ada", "one"), call("ada", "two"), call("eve", "one"), "Done."]);
export default agent({ name: "sender", model, tools: [send], policy: policy({ name: "letters", rules: [ask("send")] }) });
`;

/** One reply with three calls: a payment, a long letter, the payment again. */
const batchSource = `
import { agent, ask, policy, tool } from "${pathToFileURL(join(root, "dist/index.js")).href}";
import { scripted } from "${pathToFileURL(join(root, "dist/testing.js")).href}";
const inputSchema = { type: "object", properties: { to: { type: "string" }, body: { type: "string" } } };
const made = (name) => tool({ name, description: name, inputSchema, effect: "irreversible", execute: ({ to }) => name.toUpperCase() + " to " + to });
const call = (name, to, body) => ({ name, arguments: body === undefined ? { to } : { to, body } });
const model = scripted([{ calls: [call("pay", "ada"), call("mail", "bob", "A".repeat(3000) + "MIDDLE" + "B".repeat(3000)), call("pay", "cleo")] }, "Done."]);
export default agent({ name: "clerk", model, tools: [made("pay"), made("mail")], policy: policy({ name: "acts", rules: [ask("pay", "mail")] }) });
`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-approvals-"));
  file = join(folder, "payer.mjs");
  writeFileSync(file, source("money leaves"));
  slow = join(folder, "slow.mjs");
  writeFileSync(slow, slowSource);
  long = join(folder, "long.mjs");
  writeFileSync(long, longSource);
  letters = join(folder, "letters.mjs");
  writeFileSync(letters, lettersSource);
  batch = join(folder, "batch.mjs");
  writeFileSync(batch, batchSource);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is typed when something new stands on the screen. */
interface Typing {
  /** What has to stand there, after all that was waited for before. */
  readonly at: string;
  readonly keys: string;
  readonly afterMs?: number;
}

/** Runs an agent at a terminal of its own, where somebody types. */
async function atTerminal(
  agentFile: string,
  typing: readonly Typing[],
): Promise<{ readonly text: string; readonly code: number | null }> {
  const command = `${process.execPath} ${join(root, "dist/cli/main.js")} run ${agentFile} 'Pay my debts'`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { env: { ...process.env, NO_COLOR: "1" } });
  const waiting = [...typing];
  let text = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    for (let next = waiting[0]; next !== undefined && text.includes(next.at, seen); next = waiting[0]) {
      const { at, keys, afterMs = 0 } = next;
      seen = text.indexOf(at, seen) + at.length;
      waiting.shift();
      setTimeout(() => child.stdin.write(keys), afterMs);
    }
  });
  const { promise, resolve: end } = Promise.withResolvers<number | null>();
  child.on("close", end);
  return { code: await promise, text };
}

describe.skipIf(!hasTerminal)("writ run at a terminal", () => {
  it("asks a person: for the run, what is no answer, with other arguments, no with a reason [Y20]", async () => {
    // Ctrl-U takes out what the line holds.
    const answers = [
      "r",
      "perhaps",
      "e",
      "{",
      "e",
      '\u0015{"to":"bob","euro":"one"}',
      "e",
      '\u0015{"to":"bob","euro":1}',
      "n too much",
    ];
    const { text, code } = await atTerminal(
      file,
      answers.map((answer) => ({
        at: answer.includes("{") ? "arguments as JSON > " : "(n why) > ",
        keys: `${answer}\n`,
      })),
    );
    expect(text).toContain("pay (irreversible) needs your approval: money leaves");
    expect(text).toContain('to: "ada"  (you did not say it)');
    expect(text).toContain("That is not one of the answers. Nothing was decided.");
    expect(text).toContain("The arguments must be one JSON object. Nothing was decided.");
    expect(text).toContain('The arguments do not match: euro: must be a number, got "one".');
    expect(text).toContain("paid bob 1");
    expect(text).toContain("denied: too much");
    expect(text.match(/needs your approval/g)).toHaveLength(3); // the fourth call is the first again
    expect(text.match(/paid ada 5/g)).toHaveLength(2);
    expect(text).toContain("Done.");
    expect(code).toBe(0);
  });

  const early: readonly (readonly [when: string, typing: readonly Typing[]])[] = [
    ["while an earlier tool works", [{ at: "→ 1 read", keys: "y\n", afterMs: 300 }]],
    ["ahead, but for the end of the line", [{ at: "→ 1 read", keys: "y", afterMs: 300 }]],
    ["in the moment in which the question appears", [{ at: "needs your approval", keys: "y\n" }]],
  ];
  it.each(early)("does not count an answer that was typed %s", async (_when, typing) => {
    const { text, code } = await atTerminal(slow, [
      ...typing,
      { at: "> ", keys: "\n", afterMs: 300 },
      { at: "> ", keys: "n I did not see it\n" },
      { at: "> ", keys: "n nor that\n" },
      { at: "> ", keys: "n nor that one\n" },
    ]);
    expect(text).toContain("not one of the answers");
    for (const answer of ["2 denied: I did not see it", "3 denied: nor that", "5 denied: nor that one"])
      expect(text).toContain(answer);
    expect(text).not.toContain("SENT");
    expect(code).toBe(0);
  });

  const haste: readonly (readonly [how: string, typing: readonly Typing[]])[] = [
    ["at once", [{ at: "> ", keys: "y\ny\n" }]],
    [
      "one after the other",
      [
        { at: "> ", keys: "y\n" },
        { at: "2 approved", keys: "y\n", afterMs: 100 },
      ],
    ],
  ];
  it.each(haste)(
    "counts the second of two answers that were typed %s for no later question",
    async (_how, typing) => {
      const { text, code } = await atTerminal(slow, [
        ...typing,
        { at: "> ", keys: "n\n", afterMs: 800 },
        { at: "→ 4 read", keys: "y\n", afterMs: 300 }, // the next question is asked later than that
        { at: "> ", keys: "n\n", afterMs: 300 },
      ]);
      expect(text).toContain("SENT to ada");
      expect(text).toContain("3 denied: the person at the terminal said no");
      expect(text).toContain("5 denied: the person at the terminal said no");
      expect(text.match(/SENT/g)).toHaveLength(1);
      expect(code).toBe(0);
    },
  );

  it("takes a yes for the run with another text, and asks anew about another person", async () => {
    const { text, code } = await atTerminal(letters, [
      { at: "o also with other text, ", keys: "" },
      { at: "> ", keys: "o\n" },
      { at: "> ", keys: "n\n" },
    ]);
    expect(text).toContain("SENT one to ada");
    expect(text).toContain("SENT two to ada");
    expect(text).toContain("3 denied: the person at the terminal said no");
    expect(text.match(/needs your approval/g)).toHaveLength(2);
    expect(code).toBe(0);
  });

  it("lists all calls of a reply with its first question, and takes one yes for all, but for none that was not shown whole", async () => {
    const { text, code } = await atTerminal(batch, [
      { at: "a all 3 once, ", keys: "" },
      { at: "(n why) > ", keys: "a\n" },
      { at: "v shows it", keys: "" },
      { at: "(n why) > ", keys: "v\n" },
      ...Array.from({ length: 3 }, () => ({ at: "Enter for more, q to go back > ", keys: "\n" })),
      { at: "(n why) > ", keys: "a\n" },
    ]);
    const [first = "", pages = ""] = text.split("Not all of it was shown");
    expect(first.match(/needs your approval/g)).toHaveLength(3);
    expect(first).not.toContain("MIDDLE");
    expect(pages.replaceAll(/\s/g, "")).toContain("MIDDLE");
    for (const done of ["PAY to ada", "MAIL to bob", "PAY to cleo"]) expect(text).toContain(done);
    expect(text.match(/ approved/g)).toHaveLength(3);
    expect(code).toBe(0);
  });

  it("asks about each of them where it is answered by itself, and lists none twice", async () => {
    const { text, code } = await atTerminal(batch, [
      { at: "a all 3 once, ", keys: "" },
      { at: "> ", keys: "y\n" },
      { at: "the later calls of this reply wait, as shown above", keys: "" },
      { at: "a all 2 once, ", keys: "" },
      { at: "(n why) > ", keys: "n not him\n" },
      { at: "(n why) > ", keys: "y\n" },
    ]);
    expect(text.match(/needs your approval/g)).toHaveLength(5); // three, and the second and the third in their turn
    expect(text).toContain("2 denied: not him");
    expect(text).toContain("PAY to ada");
    expect(text).toContain("PAY to cleo");
    expect(text).not.toContain("MAIL to");
    expect(code).toBe(0);
  });

  it("takes no yes for what was not shown, and shows all of it page by page", async () => {
    const { text, code } = await atTerminal(long, [
      { at: "> ", keys: "y\n" },
      { at: "v shows it", keys: "" },
      { at: "(n why) > ", keys: "v\n" },
      { at: "Enter for more, q to go back > ", keys: "\n" },
      { at: "Enter for more, q to go back > ", keys: "\n" },
      { at: "Enter for more, q to go back > ", keys: "\n" },
      { at: "(n why) > ", keys: "y\n" },
    ]);
    const [question = "", pages = ""] = text.split("Not all of it was shown");
    expect(question).not.toContain("PAY");
    expect(pages.replaceAll(/\s/g, "")).toContain(String.raw`PAY\u0007LOAD\u{202e}B`);
    expect(text).toContain("SENT to eve 6009");
    expect(code).toBe(0);
  });

  it("gives the arguments to edit as they are, and shows what is not drawn", async () => {
    const { text, code } = await atTerminal(long, [
      { at: "> ", keys: "e\n" },
      { at: "arguments as JSON > ", keys: "" },
      { at: '"}', keys: '\u0008\u0008!"}\n', afterMs: 300 },
    ]);
    expect(text).toContain('{"to":"eve","body":"AAA');
    expect(text).toContain(String.raw`\u202eBBB`);
    expect(text).toContain("SENT to eve 6010");
    expect(code).toBe(0);
  });

  it.each([
    ["as soon as it is asked", "needs your approval"],
    ["when it waits for an answer", "> "],
  ])("ends with Ctrl-C, %s", async (_when, at) => {
    const { text, code } = await atTerminal(slow, [{ at, keys: "\u0003" }]);
    expect(text).toContain("Stopping.");
    expect(text).not.toContain("SENT");
    expect(code).toBe(130);
  });

  it("takes the end of the input for a no", async () => {
    const { text, code } = await atTerminal(slow, [
      { at: "> ", keys: "\u0004" },
      { at: "> ", keys: "n\n" },
      { at: "> ", keys: "n\n" },
    ]);
    expect(text.match(/ denied/g)).toHaveLength(3);
    expect(text).toContain("\r\n✗ 2 denied: the person at the terminal ended the input");
    expect(text).not.toContain("SENT");
    expect(code).toBe(0);
  });
});

it("without a terminal nothing is approved, and the run says why", () => {
  const main = join(root, "dist/cli/main.js");
  const { stderr, stdout, status } = spawnSync(process.execPath, [main, "run", file, "Pay"], {
    encoding: "utf8",
    input: "",
  });
  expect(stderr).toContain("there is no terminal to ask at");
  expect(stdout).toBe("Done.\n");
  expect(status).toBe(0);
});
