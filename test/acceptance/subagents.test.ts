import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent } from "../../src/index.ts";
import { pipe, subagents } from "../../src/compose.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { calling, ofType, resultsIn, watch, type TextAgent } from "./watching.ts";

const asked = (subagent: string, prompt: string) => ["spawn_subagent", { subagent, prompt }] as const;
const answering = (name: string, text: string): TextAgent =>
  agent({ name, description: `the ${name}`, model: scripted([text]) });

describe("several agents as one tool", () => {
  it("lets the model pick one by its name, and is told the answer alone [C39]", async () => {
    const notes = fakeTool("notes", "tea at four");
    const model = scripted([calling("notes"), "Tea is at four."]);
    const researcher = agent({ name: "researcher", description: "Finds facts", model, tools: [notes] });
    const own = scripted([
      calling(asked("researcher", "When is tea?"), asked("writer", "Say hello")),
      "Done.",
    ]);
    const editor = agent({
      name: "editor",
      model: own,
      tools: [subagents([researcher, answering("writer", "Hello.")])],
    });
    const { events, result } = await watch(editor.stream("Go"));
    expect(result.text).toBe("Done.");
    expect(resultsIn(result.transcript).map(({ text }) => text)).toEqual(["Tea is at four.", "Hello."]);
    expect(JSON.stringify(result.transcript.messages)).not.toContain("tea at four");
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ parts: [{ text: "When is tea?" }] });
    expect(ofType(events, "delegation-end").map(({ delegation }) => delegation.agent)).toEqual([
      "researcher",
      "writer",
    ]);
    const [described] = own.requests[0]?.tools ?? [];
    expect(described).toMatchObject({
      name: "spawn_subagent",
      inputSchema: {
        properties: { subagent: { enum: ["researcher", "writer"] }, prompt: { type: "string" } },
        required: ["subagent", "prompt"],
        additionalProperties: false,
      },
    });
    expect(described?.description).toMatch(/\n- researcher: Finds facts\n- writer: the writer$/);
  });

  it("tells the model of one that is not there, that fails, or that lies too deep, and goes on [C39]", async () => {
    const failing = agent({ name: "failing", model: scripted([new Error("down")]) });
    const brief = agent({
      name: "brief",
      model: scripted([calling("t")]),
      tools: [fakeTool("t", 1)],
      budget: { turns: 1 },
    });
    const inner = agent({
      name: "inner",
      model: scripted([calling(asked("leaf", "x")), "no leaf"]),
      tools: [subagents([answering("leaf", "never")])],
    });
    const outer = agent({
      name: "outer",
      model: scripted([
        calling(asked("nobody", "x"), asked("failing", "x"), asked("brief", "x"), asked("inner", "x")),
        "Done.",
      ]),
      tools: [subagents([failing, brief, inner])],
      budget: { depth: 1 },
    });
    const { result, events } = await watch(outer.stream("Go"));
    expect(result.text).toBe("Done.");
    const told = resultsIn(result.transcript);
    expect(told.map(({ status }) => status)).toEqual(["invalid", "error", "error", "ok"]);
    expect(told[0]?.text).toContain('"failing","brief","inner"');
    expect(told[1]?.text).toContain("down");
    expect(told[2]?.text).toContain("budget of 1 turns");
    expect(told[3]?.text).toBe("no leaf");
    const deep = ofType(events, "tool-end").find(
      (end) => end.runId !== result.runId && end.name === "spawn_subagent",
    );
    expect(deep?.result).toMatchObject({ status: "error", text: expect.stringContaining("2 levels deep") });
  });

  it("takes compositions too, and refuses what no prompt can be given to", () => {
    const both = pipe(answering("a", "A"), answering("b", "B")).with({ name: "both" });
    const named = subagents([both, answering("c", "C")], {
      name: "ask",
      description: "Ask:",
      effect: "read",
      timeoutMs: 5,
    });
    expect(named).toMatchObject({
      name: "ask",
      description: "Ask:\n- both\n- c: the c",
      effect: "read",
      timeoutMs: 5,
    });
    const typed = agent({ name: "typed", model: scripted(["x"]), input: z.object({ city: z.string() }) });
    expect(() => subagents([typed])).toThrow(/"typed" has an `input` schema.*asTool/);
    expect(() => subagents([])).toThrow(expect.objectContaining({ code: "definition-invalid" }));
    const twice = [answering("a", "A"), answering("a", "B")];
    expect(() => subagents(twice)).toThrow(expect.objectContaining({ code: "name-taken" }));
    expect(() => subagents(twice, { name: "not a name" })).toThrow(
      expect.objectContaining({ code: "name-invalid" }),
    );
  });
});
