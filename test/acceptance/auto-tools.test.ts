import { afterEach, describe, expect, it, vi } from "vitest";
import { agent, knowledge, memoryBank, skill } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const [a, b, now, log] = ["a", "b", "now", "log"].map((name) => fakeTool(name, name));
if (a === undefined || b === undefined || now === undefined || log === undefined)
  throw new Error("four tools");

describe("tools of the agent itself", () => {
  const faq = knowledge({ name: "faq", description: "", load: () => "x" });
  const skills = [
    skill({ name: "one", description: "", tools: [b, a], knowledge: [faq] }),
    skill({ name: "two", description: "", tools: [] }),
    skill({ name: "three", description: "", tools: [log] }),
  ];

  it("stand in the list of every skill, after its own and in order, before those of the memory [Z1.2, Z1.3]", () => {
    const made = agent({
      name: "x",
      model: () => "x",
      skills,
      autoTools: [now, [log]],
      memory: memoryBank(),
    });
    const memory = ["memory_read", "memory_write", "memory_search"];
    expect(made.skills.map(({ tools }) => tools)).toEqual([
      ["b", "a", "faq", "now", "log", ...memory],
      ["now", "log", ...memory],
      ["log", "now", ...memory], // its own handle stands once
    ]);
    const single = agent({ name: "x", model: () => "x", tools: [a], autoTools: [now] });
    expect(single.skills).toEqual([{ name: "x", type: "agentic", tools: ["a", "now"] }]);
  });

  it("may be called in every skill, and are named in what is refused; `tools` beside `skills` gives no skill anything [Z1.2, Z2.2, Z4.2]", async () => {
    const calls = ["now", "b"].map((name) => ({ name, arguments: {} }));
    const model = scripted([{ calls }, "done"]);
    const { transcript } = await agent({ name: "x", model, skills, tools: [b], autoTools: [now] }).run("go", {
      skill: "two",
    });
    expect(transcript.messages.filter(({ role }) => role === "tool")).toMatchObject([
      { status: "ok" },
      { status: "denied", text: "Tool 'b' is not allowed for skill 'two'. Allowed: [now]" },
    ]);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["now"]);
  });

  it("that share a name with another tool of a skill are refused when the agent is made [Z1.2]", () => {
    const other = fakeTool("a", "another");
    expect(() => agent({ name: "x", model: () => "x", skills, autoTools: [other] })).toThrow(
      expect.objectContaining({ code: "name-taken" }),
    );
  });
});

describe("a tool listed by its name", () => {
  afterEach(() => vi.restoreAllMocks());

  it("works, and warns once with a code and with the handle to list in its place [T3.2]", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const make = (): unknown =>
      agent({
        name: "notes",
        model: scripted([{ calls: [{ name: "a" }] }, "done"]),
        tools: [a, b],
        skills: [skill({ name: "look", description: "", tools: ["a"] })],
      });
    const made = make() as ReturnType<typeof agent>;
    expect(made.skills[0]?.tools).toEqual(["a"]);
    expect((await made.run("go")).transcript.messages).toContainEqual(
      expect.objectContaining({ role: "tool", status: "ok" }),
    );
    make();
    const text = expect.stringMatching(
      /^Skill "look" of agent "notes" lists the tool "a" by its name, which is deprecated\. .*`tools: \[a\]`/,
    );
    expect(warned.mock.calls).toEqual([[text, { type: "DeprecationWarning", code: "WRIT_TOOL_BY_NAME" }]]);
  });

  it("is nothing that a handle, an unknown name or a run's own `tools` is warned of [T3.3]", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const made = agent({
      name: "quiet",
      model: scripted(["x"]),
      skills: [skill({ name: "s", description: "", tools: [a, [b]] })],
    });
    await made.run("go", { tools: ["a"], skill: "s" });
    const typo = skill({ name: "typo", description: "", tools: ["c"] });
    expect(() => agent({ name: "quiet", model: () => "x", tools: [a], skills: [typo] })).toThrow(
      expect.objectContaining({ code: "tool-unknown" }),
    );
    expect(warned).not.toHaveBeenCalled();
  });
});
