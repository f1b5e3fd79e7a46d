import { describe, expect, it } from "vitest";
import { z } from "zod";
import { WritError } from "../../../src/error/writ-error.ts";
import { agent, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";

describe("the words of others that have a full stop", () => {
  it("get no second one in an error", () => {
    const of = (reason: string): string => new WritError("file-unreadable", { path: "a", reason }).message;
    expect(of("it is gone")).toContain("cannot be read: it is gone.");
    for (const reason of ["It is gone.", "Is it gone?", "It goes on…"])
      expect(of(reason)).toMatch(/cannot be read: [^.?…]+[.?…](\s|$)/);
  });

  it("get no second one before a model", async () => {
    const when = z.string().refine(() => false, { error: "Name a day." });
    const book = tool({ name: "book", description: "", inputSchema: z.object({ when }), execute: () => "" });
    const model = scripted([{ calls: [{ name: "book", arguments: { when: "x" } }] }, "no", "no", "no"]);
    const { calls, error } = await agent({ name: "a", model, tools: [book], output: z.object({ when }) }).run(
      "go",
    );
    expect(calls[0]?.reason).toContain("Name a day. It did not run.");
    expect(error?.message).not.toContain("..");
    expect(JSON.stringify(model.requests)).not.toMatch(/\w\.\. /);
  });
});
