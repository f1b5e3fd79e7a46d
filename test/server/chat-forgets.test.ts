import { expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/index.ts";
import { ask, runsFile, serving } from "./scene.ts";

it("warns the author of a chat without sessions, once a second message comes", async () => {
  const heard: unknown[] = [];
  const hear = (warning: Error & { code?: string }): unknown => heard.push(warning.code);
  process.on("warning", hear);
  onTestFinished(() => void process.off("warning", hear));
  const server = serving(runsFile(), { agents: [agent({ name: "forgetful", model: () => "Yes?" })] });
  const messages: object[] = [];
  for (const id of ["m1", "m2"]) {
    expect(heard).toEqual([]);
    messages.push({ id, role: "user", parts: [{ type: "text", text: "Hello" }] });
    await (await ask(server, "POST /chat/forgetful", { body: { id: "c", messages } })).text();
  }
  expect(heard).toEqual(["WRIT_CHAT_FORGETS"]);
});
