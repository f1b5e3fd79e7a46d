import { expect, it } from "vitest";
import { agent, inMemorySessions, session, skill, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";

const torn = (): never => new Promise((_, reject) => setTimeout(() => reject(new Error("torn")), 1)) as never;
const base = (changes: object = {}) =>
  tool({ name: "t", description: "", inputSchema: { type: "object" }, execute: () => 1, ...changes });
const calling = (changes: object = {}) =>
  agent({ name: "a", model: scripted([{ calls: [{ name: "t" }] }, "Done."]), tools: [base()], ...changes });
const plain = (name: string, execute: () => unknown = () => name) =>
  skill({ name, description: "", execute });

it.each<readonly [what: string, run: () => Promise<{ readonly calls: readonly unknown[] }>, said: string]>([
  ["of a policy", () => calling({ policy: torn }).run("x"), "the policy gave a promise"],
  ["of `exclusive`", () => calling({ tools: [base({ exclusive: torn })] }).run("x"), "got a promise"],
  ["of `account`", () => calling({ account: torn }).run("x"), "got a promise"],
  ["as the input", () => calling().run(torn()), "it is a promise"],
  [
    "of `selectSkill`",
    () => agent({ name: "a", skills: [plain("b"), plain("c")], selectSkill: torn }).run("x"),
    "returned a promise",
  ],
  [
    "of `history`",
    async () => {
      const store = inMemorySessions();
      await calling().run("x", { session: session(store, "s") });
      return calling().run("x", { session: session(store, "s", { history: torn }) });
    },
    "got a promise",
  ],
  [
    "inside of results",
    () => calling({ tools: [base({ execute: () => [torn(), { deep: torn() }] })] }).run("x"),
    "its result is not JSON",
  ],
  [
    "inside of the answer of a skill",
    () => agent({ name: "a", skills: [plain("b", () => ({ deep: [torn(), torn()] }))] }).run("x"),
    "it has a promise inside",
  ],
])("a promise %s is refused, and its rejection does not end the process", async (_what, run, said) => {
  const ended = await run().then(JSON.stringify, String);
  expect(ended).toContain(said);
  await new Promise((resolve) => setTimeout(resolve, 5));
});

it("a promise that a tool tells as its progress does not end the process", async () => {
  const told: unknown[] = [];
  const telling = base({
    execute: (_: unknown, { progress }: { readonly progress: (value: unknown) => void }) => progress(torn()),
  });
  await calling({ tools: [telling] }).run("x", {
    onEvent: (event) => event.type === "tool-progress" && told.push(event.value),
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(told).toEqual([null]);
});
