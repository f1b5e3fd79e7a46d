import { describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

describe("tool names on the wire", () => {
  it("are what providers accept, each one's own, and told back [H9]", async () => {
    const tools = ["file.read", "file_read", "github.create_pr"].map((name) => fakeTool(name, name));
    const model = scripted([
      { calls: [{ name: "file_read_2" }, { name: "file_read" }, { name: "github_create_pr" }] },
      "done",
    ]);
    const result = await agent({ name: "a", model, tools }).run("x");
    const [first, second] = model.requests;
    expect(first?.tools.map((tool) => tool.name)).toEqual(["file_read_2", "file_read", "github_create_pr"]);
    expect(JSON.stringify(first?.messages[0])).not.toContain("- file.read");
    const results = result.transcript.messages.flatMap((message) =>
      message.role === "tool" ? [message.name] : [],
    );
    expect(results).toEqual(["file.read", "file_read", "github.create_pr"]);
    const sent = second?.messages.flatMap((message) => (message.role === "tool" ? [message.name] : []));
    expect(sent).toEqual(["file_read_2", "file_read", "github_create_pr"]);
    const forced = scripted(["done"]);
    await agent({ name: "a", model: forced, tools, toolChoice: { tool: "file.read" } }).run("x");
    expect(forced.requests[0]?.toolChoice).toEqual({ tool: "file_read_2" });
  });

  it("never lets a hostile name into the transcript, nor run [H9, Z3]", async () => {
    const names = ["rm -rf /", "", "x".repeat(500), "naïve\n"];
    const model = scripted([{ calls: names.map((name) => ({ name })) }, "done"]);
    const result = await agent({ name: "a", model, tools: [fakeTool("rm", 1)] }).run("x");
    const results = result.transcript.messages.filter((message) => message.role === "tool");
    expect(results.every((message) => message.status === "denied")).toBe(true);
    expect(results.every((message) => /^[a-zA-Z0-9_.-]{1,64}$/.test(message.name))).toBe(true);
  });
});
