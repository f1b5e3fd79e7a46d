import { expect, it } from "vitest";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import { textOf } from "../../src/doors.ts";
import { ask, runsFile, serving } from "./scene.ts";

const context = [{ description: "The open page", value: "invoice 17" }];
const picture = { type: "image", source: { type: "data", value: "aGk=", mimeType: "image/png" } };

it("takes what a page knows in a thread whose conversation is kept, and shows the user's words alone", async () => {
  const heard: string[] = [];
  const listener = agent({
    name: "listener",
    model: ({ messages }) => {
      heard.push(messages.flatMap((message) => (message.role === "user" ? [textOf(message)] : [])).join("|"));
      return "Heard.";
    },
  });
  const store = inMemorySessions();
  const server = serving(runsFile(), { agents: [listener], sessions: (id) => session(store, id) });
  const post = async (messages: readonly object[]): Promise<string> => {
    const body = { threadId: "t", runId: "r", state: {}, tools: [], forwardedProps: {}, messages, context };
    const response = await ask(server, "POST /v1/agui/listener", { body });
    expect(response.status).toBe(200);
    return response.text();
  };
  const said = ["What is it?", [{ type: "text", text: "And now?" }, picture]].map((content, index) => ({
    id: `u${index}`,
    role: "user",
    content,
  }));
  for (const message of said) await post([message]);
  const told = (words: string): string => `The open page: invoice 17\n\n${words}`;
  expect(heard).toEqual([told("What is it?"), `${told("What is it?")}|${told("And now?")}`]);
  const snapshot = /"MESSAGES_SNAPSHOT".*/.exec(await post([]))?.[0];
  for (const { content } of said) expect(snapshot).toContain(`"content":${JSON.stringify(content)}`);
  expect(snapshot).not.toContain("invoice 17");
});
