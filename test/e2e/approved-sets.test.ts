import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Ended, makeProject, type Project, writ } from "./command-line.ts";

let project: Project;
beforeAll(() => {
  project = makeProject();
  project.file(
    "letters.ts",
    `import { appendFileSync } from "node:fs";
import { agent, ask, policy, tool } from "writ";
const send = tool({
  name: "send", description: "", effect: "irreversible",
  inputSchema: { type: "object", properties: { to: { type: "string" }, text: { type: "string" } } },
  parameters: { to: "target", text: "content" },
  execute: ({ to, text }) => { appendFileSync("sent.txt", to + " " + text + "\\n"); return "sent"; },
});
const mail = (to, text) => ({ name: "send", arguments: { to, text } });
export default agent({
  name: "clerk", tools: [send], policy: policy({ name: "letters", rules: [ask("send")] }),
  model: ({ messages }) => {
    const made = messages.filter(({ role }) => role === "tool").length;
    if (made === 0) return { calls: [mail("bob", "one"), mail("cleo", "one")] };
    return made === 2 ? { calls: [mail("bob", "two")] } : "Done.";
  },
});
`,
  );
});
afterAll(() => project.remove());

const inStore = (words: readonly string[]): Promise<Ended> =>
  writ([...words, "--store", "runs.db"], { cwd: project.folder });
const goOn = (id: string): Promise<Ended> => inStore(["run", "letters.ts", "Write", "--durable", "--id", id]);
const keys = ["turn/1/approval/0", "turn/1/approval/1"] as const;
const sent = (): string[] => {
  const path = join(project.folder, "sent.txt");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
};

it("several questions are answered by one command, each for its own call", async () => {
  const before = sent();
  expect((await goOn("several")).code).toBe(6);
  const missing = await inStore(["approvals", "approve", "several", keys[0], "turn/9/approval/0"]);
  expect(missing.stderr).toContain("error[question-unknown]");
  const both = await inStore(["approvals", "approve", "several", ...keys]);
  expect(both.stdout).toBe("approved: send of several\napproved: send of several\n");
  expect((await goOn("several")).code).toBe(6); // the third has another text
  expect(sent()).toEqual([...before, "bob one", "cleo one"]);
});

it("an answer leaves a part of the arguments open for the run, and nothing that says whom", async () => {
  const before = sent();
  await goOn("open");
  expect((await inStore(["approvals", "list", "--run", "open"])).stdout).toContain(
    "may be left open for the run: text (--open)",
  );
  const wider = await inStore(["approvals", "approve", "open", keys[0], "--open", "text,to"]);
  expect([wider.code, wider.stderr]).toEqual([1, expect.stringContaining("error[question-closed]")]);
  const several = await inStore(["approvals", "approve", "open", ...keys, "--open", "text"]);
  expect(several.stderr).toContain("error[option-invalid]");
  await inStore(["approvals", "approve", "open", keys[0], "--open", "text"]);
  await inStore(["approvals", "approve", "open", keys[1]]);
  expect(await goOn("open")).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(sent().slice(before.length).toSorted()).toEqual(["bob one", "bob two", "cleo one"]);
});
