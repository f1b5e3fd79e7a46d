import { describe, expect, it } from "vitest";
import { agent, skill, tool } from "../../../src/index.ts";
import { summarised } from "../../../src/session.ts";
import { scripted } from "../../../src/testing.ts";
import { shellTool } from "../../../src/workspace.ts";

const made = (words: object) => () =>
  tool({ name: "t", description: "", inputSchema: { type: "object" }, execute: () => 1, ...words });

describe("words that plain JavaScript gets wrong", () => {
  it.each([
    ["`trusted` must be true or false", made({ trusted: "false" })],
    ["`resolves` must be true or false", made({ resolves: "no" })],
    ["`description` must be a string", made({ description: 5 })],
    ["`secrecy` must be", made({ secrecy: { readers: [5] } })],
    ["`exclusive` must be true or false or a function", made({ exclusive: "yes" })],
    [
      "`trusted` must be true or false",
      () => skill({ name: "s", description: "", execute: () => 1, trusted: "false" } as never),
    ],
    [
      "`memory` must be true or false",
      () => skill({ name: "s", description: "", tools: [], memory: "no" } as never),
    ],
    [
      "`parse` must be a function",
      () => skill({ name: "s", description: "", tools: [], parse: "x" } as never),
    ],
    [
      "`description` must be a string",
      () => skill({ name: "s", description: undefined, execute: () => 1 } as never),
    ],
    [
      "`instructions` must be a string",
      () => skill({ name: "s", description: "", tools: [], instructions: 5 } as never),
    ],
    [
      "`modelDescription` must be a string",
      () => skill({ name: "s", description: "", tools: [], modelDescription: 5 } as never),
    ],
    [
      "`routing.threshold` must be a number",
      () => agent({ name: "a", model: scripted([]), routing: { threshold: "0.5" } as never }),
    ],
    ["`execute` must be a function", () => skill({ name: "s", description: "", execute: "x" } as never)],
    [
      'A compaction: it has the unknown field "keepTurn"; did you mean "keepTurns"?',
      () => agent({ name: "a", model: scripted([]), compaction: { atTokens: 9, keepTurn: 1 } as never }),
    ],
    ["`digest` must be a function", () => summarised({ keepRecent: 1 } as never)],
    ["`programs` must be a list of programs", () => shellTool({} as never)],
    [
      "`summarise` must be a function",
      () => agent({ name: "a", model: scripted([]), compaction: { atTokens: 9, summarise: "x" } as never }),
    ],
  ])("are refused, and trust or guard nothing: %s", (fault, define) => {
    expect(define).toThrow(fault);
  });
});

it("takes null of `selectSkill` for nothing", async () => {
  const skills = ["a", "b"].map((name) =>
    skill({ name, description: "", trusted: true, execute: () => name }),
  );
  expect(await agent({ name: "x", skills, selectSkill: () => null as never })("go")).toBe("a");
});
