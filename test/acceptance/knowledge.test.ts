import { describe, expect, it } from "vitest";
import { agent, type AgentEvent, knowledge, skill } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const callFaq = { calls: [{ name: "faq", arguments: {} }] };

describe("knowledge", () => {
  it("case 18: is loaded when it is called and not before, told as knowledge and not as a tool, and always as it is now [K5, K4.1, K4.2, K4.3, O2.1, Z1.3]", async () => {
    let state = "open on Mondays";
    let loads = 0;
    const faq = knowledge({
      name: "faq",
      description: "Frequently asked questions",
      load: () => {
        loads += 1;
        return state;
      },
    });
    const lookup = fakeTool("lookup", "data");
    const whenAsked: number[] = []; // loads before each request, seen from the model itself
    const model = scripted([
      () => {
        whenAsked.push(loads);
        return callFaq;
      },
      { calls: [{ name: "lookup", arguments: {} }] },
      "Mondays.",
      callFaq,
      "Tuesdays.",
    ]);
    const support = agent({
      name: "support",
      model,
      skills: [skill({ name: "answer", description: "Answers", tools: [lookup], knowledge: [faq] })],
    });
    const events: AgentEvent[] = [];
    await support.run("When?", { onEvent: (event) => void events.push(event) });
    expect(whenAsked).toEqual([0]);
    expect(model.requests[0]?.tools[1]).toMatchObject({
      name: "faq",
      description: "Frequently asked questions",
    });
    expect(JSON.stringify(model.requests[0])).not.toContain("Mondays");
    expect(loads).toBe(1);
    const told = events.filter(({ type }) => type === "knowledge-used");
    expect(told).toMatchObject([{ name: "faq", turn: 1, result: { status: "ok", text: "open on Mondays" } }]);
    const tools = events.filter((event) => event.type === "tool-start" || event.type === "tool-end");
    expect(tools).toMatchObject([{ name: "lookup" }, { name: "lookup" }]);
    state = "open on Tuesdays";
    await support.run("And now?");
    expect(model.requests.at(-1)?.messages.at(-1)).toMatchObject({ text: "open on Tuesdays" });
    expect(loads).toBe(2);
  });

  it("that cannot be loaded is told to the model, and the run goes on", async () => {
    const broken = knowledge({
      name: "faq",
      description: "Questions",
      load: () => Promise.reject(new Error("the file is gone")),
    });
    const model = scripted([callFaq, "I do not know."]);
    const skills = [skill({ name: "answer", description: "", tools: [], knowledge: [broken] })];
    const events: AgentEvent[] = [];
    const result = await agent({ name: "support", model, skills }).run("When?", {
      onEvent: (event) => events.push(event),
    });
    expect(result.text).toBe("I do not know.");
    expect(events.filter(({ type }) => type === "knowledge-used")).toMatchObject([
      { result: { status: "error" } },
    ]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      status: "error",
      text: expect.stringContaining("the file is gone"),
    });
  });
});
