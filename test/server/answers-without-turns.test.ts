import { describe, expect, it } from "vitest";
import { pipe } from "../../src/compose.ts";
import { agent, skill } from "../../src/index.ts";
import { ask, events, payer, runsFile, serving, talker, told } from "./scene.ts";

const execute = (): string => "By hand.";
const clerk = agent({ name: "clerk", skills: [skill({ name: "answer", description: "", execute })] });
const desk = pipe(talker(), agent({ name: "end", model: () => "All in all." })).with({ name: "desk" });
const agents = [clerk, desk];
const words: readonly (readonly [name: string, answer: string])[] = [
  ["clerk", "By hand."],
  ["desk", "All in all."],
];
const said = { role: "user", content: "Hi" };

describe.each(words)("the answer of %s, which has no turns, is told", (model, answer) => {
  it("to clients of OpenAI, whole, as a stream and as a response", async () => {
    const server = serving(runsFile(), { agents });
    const body = { model, messages: [said] };
    const whole = await ask(server, "POST /v1/chat/completions", { body });
    expect(await whole.json()).toMatchObject({ choices: [{ message: { content: answer } }] });
    const stream = await ask(server, "POST /v1/chat/completions", { body: { ...body, stream: true } });
    expect(await stream.text()).toContain(JSON.stringify({ content: answer }));
    const response = await ask(server, "POST /v1/responses", { body: { model, input: "Hi" } });
    expect(await response.json()).toMatchObject({ output: [{ content: [{ text: answer }] }] });
  });

  it("to a chat, and stands in its messages", async () => {
    const server = serving(runsFile(), { agents });
    const messages = [{ id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] }];
    const stream = await ask(server, `POST /chat/${model}`, { body: { id: "c", messages } });
    expect(await stream.text()).toContain(JSON.stringify({ type: "text-delta", id: "1", delta: answer }));
    const kept = await told(ask(server, `GET /chat/${model}/c`));
    expect(kept.messages?.at(-1)?.parts).toMatchObject([{ type: "step-start" }, { text: answer }]);
  });

  it("to a page of AG-UI, and stands in its thread", async () => {
    const server = serving(runsFile(), { agents });
    const run = (messages: readonly object[]) => {
      const body = { threadId: "t", runId: "r", messages };
      return ask(server, `POST /v1/agui/${model}`, { body });
    };
    for (const id of ["one", "two"])
      expect(await (await run([{ id, ...said }])).text()).toContain(`"delta":${JSON.stringify(answer)}`);
    const shown: readonly object[] = await Array.fromAsync(events(await run([])));
    expect(shown[1]).toMatchObject({
      messages: [{ id: "one" }, { role: "assistant", content: answer }, { id: "two" }],
    });
  });
});

it("ends the step of a question that agents put together ask, so that a page does not send its answer again", async () => {
  const paying = pipe(payer(), agent({ name: "end", model: () => "Done." })).with({ name: "paying" });
  const server = serving(runsFile(), { agents: [paying] });
  const messages = [{ id: "m", role: "user", parts: [{ type: "text", text: "Pay" }] }];
  const asked = await (await ask(server, "POST /chat/paying", { body: { id: "c", messages } })).text();
  const approval = { id: /"approvalId":"([^"]+)"/.exec(asked)?.[1], approved: true };
  const part = { type: "dynamic-tool", state: "approval-responded", approval };
  const answers = { id: "c", messages: [{ id: "m-answer", role: "assistant", parts: [part] }] };
  const rest = await (await ask(server, "POST /chat/paying", { body: answers })).text();
  expect(rest).toMatch(/"start-step".*"delta":"Done\."/s);
});
